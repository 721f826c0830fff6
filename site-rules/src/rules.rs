//! A set of rules as it is kept in a file: what each asks, and what it does.

use crate::field::{FieldNumber, Name};
use crate::program::{Counted, Instruction, Program, Scope};
pub use crate::slurm_errors::SLURM_ERRORS;
use serde::{Deserialize, Serialize};

/// The most rules of a set.
pub const MOST_RULES: usize = 1_000;

/// The place of an expression in [`Program::expressions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpressionNumber(pub u16);

/// The place of a rule in [`RuleSet::rules`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RuleNumber(pub u16);

/// All rules of a site, in the order in which they apply.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RuleSet {
    /// Their expressions.
    pub program: Program,
    /// The rules.
    pub rules: Vec<Rule>,
    /// The address of the page that says more about refusals, without the `#` and the code.
    pub help: Option<Box<str>>,
    /// The most steps that one expression may take.
    pub expression_steps: u32,
    /// The most steps that all rules together may take for a submission.
    pub steps: u32,
}

impl RuleSet {
    /// The fields that expressions ask of the job that is to be modified, as it is.
    #[must_use]
    pub fn fields_of_current(&self) -> Vec<FieldNumber> {
        let loaded = self.program.code.iter().filter_map(|instruction| match instruction {
            Instruction::Load(Scope::Current, field) | Instruction::Has(Scope::Current, field) => Some(*field),
            Instruction::Count(Scope::Current, Counted::GpusOfType) => Some(Name::Gpus.into()),
            Instruction::Count(Scope::Current, Counted::Licenses) => Some(Name::Licenses.into()),
            _ => None,
        });
        let mut fields: Vec<FieldNumber> = loaded.collect();
        // Others may follow from any field.
        if fields.iter().any(|field| field.name().is_none_or(Name::is_derived)) {
            fields = Name::ALL.iter().map(|name| FieldNumber::from(*name)).collect();
        }
        // What takes one of them away when it is written, and what stands in its place then.
        let asked: Vec<Name> = fields.iter().filter_map(|field| field.name()).collect();
        let displaces_one = |name: &&Name| name.displaces().iter().any(|displaced| asked.contains(displaced));
        let in_the_same_place = Name::ALL.iter().filter(displaces_one).chain(asked.iter().flat_map(|name| name.displaces()));
        fields.extend(in_the_same_place.map(|name| FieldNumber::from(*name)));
        fields.sort_unstable();
        fields.dedup();
        fields
    }
}

/// Whether a rule is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// It is.
    Enforce,
    /// It is, but a refusal is only a warning.
    Warn,
    /// It is counted and logged alone.
    Observe,
}

/// What becomes of a submission if a rule can't be evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnError {
    /// It is refused.
    Refuse,
    /// The rule is passed over.
    Pass,
}

/// A rule.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rule {
    /// The rule's name, which no other rule has.
    pub name: Box<str>,
    /// Whether the rule is for submissions.
    pub on_submit: bool,
    /// Whether the rule is for modifications.
    pub on_modify: bool,
    /// Whether root and SlurmUser are exempt.
    pub bypassed_by_root: bool,
    /// Whether operators and administrators of Slurm are exempt.
    pub bypassed_by_operators: bool,
    /// When the rule matches: a truth; always where there is none.
    pub when: Option<ExpressionNumber>,
    /// Whether the rule is applied.
    pub mode: Mode,
    /// Whether the rule's refusal is only a warning, or would be if the rule were not observed
    /// only.
    pub only_warns: bool,
    /// What becomes of the submission if the rule can't be evaluated.
    pub on_error: OnError,
    /// What the rule writes.
    pub actions: Vec<Action>,
    /// What the rule tells the user without refusal.
    pub warning: Option<Template>,
    /// The rule's refusal.
    pub refusal: Option<RefusalTemplate>,
    /// Whether no rule behind this one is asked.
    pub stops: bool,
}

/// Something that a rule writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Action {
    /// Writes a value.
    Set(Assignment),
    /// Writes a value where there is none.
    Default(Assignment),
    /// Writes a value where there is a larger one.
    Cap(Assignment),
    /// Writes a value where there is a smaller one.
    Floor(Assignment),
    /// Adds the parts of a text that are not there yet, behind what is there.
    Append(Assignment),
    /// Makes a field absent.
    Clear(FieldNumber),
    /// The first choice whose condition holds.
    Route(Vec<Choice>),
}

/// A field and what is written into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// The field.
    pub field: FieldNumber,
    /// The value, of the field's kind; a text for generic resources.
    pub value: ExpressionNumber,
}

/// A choice of a route.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// When it is taken: a truth; always where there is none.
    pub when: Option<ExpressionNumber>,
    /// What it writes.
    pub assignments: Vec<Assignment>,
}

/// A text with values in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template(pub Vec<Piece>);

/// A piece of a text with values in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Piece {
    /// A text that is shown as it stands, by its place in [`Program::texts`].
    Text(u16),
    /// The value of an expression, in words for people.
    Value(ExpressionNumber),
}

/// A refusal with values in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RefusalTemplate {
    /// The refusal's code, such as `E_GPU_CORES`.
    pub code: Option<Box<str>>,
    /// What the user is told.
    pub message: Template,
    /// The name of Slurm's error, of [`SLURM_ERRORS`]; else slurmctld's general one.
    pub error: Option<Box<str>>,
}

/// What stands between what is in a field and what is appended to it.
#[must_use]
pub fn separator(field: FieldNumber) -> &'static str {
    match field.get().and_then(|field| field.separator) {
        Some('&') => "&",
        Some(',') => ",",
        Some(_) | None => match field.name() {
            Some(Name::AdminComment | Name::Comment | Name::Extra) => "; ",
            _ => ",",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields_of(instruction: Instruction) -> Vec<Name> {
        let program = Program { code: vec![instruction], ..Program::default() };
        let fields = RuleSet { program, ..RuleSet::default() }.fields_of_current();
        fields.iter().filter_map(|field| field.name()).collect()
    }

    #[test]
    fn what_is_counted_of_the_present_job_is_asked_of_it() {
        assert_eq!(fields_of(Instruction::Count(Scope::Current, Counted::Licenses)), [Name::Licenses]);
        assert_eq!(fields_of(Instruction::Count(Scope::Current, Counted::GpusOfType)), Name::ALL, "it hangs on tasks and nodes as well");
        assert_eq!(fields_of(Instruction::Count(Scope::Job, Counted::GpusOfType)), []);
    }

    #[test]
    fn what_takes_a_field_away_is_asked_for_with_it() {
        let of = |name: Name| fields_of(Instruction::Load(Scope::Current, name.into()));
        assert_eq!(of(Name::TimeLimitIsUnlimited), [Name::TimeLimit, Name::TimeLimitIsUnlimited]);
        assert_eq!(of(Name::TimeLimit), [Name::TimeLimit, Name::TimeLimitIsUnlimited]);
        assert_eq!(of(Name::MemoryPerNode), [Name::MemIsZero, Name::MemoryPerCpu, Name::MemoryPerNode]);
        assert_eq!(of(Name::MemIsZero), [Name::MemIsZero, Name::MemoryPerCpu, Name::MemoryPerNode]);
        assert_eq!(of(Name::Partition), [Name::Partition]);
    }
}
