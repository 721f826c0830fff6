//! A job with a deadline, as nodes that are shared in time run it.

use job_types::time::{Seconds, UnixTime};

/// A job with a deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeadlineJob {
    /// Submission, on the clock of the workload.
    pub submit: UnixTime,
    /// How long it runs if it has its nodes whole, at least 1 s.
    pub run_time: Seconds,
    /// How long it is estimated to run, at least 1 s; it may outlive that.
    pub estimate: Seconds,
    /// The number of nodes on which the job runs, at least 1.
    pub nodes: u32,
    /// The time by which the job has to be done, on the clock of the workload.
    pub deadline: UnixTime,
}
