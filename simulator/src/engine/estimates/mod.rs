//! How long jobs are expected to run.

mod correction;
mod last_two;
mod requested;

pub use correction::{corrected_seconds, corrected_to_seconds};
pub use last_two::LastTwo;
pub use requested::Requested;

use super::{Job, Record};

/// How long jobs are expected to run. A scheduler plans with what this says; the user's estimate
/// stays what ends a job.
pub trait Estimates: Send {
    /// Expected run time of a job that comes into the queue, in seconds.
    fn expect(&mut self, job: &Job) -> i64;

    /// Expected run time in all, in seconds, of a job that is still running after the
    /// `expected_seconds` that it was expected to run, after so many `corrections` before.
    fn correct(&mut self, job: &Job, expected_seconds: i64, corrections: usize) -> i64 {
        corrected_seconds(job, expected_seconds, corrections)
    }

    /// A job has ended, and its run time is known.
    fn ended(&mut self, _job: &Job, _record: &Record) {}
}
