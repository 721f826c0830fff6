//! What rules do to a submission.

use crate::fault::Fault;
use crate::overlay::Write;
use crate::rules::RuleNumber;
use crate::steps::Steps;

/// What all rules together do: writes and warnings, or a refusal.
#[derive(Debug, Default)]
pub struct Outcome<'a> {
    /// What is to be written, each field once; nothing if it is refused.
    pub writes: Vec<Write<'a>>,
    /// What the user is told.
    pub warnings: Vec<Warning>,
    /// The refusal.
    pub refusal: Option<Refusal<'a>>,
    /// How many steps are left of what the rules that apply may take together.
    pub steps_left: Steps,
}

/// What a user is told without refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The rule that says so.
    pub rule: RuleNumber,
    /// The text.
    pub message: String,
}

/// Why a submission is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal<'a> {
    /// The rule that refuses.
    pub rule: RuleNumber,
    /// The code of the refusal.
    pub code: Option<&'a str>,
    /// The name of Slurm's error, where the rule has one.
    pub error: Option<&'a str>,
    /// The text for the user, with the code and where more is said about it.
    pub message: String,
}

/// What became of a rule that was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does not match.
    NotMatched,
    /// It matches.
    Matched,
    /// It can't be evaluated.
    Failed(Fault),
}

/// An action of a rule that had an effect: it wrote something, or a choice of its route was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Taken {
    /// The place of the action in [`crate::rules::Rule::actions`].
    pub action: u16,
    /// The choice that was taken, of a route.
    pub choice: Option<u16>,
}

/// A rule that was asked, for counters, logs and explanations.
#[derive(Clone, Copy, Debug)]
pub struct Report<'r, 'a> {
    /// The rule. Rules that are not for such a request or user are not asked.
    pub rule: RuleNumber,
    /// What became of the rule.
    pub verdict: Verdict,
    /// The number of steps that the rule took.
    pub steps: u32,
    /// What it writes, or would write if it were not observed only.
    pub writes: &'r [Write<'a>],
    /// The actions of the rule that had an effect.
    pub taken: &'r [Taken],
    /// What it warns of.
    pub warning: Option<&'r str>,
    /// What it refuses with, without code and page.
    pub refusal: Option<&'r str>,
}

/// Is told of each rule that is asked.
pub trait Observer {
    /// A rule was asked.
    fn rule(&mut self, report: &Report<'_, '_>);
}

/// An observer that ignores all reports.
#[derive(Clone, Copy, Debug)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn rule(&mut self, _: &Report<'_, '_>) {}
}
