//! What rules did to a submission, rule by rule.

use crate::described::{DescribedJob, DescribedSubmission};
use site_rules::apply::apply;
use site_rules::data::OwnedValue;
use site_rules::fault::Fault;
use site_rules::field::Name;
use site_rules::outcome::{Observer, Report, Taken, Verdict};
use site_rules::overlay::Write;
use site_rules::rules::{Rule, RuleNumber, RuleSet};
use site_rules::scratch::Memory;
use site_rules::submission::Request;

/// What became of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleOutcome {
    /// It is not for such a request.
    OtherRequest,
    /// The user is exempt.
    Bypassed,
    /// A rule before it refused or stopped.
    NotReached,
    /// It does not match.
    NotMatched,
    /// It matches.
    Matched,
    /// It can't be evaluated.
    Failed(Fault),
}

/// A field that was written, with its value; `None` where it was made absent.
pub type WrittenField = (Name, Option<OwnedValue>);

/// What became of a rule, and what it did or would do if it were not only observed.
#[derive(Clone, Debug)]
pub struct TracedRule {
    /// The rule.
    pub rule: RuleNumber,
    /// What became of it.
    pub asked: RuleOutcome,
    /// The number of steps that the rule took.
    pub steps: u32,
    /// What it writes.
    pub writes: Vec<WrittenField>,
    /// The actions of the rule that had an effect.
    pub taken: Vec<Taken>,
    /// What it warns of.
    pub warning: Option<String>,
    /// What it refuses with, without code and page.
    pub refusal: Option<String>,
}

/// The refusal of a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedRefusal {
    /// The rule that refuses.
    pub rule: RuleNumber,
    /// The code of the refusal, where the rule gives one.
    pub code: Option<String>,
    /// The name of Slurm's error, where the rule has one.
    pub error: Option<String>,
    /// What the user is told.
    pub message: String,
}

/// What rules did to a submission.
#[derive(Clone, Debug)]
pub struct Trace {
    /// All rules in their order.
    pub rules: Vec<TracedRule>,
    /// What is written, each field once.
    pub writes: Vec<WrittenField>,
    /// What the user is told.
    pub warnings: Vec<String>,
    /// The refusal.
    pub refusal: Option<TracedRefusal>,
}

#[derive(Default)]
struct Reports(Vec<TracedRule>);

impl Observer for Reports {
    fn rule(&mut self, report: &Report<'_, '_>) {
        let asked = match report.verdict {
            Verdict::NotMatched => RuleOutcome::NotMatched,
            Verdict::Matched => RuleOutcome::Matched,
            Verdict::Failed(fault) => RuleOutcome::Failed(fault),
        };
        self.0.push(TracedRule {
            rule: report.rule,
            asked,
            steps: report.steps,
            writes: owned(report.writes),
            taken: report.taken.to_vec(),
            warning: report.warning.map(str::to_owned),
            refusal: report.refusal.map(str::to_owned),
        });
    }
}

fn owned(writes: &[Write<'_>]) -> Vec<WrittenField> {
    let owned = |write: &Write<'_>| Some((write.field.name()?, write.value.map(OwnedValue::from)));
    writes.iter().filter_map(owned).collect()
}

/// Applies rules to a submission, and says what each did.
#[must_use]
pub fn trace(rules: &RuleSet, described: &DescribedSubmission) -> Trace {
    let submission = described.submission();
    let mut memory = Memory::default();
    let mut reports = Reports::default();
    let outcome = apply(rules, &submission, &mut memory, &mut reports);
    let mut asked = reports.0.into_iter().peekable();
    let all = (0..).map(RuleNumber).zip(&rules.rules).map(|(number, rule)| {
        let not_asked = || TracedRule {
            rule: number,
            asked: why_not(rule, described),
            steps: 0,
            writes: Vec::new(),
            taken: Vec::new(),
            warning: None,
            refusal: None,
        };
        asked.next_if(|report| report.rule == number).unwrap_or_else(not_asked)
    });
    let traced = all.collect();
    Trace {
        rules: traced,
        writes: owned(&outcome.writes),
        warnings: outcome.warnings.into_iter().map(|warning| warning.message).collect(),
        refusal: outcome.refusal.map(|refusal| TracedRefusal {
            rule: refusal.rule,
            code: refusal.code.map(str::to_owned),
            error: refusal.error.map(str::to_owned),
            message: refusal.message,
        }),
    }
}

fn why_not(rule: &Rule, described: &DescribedSubmission) -> RuleOutcome {
    let is_for_request = match described.request {
        Request::Submit => rule.on_submit,
        Request::Modify => rule.on_modify,
    };
    let user = &described.user;
    if !is_for_request {
        RuleOutcome::OtherRequest
    } else if (rule.bypassed_by_root && user.is_root) || (rule.bypassed_by_operators && user.is_operator) {
        RuleOutcome::Bypassed
    } else {
        RuleOutcome::NotReached
    }
}

impl Trace {
    /// The rules that match.
    pub fn matched(&self) -> impl Iterator<Item = &TracedRule> {
        self.rules.iter().filter(|rule| rule.asked == RuleOutcome::Matched)
    }

    /// The job with what is written.
    #[must_use]
    pub fn applied_to(&self, job: &DescribedJob) -> DescribedJob {
        let mut job = job.clone();
        for (name, value) in &self.writes {
            job.write(*name, value.clone());
        }
        job
    }
}
