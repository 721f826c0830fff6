//! How many jobs each user has in the queue.

use std::collections::BTreeMap;

use job_types::number::UserId;
use job_types::time::UnixTime;
use site_rules::submission::UserJobs;
use slurm_sys::client::JobState;
use slurm_sys::client::controller::QueuedJob;

/// The jobs of each user that were submitted before a moment.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// That moment, by slurmctld's clock.
    pub(crate) before: UnixTime,
    /// The users who have any, in ascending order.
    pub(crate) users: Vec<(UserId, UserJobs)>,
}

impl Counts {
    /// Counts the jobs of a queue. Each task of an array is one. What was submitted at the moment
    /// or later is left to the plugin, which has counted it when it let it through.
    pub(crate) fn of(queue: &[QueuedJob], before: UnixTime) -> Counts {
        let mut users: BTreeMap<UserId, UserJobs> = BTreeMap::new();
        for job in queue.iter().filter(|job| job.submitted.is_none_or(|at| at < before.0)) {
            let (pending, running) = match job.state {
                JobState::Pending | JobState::Requeued => (job.task_count.max(1), 0),
                JobState::Running | JobState::Suspended => (0, 1),
                _ => continue,
            };
            let jobs = users.entry(job.user_id).or_default();
            jobs.pending = jobs.pending.saturating_add(pending);
            jobs.running = jobs.running.saturating_add(running);
        }
        Counts { before, users: users.into_iter().collect() }
    }
}
