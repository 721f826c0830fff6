//! Tests that stand beside rules, under `[[test]]`: a submission, and what is expected of rules.

pub mod coverage;
pub(crate) mod read;

use crate::described::{DescribedSubmission, borrowed};
use crate::site_tables::TestRows;
use crate::trace::{Trace, trace};
use crate::words::in_words;
use site_rules::data::OwnedValue;
use site_rules::field::{FieldNumber, Fields, Name};
use site_rules::rules::RuleSet;
use site_rules::submission::Request;
use site_rules::value::{Texts, Value};

/// A test.
#[derive(Clone, Debug)]
pub struct RuleTest {
    /// What it is called, if it has a name.
    pub name: Option<String>,
    /// The file that it stands in.
    pub file: String,
    /// The line at which it begins, from 1.
    pub line: usize,
    /// The submission as it was written: the command, or its fields.
    pub described_as: String,
    /// The submission.
    pub submission: DescribedSubmission,
    /// Rows of qualities of service, associations, users and partitions in the place of the site's.
    pub rows: Option<TestRows>,
    /// What is expected.
    pub expected: Expected,
}

/// What is expected of rules. What is `None` or empty is not asked about.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    /// The refusal that is expected; `None` if the request is expected to be accepted.
    pub refusal: Option<ExpectedRefusal>,
    /// The name of Slurm's error.
    pub error: Option<String>,
    /// The texts that stand in warnings; an empty list means that no warning is expected.
    pub warnings: Option<Vec<String>>,
    /// The names of the rules that match, all of them in their order.
    pub rules: Option<Vec<String>>,
    /// Values of fields, as rules have left them.
    pub fields: Vec<(Name, OwnedValue)>,
    /// Fields that are absent, as rules have left them.
    pub absent: Vec<Name>,
    /// Variables of the environment, as rules have left them; `None` is absent.
    pub variables: Vec<(String, Option<String>)>,
    /// Fields that no rule writes.
    pub unchanged: Vec<Name>,
    /// Whether rules are expected to do nothing: to write, warn and refuse nothing.
    pub is_nothing: bool,
}

/// A refusal that is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpectedRefusal {
    /// Any.
    Any,
    /// One with this code.
    Code(String),
    /// One with this in its message.
    Message(String),
}

/// What was expected, and what there was in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What was expected.
    pub expected: String,
    /// What there was.
    pub got: String,
}

/// What came of a test.
#[derive(Clone, Debug)]
pub struct TestOutcome {
    /// What the rules did.
    pub trace: Trace,
    /// What is not as expected; nothing if the test passes.
    pub differences: Vec<Difference>,
}

/// Runs a test.
#[must_use]
pub fn run(rules: &RuleSet, test: &RuleTest) -> TestOutcome {
    let with_rows = test.rows.as_ref().map(|rows| rows.put_into(rules));
    let rules = with_rows.as_ref().unwrap_or(rules);
    let trace = trace(rules, &test.submission);
    let differences = Comparison { rules, test, trace: &trace, differences: Vec::new() }.differences();
    TestOutcome { trace, differences }
}

struct Comparison<'c> {
    rules: &'c RuleSet,
    test: &'c RuleTest,
    trace: &'c Trace,
    differences: Vec<Difference>,
}

impl Comparison<'_> {
    fn note(&mut self, expected: impl Into<String>, got: impl Into<String>) {
        self.differences.push(Difference { expected: expected.into(), got: got.into() });
    }

    fn differences(mut self) -> Vec<Difference> {
        let expected = &self.test.expected;
        self.compare_refusal(expected);
        if let Some(warnings) = &expected.warnings {
            self.compare_warnings(warnings);
        }
        if let Some(rules) = &expected.rules {
            let matched: Vec<&str> = self.trace.matched().map(|rule| self.name_of(usize::from(rule.rule.0))).collect();
            if matched != *rules {
                let (expected, got) = (format!("rules {rules:?}"), format!("rules {matched:?}"));
                self.note(expected, got);
            }
        }
        self.compare_fields(expected);
        if expected.is_nothing {
            self.compare_nothing();
        }
        self.differences
    }

    fn name_of(&self, place: usize) -> &str {
        self.rules.rules.get(place).map_or("", |rule| &rule.name)
    }

    fn compare_refusal(&mut self, expected: &Expected) {
        let refusal = self.trace.refusal.as_ref();
        let got = || refusal.map_or_else(|| "it is accepted".to_owned(), |refusal| format!("it is refused: {}", refusal.message));
        let (is_met, wanted) = match &expected.refusal {
            None => (refusal.is_none(), "it is accepted".to_owned()),
            Some(ExpectedRefusal::Any) => (refusal.is_some(), "it is refused".to_owned()),
            Some(ExpectedRefusal::Code(code)) => {
                (refusal.is_some_and(|refusal| refusal.code.as_ref() == Some(code)), format!("it is refused with {code}"))
            }
            Some(ExpectedRefusal::Message(message)) => (
                refusal.is_some_and(|refusal| refusal.message.contains(message)),
                format!("it is refused with a message that has {message:?}"),
            ),
        };
        if !is_met {
            self.note(wanted, got());
        }
        if let (Some(error), Some(refusal)) = (&expected.error, refusal)
            && refusal.error.as_ref() != Some(error)
        {
            let got = refusal.error.clone().unwrap_or_else(|| "Slurm's general error".to_owned());
            self.note(format!("it is refused with Slurm's error {error}"), got);
        }
    }

    fn compare_warnings(&mut self, expected: &[String]) {
        let warnings = &self.trace.warnings;
        let got = || if warnings.is_empty() { "no warning".to_owned() } else { format!("warnings {warnings:?}") };
        if expected.is_empty() && !warnings.is_empty() {
            self.note("no warning", got());
        }
        for part in expected {
            if !warnings.iter().any(|warning| warning.contains(part)) {
                self.note(format!("a warning that has {part:?}"), got());
            }
        }
    }

    fn compare_fields(&mut self, expected: &Expected) {
        if self.trace.refusal.is_some() {
            // What is refused is not changed, and was said to be refused already.
            return;
        }
        let job = self.trace.applied_to(&self.test.submission.job);
        let default = self.rules.program.default_partition.as_deref().filter(|_| self.test.submission.request == Request::Submit);
        let after = |name: Name| match (job.field(FieldNumber::from(name)), default) {
            (Some(Value::Texts(named)), Some(default)) if name == Name::Partitions && named.iter().next().is_none() => {
                Some(Value::Texts(Texts::Separated(default, ',')))
            }
            (value, _) => value,
        };
        let shown = |name: Name, value: Option<Value<'_>>| match value {
            Some(value) => format!("{} = {}", label(name), in_words(name, value)),
            None => format!("no {}", label(name)),
        };
        for (name, value) in &expected.fields {
            let got = after(*name);
            if got.map(OwnedValue::from).as_ref() != Some(value) {
                self.note(shown(*name, Some(borrowed(value))), shown(*name, got));
            }
        }
        for name in &expected.absent {
            let got = after(*name);
            if got.is_some() {
                self.note(shown(*name, None), shown(*name, got));
            }
        }
        for (name, value) in &expected.variables {
            let shown = |value: Option<&str>| value.map_or_else(|| format!("no {name}"), |value| format!("{name} = {value:?}"));
            let got = job.variable(name);
            if got != value.as_deref() {
                self.note(format!("environment with {}", shown(value.as_deref())), shown(got));
            }
        }
        for name in &expected.unchanged {
            if self.trace.writes.iter().any(|(written, _)| written == name) {
                self.note(format!("{} as it was", label(*name)), shown(*name, after(*name)));
            }
        }
    }

    fn compare_nothing(&mut self) {
        let mut done: Vec<String> = self.trace.writes.iter().map(written_in_words).collect();
        done.extend(self.trace.warnings.iter().map(|warning| format!("a warning {warning:?}")));
        if !done.is_empty() {
            self.note("rules do nothing", done.join(", "));
        }
    }
}

/// The name of a field.
#[must_use]
pub fn label(name: Name) -> &'static str {
    FieldNumber::from(name).get().map_or("", |field| field.name)
}

/// What was written, as `partition = "gpu"` or `no reservation`.
#[must_use]
pub fn written_in_words((name, value): &(Name, Option<OwnedValue>)) -> String {
    match value {
        Some(value) => format!("{} = {}", label(*name), in_words(*name, borrowed(value))),
        None => format!("no {}", label(*name)),
    }
}
