//! Expected run times of the jobs that run and wait, and the plan of the queue that follows from them.

use learning::run_times::{ArrivingJob, Calibrated, RangeSetRule, RunTimePredictor};
use predictor_core::forecast::point;
use predictor_core::size::{Size, Unit};
use predictor_core::time::{Seconds, UnixTime};

use crate::engine::{Cluster, Job, JobIndex, Record};
use crate::profile::Profile;

/// Most ranges of a distribution of run times, as in a snapshot.
const MOST_RANGES: usize = 25;

/// Forecasts of run times by the default method, and a plan of the queue made with them.
pub(super) struct ExpectedRunTimes {
    run_times: Calibrated,
    /// By job: expected run time.
    expected: Vec<i64>,
}

impl ExpectedRunTimes {
    /// Before anything is known, for a workload of so many jobs.
    pub(super) fn new(jobs: usize) -> Self {
        Self { run_times: Calibrated::new(Unit::Cpus, RangeSetRule::default()), expected: vec![0; jobs] }
    }

    /// Expected run time of a job as it is written: the mean of the distribution, within its limit; the limit where nothing is known.
    pub(super) fn run_time(&self, index: JobIndex, job: &Job) -> Seconds {
        let known = self.run_times.distribution(&arriving(index, job));
        let expected = known.map_or(job.estimate_seconds, |known| point(&known.summary(MOST_RANGES)).0);
        Seconds(expected.clamp(1, job.estimate_seconds.max(1)))
    }

    /// A job is submitted, and is expected to run so long.
    pub(super) fn passed(&mut self, index: JobIndex, job: &Job, expected: Seconds) {
        // Its run time is learnt from as one of the size at which it will run.
        self.run_times.predict_distribution(&arriving(index, job));
        if let Some(place) = self.expected.get_mut(index as usize) {
            *place = expected.0.clamp(1, job.estimate_seconds.max(1));
        }
    }

    /// A job has ended.
    pub(super) fn ended(&mut self, index: JobIndex, job: &Job, record: &Record) {
        self.run_times.ends(&arriving(index, job), UnixTime(record.end_seconds), Some(Seconds(record.run_seconds())));
    }

    /// Free processors over time if jobs run as long as expected and each that waits starts as soon as there is room, in the order of the queue.
    pub(super) fn plan(&self, cluster: &Cluster) -> Profile {
        let now = cluster.now_seconds();
        let expected = |job: JobIndex| self.expected.get(job as usize).copied().unwrap_or(1);
        let mut profile = Profile::new(now, i64::from(cluster.machine().processors));
        for (_, processors, job) in cluster.running().by_expected_end() {
            let start = cluster.record(job).start_seconds;
            profile.take(now, start + still_expected(expected(job), now - start), i64::from(processors));
        }
        for entry in cluster.waiting() {
            let (processors, expected) = (i64::from(entry.processors), expected(entry.job));
            if let Some(start) = profile.earliest(now, processors, expected) {
                profile.take(start, start + expected, processors);
            }
        }
        profile
    }
}

/// Expected run time in all of a job that has run so long: one that has outlived what was expected is taken to go on for half as long again.
fn still_expected(expected: i64, elapsed: i64) -> i64 {
    if elapsed < expected { expected } else { elapsed + elapsed / 2 + 60 }
}

/// A job as the forecasts of run times see it.
pub(super) fn arriving(index: JobIndex, job: &Job) -> ArrivingJob {
    ArrivingJob {
        id: index,
        user: job.user,
        account: job.group,
        partition: job.queue as u16,
        size: Size { nodes: job.processors, cpus: job.processors },
        occupied_cpus: job.processors,
        limit: Some(Seconds(job.estimate_seconds)),
        at: UnixTime(job.submit_seconds),
    }
}

#[cfg(test)]
mod tests {
    use super::still_expected;

    #[test]
    fn a_job_that_goes_on_is_taken_to_go_on() {
        assert_eq!((still_expected(600, 599), still_expected(600, 600), still_expected(600, 6_000)), (600, 960, 9_060));
    }
}
