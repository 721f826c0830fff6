//! Admitted jobs in the plan: a deadline says something of the run time, and what was promised to
//! one job bounds how far it may be put off for another.

use std::collections::HashMap;

use job_types::number::{JobId, PartitionIndex};
use job_types::policy::Admission;
use job_types::promise::{Promise, PromisedDeadline};
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::deadline_history::DeadlineHistory;
use predictor_core::forecasts::deadline_run_times::with_deadline;
use predictor_core::forecasts::forecast::{RunTimeForecast, RunTimeRange};
use predictor_core::forecasts::promised_job::PromisedJob;

use crate::known::cluster::Cluster;

/// What is known of the jobs that were admitted by their probability.
pub(super) struct Deadlines {
    given: HashMap<JobId, PromisedDeadline>,
    histories: HashMap<PartitionIndex, DeadlineHistory>,
}

/// A waiting job that was admitted by its probability, before it has a place in the plan.
#[derive(Debug, Clone)]
pub(super) struct Promised {
    /// The job's place among the pending jobs.
    pub(super) place: usize,
    pub(super) partition: PartitionIndex,
    pub(super) deadline: UnixTime,
    pub(super) wanted: f64,
    /// Run times in seconds with their probabilities, ascending.
    pub(super) run_times: Vec<(f64, f64)>,
}

impl Deadlines {
    pub(super) fn new(cluster: &Cluster, histories: &[(PartitionIndex, DeadlineHistory)]) -> Self {
        let given = cluster.admitted.iter().filter_map(|admitted| {
            let promise = Promise::standing(&admitted.job.record)?.deadline()?;
            // A job with a share of nodes gives way to no other job, and has no CPUs that it could
            // give.
            let has_cpus_by_probability = promise.by == Admission::Probability && promise.shared_estimate.is_none();
            has_cpus_by_probability.then_some((admitted.job.id, promise))
        });
        Self { given: given.collect(), histories: histories.iter().copied().collect() }
    }

    /// The deadline of a job that was admitted by its probability.
    pub(super) fn of(&self, job: JobId) -> Option<&PromisedDeadline> {
        self.given.get(&job)
    }

    /// The run times of such a job, as they were weighed when it was admitted, by what is known
    /// now. `ranges` is what is forecast for its user's jobs of that size.
    pub(super) fn run_times(
        &self,
        given: &PromisedDeadline,
        partition: PartitionIndex,
        ranges: Option<&[RunTimeRange]>,
        limit: Option<Seconds>,
    ) -> Vec<(f64, f64)> {
        let ahead = given.deadline - given.given_at;
        let history = self.histories.get(&partition).copied().unwrap_or_default();
        let forecast = ranges.map(|ranges| RunTimeForecast { jobs: 0, longest_limit: None, ranges });
        with_deadline(forecast, limit, ahead, &history.given)
    }
}

impl Promised {
    /// The job once it is planned to start.
    pub(super) fn planned(&self, start: UnixTime, cpus: u32) -> (PartitionIndex, PromisedJob) {
        (self.partition, PromisedJob::of(self.deadline, start, cpus, &self.run_times, self.wanted))
    }
}

/// Run times with their probabilities as ranges of one run time each.
pub(super) fn as_ranges(run_times: &[(f64, f64)]) -> Vec<RunTimeRange> {
    let range = |(run_s, weight): &(f64, f64)| RunTimeRange::new(run_s.round() as u32, run_s.round() as u32, *weight as f32);
    run_times.iter().map(range).collect()
}
