//! What became of a job.

use job_types::time::Seconds;

/// What became of a job. Times are seconds from the beginning of the workload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Record {
    /// When its user submitted it.
    pub submit_seconds: i64,
    /// When the policy in front passed it on to the scheduler.
    pub eligible_seconds: i64,
    /// When it started.
    pub start_seconds: i64,
    /// When it ended.
    pub end_seconds: i64,
    /// The run time that its user estimated.
    pub estimate_seconds: i64,
    /// On how many processors it ran.
    pub processors: u32,
    /// How long it waited on its nodes for the time that it was promised them for, before it ran.
    pub held: Seconds,
}

impl Record {
    /// From its submission to its start, whoever held it.
    #[must_use]
    pub fn wait_seconds(&self) -> i64 {
        self.start_seconds - self.submit_seconds
    }

    /// For how long it had its processors: from its start to its end.
    #[must_use]
    pub fn occupied_seconds(&self) -> i64 {
        self.end_seconds - self.start_seconds
    }

    /// For how long it ran on them: what it waited there for a promised time is left out.
    #[must_use]
    pub fn run_seconds(&self) -> i64 {
        self.occupied_seconds() - self.held.0
    }

    /// From its submission to its end.
    #[must_use]
    pub fn response_seconds(&self) -> i64 {
        self.end_seconds - self.submit_seconds
    }
}
