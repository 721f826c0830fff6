//! Which submissions have become jobs within the last minutes, over the readings of slurmctld.
//!
//! slurmctld forgets an ended job some minutes after its end (`MinJobAge` of slurm.conf), and gives
//! a job that is put back into the queue a new time of submission. So a job is kept here as it was
//! seen first.

use job_types::number::JobId;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use predictor_core::snapshot::SeenSubmission;
use slurm_sys::client::controller::QueuedJob;
use snapshot_writer::{MOST_SUBMISSIONS, SeenSubmissions};
use std::collections::HashMap;

/// How long a submission is told.
const KEPT: Seconds = Seconds(600);

/// The submissions that became jobs, by the number of the job, or of its array.
#[derive(Debug, Default)]
pub(crate) struct Submissions {
    first_read_at: Option<UnixTime>,
    jobs: HashMap<JobId, SeenSubmission>,
}

impl Submissions {
    /// Adds the jobs that slurmctld showed at a moment, and returns what is to be told.
    pub(crate) fn seen(&mut self, queue: &[QueuedJob], asked: impl Fn(&QueuedJob) -> Size, read_at: UnixTime) -> SeenSubmissions {
        let oldest = read_at - KEPT;
        // A clock that was set back is followed: otherwise nothing would be known until then.
        let first_read_at = self.first_read_at.map_or(read_at, |first| first.min(read_at));
        self.first_read_at = Some(first_read_at);
        let jobs = &mut self.jobs;
        jobs.retain(|_, job| job.submitted_at >= oldest);
        // A job that was started before shows another time of submission than its own.
        for job in queue.iter().filter(|job| job.restarts == 0) {
            let Some(submitted_at) = job.submitted.map(UnixTime).filter(|at| *at >= oldest) else { continue };
            let number = job.array_job_id.unwrap_or(job.job_id);
            jobs.entry(number).or_insert(SeenSubmission { user: job.user_id, submitted_at, size: asked(job) });
        }
        if jobs.len() > 2 * MOST_SUBMISSIONS {
            let mut times: Vec<UnixTime> = jobs.values().map(|job| job.submitted_at).collect();
            times.sort_unstable();
            let from = times.get(times.len() - MOST_SUBMISSIONS - 1).copied().unwrap_or_default();
            jobs.retain(|_, job| job.submitted_at >= from);
        }
        SeenSubmissions { since: Some(oldest.max(first_read_at)), jobs: jobs.values().copied().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slurm_sys::client::JobState;

    const NOW: UnixTime = UnixTime(1_800_000_000);

    fn job(number: u32, submitted: i64, restarts: u32, array: Option<u32>) -> QueuedJob {
        let job = crate::known::made_up::job(number, JobState::Pending, 2);
        QueuedJob { submitted: Some(NOW.0 + submitted), restarts, array_job_id: array.map(JobId), ..job }
    }

    fn times(seen: &SeenSubmissions) -> Vec<i64> {
        let mut times: Vec<i64> = seen.jobs.iter().map(|job| job.submitted_at.0 - NOW.0).collect();
        times.sort_unstable();
        times
    }

    #[test]
    fn a_job_is_told_as_it_was_seen_first_for_ten_minutes_and_tasks_of_an_array_are_one() {
        let mut submissions = Submissions::default();
        let mut seen = |queue: &[QueuedJob], later: i64| {
            let seen = submissions.seen(queue, |job| Size { nodes: job.nodes, cpus: job.cpus }, NOW + Seconds(later));
            (times(&seen), seen.since.map(|since| since.0 - NOW.0))
        };
        let queue = [job(1, -700, 0, None), job(2, -30, 0, None), job(3, -20, 0, Some(3)), job(4, -20, 0, Some(3))];
        assert_eq!(seen(&queue, 0), (vec![-30, -20], Some(0)));
        // Jobs 1 and 2 were put back into the queue; 3 has ended, and its record is gone.
        let queue = [job(1, 290, 1, None), job(2, 290, 1, None), job(5, 280, 0, None)];
        assert_eq!(seen(&queue, 300), (vec![-30, -20, 280], Some(0)));
        assert_eq!(seen(&[job(2, 290, 1, None)], 700), (vec![280], Some(100)));
    }
}
