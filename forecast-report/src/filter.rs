//! What the submit filter would do with the job.

use std::path::Path;

use job_types::options::Mode;
use job_types::record::Record;
use job_types::size::Size;
use job_types::time::Seconds;
use predictor_core::decisions::{
    Arrival, Changes, Decision, DecisionInputs, FilterState, Gate, NoState, Timeliness, Why, decide, gate, mode_of,
};
use serde::Serialize;

use crate::age::ahead;
use crate::situation::Situation;

/// Why a job is left that asks for nothing.
const NOTHING_ASKED: &str = "it asks for nothing, and no policy here applies to all jobs";

/// What the filter would do.
#[derive(Debug, Serialize)]
pub struct FilterReport {
    /// What is done.
    pub outcome: SubmissionOutcome,
    /// Why, where the job is left.
    pub why: Option<String>,
    /// How far the filter may go with this job.
    pub mode: Mode,
    /// What the user would be told.
    pub line: Option<String>,
    /// What the decision says in full, where the mode keeps it from being told or done.
    pub line_if_enforced: Option<String>,
    /// What would be written into the job.
    pub changes: ChangesReport,
    /// What would be written in the mode `enforce`.
    pub proposed: ChangesReport,
    /// What the job would carry in its `admin_comment`.
    pub record: Option<Record>,
    #[serde(skip)]
    decision: Option<Decision>,
}

/// What the filter does with a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SubmissionOutcome {
    /// The job is left alone without a decision.
    Left,
    /// The decision is recorded, and nothing else is done.
    Observed,
    /// The decision is recorded and told to the user.
    Advised,
    /// The decision is to change nothing.
    Unchanged,
    /// The job is rewritten.
    Changed,
    /// The submission is refused.
    Refused,
}

/// What is written into a job; absent is unchanged.
#[derive(Debug, Default, Serialize)]
pub struct ChangesReport {
    /// The number of nodes.
    nodes: Option<u32>,
    /// CPUs on all of them.
    cpus: Option<u32>,
    /// The number of tasks.
    tasks: Option<u32>,
    /// The time limit, in seconds.
    pub limit_s: Option<i64>,
    /// When the job becomes eligible, in Unix seconds.
    pub begin: Option<i64>,
    /// Until when the batch step waits on its nodes, in Unix seconds.
    hold_until: Option<i64>,
    /// Whether Slurm's own deadline is taken out, because the job is admitted with it.
    clears_deadline: bool,
}

impl From<Changes> for ChangesReport {
    fn from(changes: Changes) -> Self {
        Self {
            nodes: changes.size.map(|(size, _)| size.nodes),
            cpus: changes.size.map(|(size, _)| size.cpus),
            tasks: changes.size.and_then(|(_, tasks)| tasks),
            limit_s: changes.limit.map(|limit| limit.0),
            begin: changes.begin.map(|begin| begin.0),
            hold_until: changes.hold_until.map(|until| until.0),
            clears_deadline: changes.clears_deadline,
        }
    }
}

impl FilterReport {
    /// What the filter would do now. Jobs that were submitted since the snapshot are not known
    /// here, as they are to the filter. `off` is the file that switches the filter off, where
    /// there is one.
    pub fn of(situation: &Situation<'_>, off: Option<&Path>) -> Self {
        let DecisionInputs { submission, policy, forecasts: snapshot, now, .. } = situation;
        let mode = mode_of(&submission.asked, policy);
        let standing = FilterState { is_off: off.is_some(), is_transparent: snapshot.has_transparent_policy() };
        let arrival = Arrival { configured: Some(*policy), ..Arrival::from(*submission) };
        let verdict = gate(&arrival, Some(standing), || match snapshot.timeliness(*now) {
            Timeliness::Current => Ok(*policy),
            Timeliness::TooOld => Err(NoState::TooOld),
            Timeliness::Ahead => Err(NoState::Ahead),
        });
        let (outcome, why) = match verdict {
            Gate::Decide(_) => return Self::decided(situation, mode),
            Gate::Leave(why, _) => (SubmissionOutcome::Left, why),
            Gate::Refuse(why, _) | Gate::NotAdmitted(why, _) => (SubmissionOutcome::Refused, why),
        };
        let why = match why {
            Why::KillSwitch => format!("switched off by {}", off.unwrap_or(Path::new("")).display()),
            Why::NoState(NoState::Ahead) => ahead(snapshot, *now),
            Why::NoState(NoState::TooOld) => "the snapshot is too old to rely on".to_owned(),
            Why::NoState(other) => other.to_string(),
            Why::ModeOff => "the mode is off for this job".to_owned(),
            Why::NothingAsked => NOTHING_ASKED.to_owned(),
            Why::Malformed(error) => error.to_string(),
            Why::SiblingCopy | Why::ChoosesClusters => "another cluster of the federation may get it".to_owned(),
        };
        Self::left(outcome, why, mode)
    }

    fn decided(situation: &Situation<'_>, mode: Mode) -> Self {
        let DecisionInputs { submission, policy, forecasts: snapshot, now, .. } = situation;
        let decision = decide(situation);
        if decision.is_about_nothing(submission, policy) {
            return Self::left(SubmissionOutcome::Left, NOTHING_ASKED.to_owned(), mode);
        }
        let outcome = match mode {
            Mode::Off | Mode::Observe => SubmissionOutcome::Observed,
            Mode::Advise => SubmissionOutcome::Advised,
            Mode::Enforce if decision.refusal().is_some() => SubmissionOutcome::Refused,
            Mode::Enforce if decision.changes().is_empty() => SubmissionOutcome::Unchanged,
            Mode::Enforce => SubmissionOutcome::Changed,
        };
        let enforced = Decision { mode: Mode::Enforce, ..decision.clone() };
        let if_enforced = (mode < Mode::Enforce).then(|| enforced.line(submission, policy, *now)).flatten();
        Self {
            outcome,
            why: None,
            mode,
            line: decision.line(submission, policy, *now),
            line_if_enforced: if_enforced,
            changes: decision.changes().into(),
            proposed: decision.proposed().into(),
            record: Some(decision.record(situation, snapshot.generation())),
            decision: Some(decision),
        }
    }

    fn left(outcome: SubmissionOutcome, why: String, mode: Mode) -> Self {
        let changes = ChangesReport::default;
        Self {
            outcome,
            why: Some(why),
            mode,
            line: None,
            line_if_enforced: None,
            changes: changes(),
            proposed: changes(),
            record: None,
            decision: None,
        }
    }

    /// Whether the job would be refused.
    pub fn is_refused(&self) -> bool {
        self.outcome == SubmissionOutcome::Refused
    }

    /// Size and time limit as decided.
    pub fn decided_size(&self) -> Option<(Size, Option<Seconds>)> {
        let decided = self.decision.as_ref()?.decided.as_ref()?;
        Some((decided.size, decided.limit))
    }
}
