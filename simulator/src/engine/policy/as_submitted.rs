//! The policy that changes no job.

use super::{Cluster, Job, JobIndex, Policy, Submitted};

/// Passes jobs on as their users wrote them.
#[derive(Debug, Clone, Copy, Default)]
pub struct AsSubmitted;

impl Policy for AsSubmitted {
    fn submit(&mut self, _index: JobIndex, job: &Job, _cluster: &Cluster) -> Submitted {
        Submitted { job: *job, eligible: job.submit, hold_until: None }
    }
}
