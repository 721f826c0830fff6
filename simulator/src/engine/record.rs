//! What became of a job.

use job_types::job::Ending;
use job_types::promise::{PromiseState, ReservedRun};
use job_types::time::{Seconds, UnixTime};

/// What became of a job. Moments are on the clock of the workload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Record {
    /// When its user submitted it.
    #[serde(rename = "submit_seconds")]
    pub submit: UnixTime,
    /// When the policy in front passed it on to the scheduler.
    #[serde(rename = "eligible_seconds")]
    pub eligible: UnixTime,
    /// When it started.
    #[serde(rename = "start_seconds")]
    pub start: UnixTime,
    /// When it ended.
    #[serde(rename = "end_seconds")]
    pub end: UnixTime,
    /// The run time that its user estimated.
    #[serde(rename = "estimate_seconds")]
    pub estimate: Seconds,
    /// The number of processors on which the job ran.
    pub processors: u32,
    /// How long the job waited on its nodes for its reserved time before it ran.
    pub held: Seconds,
}

impl Record {
    /// The run, as far as a reservation of its job is about it. Jobs of a log come to their ends by
    /// themselves.
    pub(crate) fn reserved_run(&self) -> ReservedRun {
        ReservedRun { submitted: self.submit, started: Some(self.start), ended: Some((self.end, Some(Ending::Completed))) }
    }

    /// Whether a reservation of the job for a time was kept.
    pub(crate) fn has_kept(&self, at: UnixTime) -> bool {
        self.reserved_run().state(at, self.end) == Some(PromiseState::Kept)
    }
}

#[cfg(test)]
impl Record {
    /// Builds the record of a made-up job from its submission, start and end, its estimated run
    /// time, and its processors.
    pub(crate) const fn made_up([submit, start, end]: [i64; 3], estimate: i64, processors: u32) -> Self {
        Self {
            submit: UnixTime(submit),
            eligible: UnixTime(submit),
            start: UnixTime(start),
            end: UnixTime(end),
            estimate: Seconds(estimate),
            processors,
            held: Seconds::ZERO,
        }
    }
}

impl Record {
    /// Time from its submission to its start, whoever held it.
    #[must_use]
    pub fn wait(&self) -> Seconds {
        self.start - self.submit
    }

    /// Returns how long the job had its processors: from its start to its end.
    #[must_use]
    pub fn occupied(&self) -> Seconds {
        self.end - self.start
    }

    /// Returns how long the job ran on its processors. Its wait there for a reserved time is left
    /// out.
    #[must_use]
    pub fn run_time(&self) -> Seconds {
        self.occupied() - self.held
    }

    /// Time from its submission to its end.
    #[must_use]
    pub fn response(&self) -> Seconds {
        self.end - self.submit
    }
}
