//! What a scheduler is told.

use job_types::time::UnixTime;

use super::JobIndex;

/// An event that may let jobs start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A job came into the queue, at this position.
    Queued {
        /// The job.
        job: JobIndex,
        /// The job's place in [`Cluster::waiting`](super::Cluster::waiting).
        position: usize,
    },
    /// A job ended; its processors are free.
    Ended {
        /// The job.
        job: JobIndex,
        /// When it was expected to end, which is not before now.
        expected_end: UnixTime,
    },
    /// A running job has outlived what it was expected to run, and is now expected to end later.
    Corrected {
        /// The job.
        job: JobIndex,
        /// When it was expected to end: now.
        expected_end: UnixTime,
    },
    /// The policy has changed time limits of jobs that wait or run.
    Revised,
    /// A moment that the scheduler has asked for, or the beginning or end of a block.
    Woken,
}
