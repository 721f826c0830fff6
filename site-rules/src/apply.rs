//! Applies a set of rules to a submission, in their order.

use crate::evaluate::{Evaluator, evaluate};
use crate::fault::Fault;
use crate::field::{FieldNumber, Fields as _, Name, variable};
use crate::operators::{self, Binary};
use crate::outcome::{Observer, Outcome, Refusal, Report, Taken, Verdict, Warning};
use crate::overlay::{Overlay, Write};
use crate::rules::{
    Action, Assignment, ExpressionNumber, Mode, OnError, Piece, RefusalTemplate, Rule, RuleNumber, RuleSet, Template, separator,
};
use crate::scratch::{Memory, Scratch};
use crate::steps::Steps;
use crate::submission::{Request, Submission};
use crate::value::{Kind, Resources, Texts, Value};
use crate::{evaluate::Written, words};

/// Slurm's error where a rule asks for what is not known yet.
pub const NOT_KNOWN_YET: &str = "ESLURM_TRANSITION_STATE_NO_UPDATE";

/// Slurm's error where a rule can't be evaluated for another reason.
pub const RULE_FAILED: &str = "ESLURM_DISABLED";

/// The longest message to a user, in bytes; what is behind it is left out.
const LONGEST_MESSAGE: usize = 1_024;

/// Applies rules to a submission. Nothing is allocated but by rules that match and write something,
/// warn or refuse, and where conditions make texts of more than 2 KiB, or rules that are observed
/// make any.
///
/// The first refusal ends it: what is refused is not changed. An observed rule that stops or would
/// refuse ends it for the observed rules behind it, as they would not be asked either if all of
/// them were enforced. `memory` is for the texts that rules make; the outcome borrows from it.
/// Rules that are only observed have memory of their own and a budget as large as that of the
/// others, so that no outcome hangs on them.
pub fn apply<'a>(rules: &'a RuleSet, submission: &Submission<'a>, memory: &'a mut Memory, observer: &mut dyn Observer) -> Outcome<'a> {
    applied(rules, submission, memory, observer, Steps(rules.steps), Some(Steps(rules.steps)))
}

/// Applies rules once more, with the steps that are left of what they may take together. Those that
/// are only observed are not asked.
pub fn apply_again<'a>(
    rules: &'a RuleSet,
    submission: &Submission<'a>,
    memory: &'a mut Memory,
    observer: &mut dyn Observer,
    left: Steps,
) -> Outcome<'a> {
    applied(rules, submission, memory, observer, left, None)
}

fn applied<'a>(
    rules: &'a RuleSet,
    submission: &Submission<'a>,
    memory: &'a mut Memory,
    observer: &mut dyn Observer,
    steps: Steps,
    steps_of_observed: Option<Steps>,
) -> Outcome<'a> {
    let (scratch, scratch_of_observed) = Scratch::pair(memory);
    let mut of_observed = Means { scratch: scratch_of_observed, steps: steps_of_observed.unwrap_or(Steps(0)) };
    let mut run = Run {
        rules,
        submission,
        overlay: Overlay::new(submission.job),
        means: Means { scratch, steps },
        observed_have_ended: steps_of_observed.is_none(),
    };
    let mut outcome = Outcome::default();
    for (place, rule) in rules.rules.iter().enumerate() {
        let number = RuleNumber(u16::try_from(place).unwrap_or(u16::MAX));
        let is_observed = rule.mode == Mode::Observe;
        if !run.concerns(rule) || (is_observed && run.observed_have_ended) {
            continue;
        }
        if is_observed {
            std::mem::swap(&mut run.means, &mut of_observed);
        }
        let steps_before = run.means.steps.0;
        let effects = run.effects(rule);
        let steps = steps_before.saturating_sub(run.means.steps.0);
        let does_stop = run.conclude(number, rule, effects, steps, &mut outcome, observer);
        if is_observed {
            std::mem::swap(&mut run.means, &mut of_observed);
        }
        if does_stop {
            break;
        }
    }
    outcome.steps_left = run.means.steps;
    if outcome.refusal.is_none() {
        outcome.writes = run.overlay.into_writes();
    }
    outcome
}

/// What a rule that matches does.
#[derive(Default)]
struct Effects<'a> {
    writes: Vec<Write<'a>>,
    taken: Vec<Taken>,
    warning: Option<String>,
    refusal: Option<String>,
}

struct Run<'a, 's> {
    rules: &'a RuleSet,
    submission: &'s Submission<'a>,
    overlay: Overlay<'a>,
    means: Means<'a>,
    /// Whether an observed rule has ended the observed ones, or none of them is to be asked.
    observed_have_ended: bool,
}

/// Memory and steps that are left for the evaluation of rules.
struct Means<'a> {
    scratch: Scratch<'a>,
    steps: Steps,
}

impl<'a> Run<'a, '_> {
    /// Whether a rule is for such a request of such a user.
    fn concerns(&self, rule: &Rule) -> bool {
        let is_for_request = match self.submission.request {
            Request::Submit => rule.on_submit,
            Request::Modify => rule.on_modify,
        };
        let user = &self.submission.user;
        let is_bypassed = (rule.bypassed_by_root && user.is_root) || (rule.bypassed_by_operators && user.is_operator);
        is_for_request && !is_bypassed
    }

    /// Does what is to be done about a rule that was evaluated; whether no other is to be asked.
    fn conclude(
        &mut self,
        number: RuleNumber,
        rule: &'a Rule,
        effects: Result<Option<Effects<'a>>, Fault>,
        steps: u32,
        outcome: &mut Outcome<'a>,
        observer: &mut dyn Observer,
    ) -> bool {
        let mut report =
            Report { rule: number, verdict: Verdict::NotMatched, steps, writes: &[], taken: &[], warning: None, refusal: None };
        let effects = match effects {
            Ok(None) => {
                observer.rule(&report);
                return false;
            }
            Ok(Some(effects)) => effects,
            Err(fault) => {
                report.verdict = Verdict::Failed(fault);
                let (code, error) = on_error(fault);
                let message = (rule.on_error == OnError::Refuse).then(|| match fault {
                    Fault::CurrentUnknown => {
                        format!("the rule {} asks for the job as it is now, which is not known yet: try again in half a minute", rule.name)
                    }
                    _ => format!("the rule {} can't be evaluated: {fault}", rule.name),
                });
                report.refusal = message.as_deref();
                observer.rule(&report);
                self.observed_have_ended |= rule.mode == Mode::Observe && message.is_some() && !rule.only_warns;
                return message.is_some_and(|message| self.refuse(number, rule, Some(code), Some(error), message, outcome));
            }
        };
        report.verdict = Verdict::Matched;
        report.writes = &effects.writes;
        report.taken = &effects.taken;
        report.warning = effects.warning.as_deref();
        report.refusal = effects.refusal.as_deref();
        observer.rule(&report);
        if rule.mode == Mode::Observe {
            self.observed_have_ended |= rule.stops || (effects.refusal.is_some() && !rule.only_warns);
            return false;
        }
        for write in &effects.writes {
            self.overlay.write(*write);
        }
        if let Some(message) = effects.warning {
            outcome.warnings.push(Warning { rule: number, message });
        }
        let is_refused = match (effects.refusal, &rule.refusal) {
            (Some(message), Some(RefusalTemplate { code, error, .. })) => {
                self.refuse(number, rule, code.as_deref(), error.as_deref(), message, outcome)
            }
            _ => false,
        };
        is_refused || rule.stops
    }

    /// Refuses, or warns where that is all the rule may do; whether it refuses.
    fn refuse(
        &self,
        number: RuleNumber,
        rule: &Rule,
        code: Option<&'a str>,
        error: Option<&'a str>,
        message: String,
        outcome: &mut Outcome<'a>,
    ) -> bool {
        let shown = match (code, self.rules.help.as_deref()) {
            (Some(code), Some(help)) => format!("{code}: {message} (see {help}#{code})"),
            (Some(code), None) => format!("{code}: {message}"),
            (None, _) => message,
        };
        match rule.mode {
            Mode::Enforce => {
                outcome.refusal = Some(Refusal { rule: number, code, error, message: shown });
                true
            }
            Mode::Warn => {
                outcome.warnings.push(Warning { rule: number, message: shown });
                false
            }
            Mode::Observe => false,
        }
    }

    /// What a rule does, if it matches. All of it is computed of the job as the rules before have
    /// left it, so that a rule is applied as a whole or not at all.
    fn effects(&mut self, rule: &'a Rule) -> Result<Option<Effects<'a>>, Fault> {
        if !self.holds(rule.when)? {
            return Ok(None);
        }
        let mut effects = Effects::default();
        for (place, action) in (0..).zip(&rule.actions) {
            let before = effects.writes.len();
            let choice = self.act(action, &mut effects.writes)?;
            if choice.is_some() || effects.writes.len() > before {
                effects.taken.push(Taken { action: place, choice });
            }
        }
        if let Some(warning) = &rule.warning {
            effects.warning = Some(self.rendered(warning)?);
        }
        if let Some(refusal) = &rule.refusal {
            effects.refusal = Some(self.rendered(&refusal.message)?);
        }
        Ok(Some(effects))
    }

    /// Does an action; the choice that was taken, of a route.
    fn act(&mut self, action: &Action, writes: &mut Vec<Write<'a>>) -> Result<Option<u16>, Fault> {
        match action {
            Action::Set(assignment) => self.write(*assignment, writes)?,
            Action::Default(assignment) if assignment.field.is_environment() => {
                let entry = text_of(self.new_value(*assignment)?)?;
                let (name, _) = variable(entry);
                self.overlay.charge_variable(name, &mut self.means.steps)?;
                if self.overlay.variable(name).is_none() {
                    writes.push(Write { field: assignment.field, value: Some(Value::Text(entry)) });
                }
            }
            Action::Default(assignment) => {
                let is_said = self.present(assignment.field)?.is_some() || self.is_said_otherwise(assignment.field)?;
                if !is_said {
                    self.write(*assignment, writes)?;
                }
            }
            Action::Cap(assignment) => self.bound(*assignment, Binary::Greater, writes)?,
            Action::Floor(assignment) => self.bound(*assignment, Binary::Less, writes)?,
            Action::Append(assignment) => self.append(*assignment, writes)?,
            Action::Clear(field) => {
                if self.present(*field)?.is_some() {
                    writes.push(Write { field: *field, value: None });
                }
            }
            Action::Route(choices) => {
                for (place, choice) in (0..).zip(choices) {
                    if self.holds(choice.when)? {
                        choice.assignments.iter().try_for_each(|assignment| self.write(*assignment, writes))?;
                        return Ok(Some(place));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Writes a value, unless it is there already.
    fn write(&mut self, assignment: Assignment, writes: &mut Vec<Write<'a>>) -> Result<(), Fault> {
        let field = assignment.field;
        let value = self.new_value(assignment)?;
        let present = self.present(field)?;
        if let Some(old) = &present {
            operators::charge(old, &mut self.means.steps)?;
        }
        let is_there = match (present, value) {
            (_, Value::Text(entry)) if field.is_environment() => {
                let (name, value) = variable(entry);
                self.overlay.charge_variable(name, &mut self.means.steps)?;
                self.overlay.variable(name) == value
            }
            (Some(Value::Texts(old)), Value::Texts(new)) => old.iter().eq(new.iter()),
            (Some(Value::Resources(Resources(old))), Value::Resources(Resources(new))) => old == new,
            (Some(old), new) => matches!(Binary::Equal.apply(old, new, &mut self.means.scratch), Ok(Value::Truth(true))),
            (None, _) => false,
        };
        if !is_there {
            writes.push(Write { field, value: Some(value) });
        }
        Ok(())
    }

    /// Writes a value where there is one that compares so with it, or, for a value that is to be at
    /// most so large, where all there is was asked for.
    fn bound(&mut self, assignment: Assignment, comparison: Binary, writes: &mut Vec<Write<'a>>) -> Result<(), Fault> {
        let Some(old) = self.present(assignment.field)? else {
            let is_above = comparison == Binary::Greater && self.is_unbounded(assignment.field)?;
            return if is_above { self.write(assignment, writes) } else { Ok(()) };
        };
        let value = self.new_value(assignment)?;
        if matches!(comparison.apply(old, value, &mut self.means.scratch)?, Value::Truth(true)) {
            writes.push(Write { field: assignment.field, value: Some(value) });
        }
        Ok(())
    }

    fn append(&mut self, assignment: Assignment, writes: &mut Vec<Write<'a>>) -> Result<(), Fault> {
        let field = assignment.field;
        let new = text_of(self.new_value(assignment)?)?;
        let old = self.present(field)?.map_or(Ok(""), text_of)?;
        let separator = separator(field);
        let of_list = separator.parse::<char>().ok();
        let parts = |text: &'a str| Texts::Separated(text, of_list.unwrap_or('\0'));
        let mut text = old;
        operators::charge(&Value::Texts(parts(new)), &mut self.means.steps)?;
        for part in parts(new).iter() {
            // The text is gone through for each part, and the part is then put behind it.
            operators::charge(&Value::Texts(parts(text)), &mut self.means.steps)?;
            let is_there = match of_list {
                Some(_) => parts(text).iter().any(|other| other == part),
                None => memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some(),
            };
            if !is_there {
                text = if text.is_empty() { part } else { self.means.scratch.joined(&[text, separator, part])? };
            }
        }
        if text != old {
            let is_resources = field.get().is_some_and(|field| field.kind == Kind::Resources);
            let value = if is_resources { Value::Resources(Resources(text)) } else { Value::Text(text) };
            writes.push(Write { field, value: Some(value) });
        }
        Ok(())
    }

    /// The value that is to be written, of the field's kind.
    fn new_value(&mut self, assignment: Assignment) -> Result<Value<'a>, Fault> {
        let field = assignment.field.get().ok_or(Fault::Program)?;
        let value = self.value(assignment.value)?;
        operators::charge(&value, &mut self.means.steps)?;
        match (field.kind, value) {
            (Kind::Resources, Value::Text(text)) => Ok(Value::Resources(Resources(text))),
            (Kind::Text, Value::Text(text)) if !field.words.is_empty() && !field.words.contains(&text) => Err(Fault::Conversion),
            (Kind::Texts, Value::Texts(texts)) if texts.iter().any(|text| !field.words.contains(&text)) => Err(Fault::Conversion),
            // Slurm's texts end at the first NUL.
            (_, Value::Text(text)) if text.contains('\0') => Err(Fault::Conversion),
            (Kind::Text, Value::Text(text))
                if field_is_caseless(assignment.field) && text.bytes().any(|byte| byte.is_ascii_uppercase()) =>
            {
                Ok(Value::Text(self.means.scratch.changed(text, str::make_ascii_lowercase)?))
            }
            (Kind::Variables, value @ Value::Text(_)) => Ok(value),
            (kind, value) if kind == value.kind() => Ok(value),
            _ => Err(Fault::Program),
        }
    }

    /// Returns the value of a field with what rules have written so far.
    fn present(&mut self, field: FieldNumber) -> Result<Option<Value<'a>>, Fault> {
        match self.overlay.written(field, &mut self.means.scratch, &mut self.means.steps)? {
            Some(written) => Ok(written),
            None => {
                self.submission.job.charge(field, &mut self.means.steps)?;
                Ok(self.submission.job.field(field))
            }
        }
    }

    /// Whether the place of a field that is absent is taken by another form of the same request:
    /// the memory of each CPU for that of each node, or no limit for a limit.
    fn is_said_otherwise(&mut self, field: FieldNumber) -> Result<bool, Fault> {
        self.any_other_form(field, |value| !matches!(value, Value::Truth(false)))
    }

    /// Whether all there is was asked for in the place of a value: `--time=UNLIMITED`, `--mem=0`.
    fn is_unbounded(&mut self, field: FieldNumber) -> Result<bool, Fault> {
        self.any_other_form(field, |value| matches!(value, Value::Truth(true)))
    }

    fn any_other_form(&mut self, field: FieldNumber, is_so: impl Fn(Value<'a>) -> bool) -> Result<bool, Fault> {
        for name in field.name().map_or(&[][..], Name::displaces) {
            if self.present(FieldNumber::from(*name))?.is_some_and(&is_so) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn holds(&mut self, condition: Option<ExpressionNumber>) -> Result<bool, Fault> {
        match condition.map(|condition| self.value(condition)) {
            None => Ok(true),
            Some(Ok(Value::Truth(truth))) => Ok(truth),
            Some(Ok(_)) => Err(Fault::Program),
            Some(Err(fault)) => Err(fault),
        }
    }

    fn value(&mut self, expression: ExpressionNumber) -> Result<Value<'a>, Fault> {
        let program = &self.rules.program;
        let expression = program.expressions.get(usize::from(expression.0)).ok_or(Fault::Program)?;
        let allowed = self.means.steps.0.min(self.rules.expression_steps);
        let mut steps = Steps(allowed);
        let value = evaluate(
            Evaluator { program, submission: self.submission, written: &self.overlay, scratch: &mut self.means.scratch, steps: &mut steps },
            *expression,
        );
        let taken = allowed.saturating_sub(steps.0);
        self.means.steps = Steps(self.means.steps.0.saturating_sub(taken));
        value
    }

    fn rendered(&mut self, template: &Template) -> Result<String, Fault> {
        let mut message = String::new();
        for piece in &template.0 {
            match piece {
                Piece::Text(text) => {
                    message.push_str(self.rules.program.texts.get(usize::from(*text)).ok_or(Fault::Program)?);
                }
                Piece::Value(expression) => {
                    let value = self.value(*expression)?;
                    words::charge(&value, &mut self.means.steps)?;
                    words::put(&mut message, value);
                }
            }
            if message.len() > LONGEST_MESSAGE {
                message.truncate(message.floor_char_boundary(LONGEST_MESSAGE));
                break;
            }
        }
        Ok(message)
    }
}

/// The code of a refusal because a rule can't be evaluated, and the name of Slurm's error.
fn on_error(fault: Fault) -> (&'static str, &'static str) {
    match fault {
        // "Job can not be altered now, try again later"
        Fault::CurrentUnknown => ("E_NOT_KNOWN_YET", NOT_KNOWN_YET),
        // "Requested operation is presently disabled"
        _ => ("E_RULE_FAILED", RULE_FAILED),
    }
}

fn field_is_caseless(field: FieldNumber) -> bool {
    field.name().is_some_and(Name::is_caseless)
}

fn text_of(value: Value<'_>) -> Result<&str, Fault> {
    match value {
        Value::Text(text) | Value::Resources(Resources(text)) | Value::Texts(Texts::Separated(text, _)) => Ok(text),
        _ => Err(Fault::Program),
    }
}
