//! The file in which compiled rules are kept: the rules in postcard, in an envelope that tells also
//! for which list of fields they were compiled.

use crate::field::{FIELDS, Field};
use crate::program::Expression;
use crate::rules::{Action, Assignment, ExpressionNumber, MOST_RULES, Piece, Rule, RuleSet, SLURM_ERRORS, Template};
use crate::value::Kind;
use crate::verify::{VerificationError, verify};
use slurm_conf::envelope::{Envelope, EnvelopeError};
use thiserror::Error;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Changes whenever the rules or their instructions are kept in another form.
pub const LAYOUT: u32 = 2;

/// The largest file that is read, in bytes.
pub const LARGEST: usize = 64 << 20;

const ENVELOPE: Envelope = Envelope::new(*b"QCRULES\n", LAYOUT, LARGEST);

/// Why a file is not taken for rules.
#[derive(Debug, Error)]
pub enum FileError {
    /// The file does not begin as a file of compiled rules does.
    #[error("this is no file of compiled rules")]
    NoRules,
    /// The file was written by another release.
    #[error("the rules were compiled by a release that keeps them in layout {0}, and this one reads layout {LAYOUT}")]
    Layout(u32),
    /// The file refers to another list of fields.
    #[error("the rules were compiled by a release that knows other fields")]
    Fields,
    /// The file is damaged.
    #[error("the file is damaged: its checksum is wrong")]
    Checksum,
    /// The file is too large.
    #[error("the compiled rules take more than {LARGEST} bytes")]
    TooLarge,
    /// The file can't be read or written.
    #[error("the compiled rules can't be read: {0}")]
    Encoding(#[from] postcard::Error),
    /// The expressions in the file are not well formed.
    #[error(transparent)]
    Program(#[from] VerificationError),
    /// A rule refers to what is not there.
    #[error("the compiled rule {0} is not well formed")]
    Rule(String),
}

impl From<EnvelopeError> for FileError {
    fn from(error: EnvelopeError) -> FileError {
        match error {
            EnvelopeError::Other => FileError::NoRules,
            EnvelopeError::Layout(layout) => FileError::Layout(layout),
            EnvelopeError::Fingerprint => FileError::Fields,
            EnvelopeError::Checksum => FileError::Checksum,
            EnvelopeError::TooLarge(_) => FileError::TooLarge,
        }
    }
}

/// A number that tells lists of fields apart by their names and kinds, and by which may be written.
#[must_use]
pub fn fingerprint(fields: &[Field]) -> u64 {
    let mut hash = Xxh3::new();
    for field in fields {
        hash.update(field.name.as_bytes());
        hash.update(&[0, field.kind as u8, u8::from(field.may_be_absent), u8::from(field.is_writable)]);
    }
    hash.digest()
}

/// Writes rules to bytes.
///
/// # Errors
/// [`FileError`] if they are too large or not well formed.
pub fn encode(rules: &RuleSet) -> Result<Vec<u8>, FileError> {
    check(rules)?;
    Ok(ENVELOPE.referring_to(fingerprint(FIELDS)).sealed(&postcard::to_allocvec(rules)?)?)
}

/// Reads rules from bytes, and verifies them.
///
/// # Errors
/// [`FileError`] says why they can't be used.
pub fn decode(bytes: &[u8]) -> Result<RuleSet, FileError> {
    let rules: RuleSet = postcard::from_bytes(ENVELOPE.referring_to(fingerprint(FIELDS)).content(bytes)?)?;
    check(&rules)?;
    Ok(rules)
}

/// The number by which a file of rules is known, of all its bytes.
#[must_use]
pub fn number(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// Checks that expressions are well formed, and that rules refer to what is there and of the right
/// kind.
fn check(rules: &RuleSet) -> Result<(), FileError> {
    if rules.rules.len() > MOST_RULES {
        return Err(FileError::TooLarge);
    }
    verify(&rules.program, FIELDS)?;
    let wrong = rules.rules.iter().find(|rule| check_rule(rules, rule).is_none());
    wrong.map_or(Ok(()), |rule| Err(FileError::Rule(rule.name.to_string())))
}

fn check_rule(rules: &RuleSet, rule: &Rule) -> Option<()> {
    is_truth(rules, rule.when)?;
    rule.actions.iter().try_for_each(|action| match action {
        Action::Set(assignment) | Action::Default(assignment) => check_assignment(rules, assignment),
        Action::Cap(assignment) | Action::Floor(assignment) => {
            check_assignment(rules, assignment)?;
            matches!(assignment.field.get()?.kind, Kind::Integer | Kind::Real | Kind::Duration | Kind::Moment).then_some(())
        }
        Action::Append(assignment) => {
            check_assignment(rules, assignment)?;
            matches!(assignment.field.get()?.kind, Kind::Text | Kind::Resources).then_some(())
        }
        Action::Clear(field) => {
            let field = field.get()?;
            (field.is_writable && field.may_be_absent).then_some(())
        }
        Action::Route(choices) => choices.iter().try_for_each(|choice| {
            is_truth(rules, choice.when)?;
            choice.assignments.iter().try_for_each(|assignment| check_assignment(rules, assignment))
        }),
    })?;
    let refusal = rule.refusal.as_ref();
    [rule.warning.as_ref(), refusal.map(|refusal| &refusal.message)]
        .into_iter()
        .flatten()
        .try_for_each(|template| check_template(rules, template))?;
    refusal.and_then(|refusal| refusal.error.as_deref()).is_none_or(|error| SLURM_ERRORS.contains(&error)).then_some(())
}

fn check_assignment(rules: &RuleSet, assignment: &Assignment) -> Option<()> {
    let field = assignment.field.get()?;
    let kind = if matches!(field.kind, Kind::Resources | Kind::Variables) { Kind::Text } else { field.kind };
    (field.is_writable && expression(rules, assignment.value)?.kind == kind).then_some(())
}

fn check_template(rules: &RuleSet, template: &Template) -> Option<()> {
    template.0.iter().try_for_each(|piece| match piece {
        Piece::Text(text) => rules.program.texts.get(usize::from(*text)).map(|_| ()),
        Piece::Value(value) => expression(rules, *value).map(|_| ()),
    })
}

fn is_truth(rules: &RuleSet, condition: Option<ExpressionNumber>) -> Option<()> {
    condition.map_or(Some(()), |condition| (expression(rules, condition)?.kind == Kind::Truth).then_some(()))
}

fn expression(rules: &RuleSet, number: ExpressionNumber) -> Option<&Expression> {
    rules.program.expressions.get(usize::from(number.0))
}
