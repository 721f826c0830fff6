//! The jobs of a past as replays run them.

use job_types::time::{Seconds, UnixTime};

use crate::engine::Job;
use crate::swf::Log;
use crate::workload::{LoggedJob, Rules, UnknownRequests};

/// What is replayed of a past.
pub(crate) struct ReplayedPast {
    /// The jobs in order of submission. Jobs that were submitted at one moment keep the order of
    /// the log.
    pub(crate) jobs: Vec<Job>,
    /// How long each job waited according to the log; `None` if the log does not say it.
    pub(crate) waits: Vec<Option<Seconds>>,
    /// Processors of the machine.
    pub(crate) processors: u32,
    /// Jobs that had no time limit, of which replays know the run time.
    pub(crate) without_limit: usize,
    /// Jobs larger than the machine, which get all of it.
    pub(crate) larger: usize,
}

impl ReplayedPast {
    /// The jobs of a log that ran. A job that ran too long is cut at what it asked for, and one
    /// without a time limit is known to run as long as it did.
    pub(crate) fn of(log: &Log, processors: u32) -> Self {
        let rules = Rules { unknown_requests: UnknownRequests::AsRun, ..Rules::of_policies() };
        let (mut without_limit, mut larger) = (0, 0);
        let mut jobs: Vec<(Job, Option<Seconds>)> = Vec::with_capacity(log.records.len());
        for logged in log.records.iter().map(LoggedJob::from) {
            let Some(job) = rules.job(&logged, processors) else { continue };
            without_limit += usize::from(logged.limit.is_none());
            larger += usize::from(logged.allocated.is_some_and(|allocated| allocated > processors));
            // Forecasts know jobs by their queues; some logs have only the partitions.
            let queue = logged.queue.or(logged.partition).unwrap_or(u32::MAX);
            jobs.push((Job { queue, ..job }, logged.wait));
        }
        // Stable: jobs of one second keep the log's order.
        jobs.sort_by_key(|(job, _)| job.submit);
        let (jobs, waits) = jobs.into_iter().unzip();
        Self { jobs, waits, processors, without_limit, larger }
    }

    /// The last so many of its jobs, and how long these waited.
    pub(crate) fn last(&self, jobs: usize) -> (&[Job], &[Option<Seconds>]) {
        let first = self.jobs.len().saturating_sub(jobs);
        (self.jobs.get(first..).unwrap_or_default(), self.waits.get(first..).unwrap_or_default())
    }

    /// First submission and last end, on the log's clock.
    pub(crate) fn period(&self) -> (UnixTime, UnixTime) {
        let first = self.jobs.first().map(|job| job.submit).unwrap_or_default();
        let end = |(job, wait): (&Job, &Option<Seconds>)| job.submit + wait.unwrap_or_default() + job.run_time;
        (first, self.jobs.iter().zip(&self.waits).map(end).max().unwrap_or_default())
    }
}
