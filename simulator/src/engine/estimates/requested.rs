//! The users' own estimates, unchanged.

use job_types::time::Seconds;

use super::{Estimates, Job};

/// The users' own estimates.
#[derive(Debug, Clone, Copy, Default)]
pub struct Requested;

impl Estimates for Requested {
    fn expect(&mut self, job: &Job) -> Seconds {
        job.estimate
    }
}
