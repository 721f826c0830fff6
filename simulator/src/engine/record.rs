//! What became of a job.

/// What became of a job. Times are seconds from the beginning of the workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
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
}

impl Record {
    /// From its submission to its start, whoever held it.
    #[must_use]
    pub fn wait_seconds(&self) -> i64 {
        self.start_seconds - self.submit_seconds
    }

    /// From its start to its end.
    #[must_use]
    pub fn run_seconds(&self) -> i64 {
        self.end_seconds - self.start_seconds
    }

    /// From its submission to its end.
    #[must_use]
    pub fn response_seconds(&self) -> i64 {
        self.end_seconds - self.submit_seconds
    }
}
