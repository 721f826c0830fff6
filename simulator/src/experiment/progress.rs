//! How far a replay has come.

use job_types::time::UnixTime;

use crate::engine::{Cluster, Job, JobIndex, Policy, Record, Revised, Submitted};

/// The number of submissions after which the progress is told again.
const EVERY: JobIndex = 64;

/// A policy of which it is shown how many of the jobs it has passed on.
pub(super) struct Shown<'a, P> {
    policy: P,
    jobs: usize,
    progress: &'a dyn Fn(usize, usize),
}

impl<'a, P: Policy> Shown<'a, P> {
    /// Creates the policy for a replay of `jobs` jobs. `progress` is told how many of them have
    /// been submitted, and how many there are.
    pub(super) fn new(policy: P, jobs: usize, progress: &'a dyn Fn(usize, usize)) -> Self {
        Self { policy, jobs, progress }
    }

    /// The policy.
    pub(super) fn policy(&self) -> &P {
        &self.policy
    }
}

impl<P: Policy> Policy for Shown<'_, P> {
    fn submit(&mut self, index: JobIndex, job: &Job, cluster: &Cluster) -> Submitted {
        if index.is_multiple_of(EVERY) {
            (self.progress)(index as usize, self.jobs);
        }
        self.policy.submit(index, job, cluster)
    }

    fn started(&mut self, index: JobIndex, job: &Job, record: &Record) {
        self.policy.started(index, job, record);
    }

    fn ended(&mut self, index: JobIndex, job: &Job, record: &Record) {
        self.policy.ended(index, job, record);
    }

    fn wakes_at(&self) -> Option<UnixTime> {
        self.policy.wakes_at()
    }

    fn revise(&mut self, cluster: &Cluster) -> Vec<Revised> {
        self.policy.revise(cluster)
    }
}
