//! How long jobs are expected to run.

mod correction;
mod last_two;
mod requested;

pub use correction::corrected;
pub use last_two::LastTwo;
pub use requested::Requested;

use job_types::time::Seconds;

use super::{Job, Record};

/// How long jobs are expected to run. A scheduler plans with what this says; the user's estimate
/// stays what ends a job.
pub trait Estimates: Send {
    /// Expected run time of a job that comes into the queue.
    fn expect(&mut self, job: &Job) -> Seconds;

    /// Expected run time in all of a job that is still running after the
    /// `expected` that it was expected to run, after so many `corrections` before.
    fn correct(&mut self, job: &Job, expected: Seconds, corrections: usize) -> Seconds {
        corrected(job, expected, corrections)
    }

    /// A job has ended, and its run time is known.
    fn ended(&mut self, _job: &Job, _record: &Record) {}
}
