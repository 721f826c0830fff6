//! A job, as the engine sees it.

use job_types::time::{Seconds, UnixTime};

/// The place of a job among those of a simulation, from 0, in order of submission.
pub type JobIndex = u32;

/// One rigid job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Job {
    /// Submission, on the clock of the workload: that of a log begins at 0.
    #[serde(rename = "submit_seconds")]
    pub submit: UnixTime,
    /// How long it runs once it has started, at least 1 s.
    #[serde(rename = "run_seconds")]
    pub run_time: Seconds,
    /// What its user says that it runs at most: its time limit, at least 1 s.
    #[serde(rename = "estimate_seconds")]
    pub estimate: Seconds,
    /// Its size, at least 1.
    pub processors: u32,
    /// Its number in the log.
    pub number: u32,
    /// Its user's number.
    pub user: u32,
    /// Its group's number.
    pub group: u32,
    /// Its application's number.
    pub executable: u32,
    /// Its queue's number.
    pub queue: u32,
    /// Its partition's number.
    pub partition: u32,
}

impl Job {
    /// Processors times run time.
    #[must_use]
    pub fn work_processor_seconds(&self) -> f64 {
        f64::from(self.processors) * self.run_time.0 as f64
    }
}
