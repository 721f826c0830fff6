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
    /// The moment before which the jobs were submitted, by slurmctld's clock.
    pub(crate) before: UnixTime,
    /// The users who have any jobs, in ascending order.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::made_up::job;

    #[test]
    fn each_task_is_a_job_and_what_was_submitted_since_is_left_out() {
        let of = |user: u32, state: JobState, task_count: u32, submitted: i64| QueuedJob {
            user_id: UserId(user),
            task_count,
            submitted: Some(submitted),
            ..job(1, state, 1)
        };
        let queue = [
            of(8, JobState::Pending, 1, 10),
            of(7, JobState::Pending, 5, 10),
            of(7, JobState::Requeued, 0, 10),
            of(7, JobState::Running, 1, 99),
            of(7, JobState::Suspended, 1, 10),
            of(7, JobState::Completing, 1, 10),
            of(7, JobState::Completed, 1, 10),
            of(7, JobState::Pending, 1, 100),
            of(9, JobState::Running, 1, 101),
        ];
        let users = vec![(UserId(7), UserJobs { pending: 6, running: 2 }), (UserId(8), UserJobs { pending: 1, running: 0 })];
        assert_eq!(Counts::of(&queue, UnixTime(100)), Counts { before: UnixTime(100), users });
    }
}
