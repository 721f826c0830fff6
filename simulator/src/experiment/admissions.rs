//! The jobs of a replay that were admitted with their deadlines, as the daemon would know them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use job_types::job::Ending;
use job_types::number::PartitionIndex;
use job_types::time::{Seconds, UnixTime};
use learning::{DeadlineLearner, DeadlineOutcome};
use predictor_core::decisions::Admitted;
use predictor_core::forecasts::deadline_history::DeadlineHistory;
use predictor_core::forecasts::promised_job::PromisedJob;

use super::deadline_state::deadline_state;
use super::expected_run_times::ExpectedRunTimes;
use super::queue_state::{QueuedJob, queue_of};
use crate::engine::{Cluster, Job, JobIndex, Record};

/// What was promised to a job.
#[derive(Clone, Debug)]
struct Promise {
    partition: PartitionIndex,
    submitted: UnixTime,
    processors: u32,
    admitted: Admitted,
    /// When the job comes into the queue.
    eligible: UnixTime,
    /// The job's run times in seconds with their probabilities, as they were forecast.
    run_times: Vec<(f64, f64)>,
}

/// The admitted jobs that have not ended, and what those that have taught.
#[derive(Default)]
pub(super) struct Admissions {
    open: BTreeMap<JobIndex, Promise>,
    learner: DeadlineLearner,
    /// What became of promises, until their deadlines have passed: as the daemon learns them, in
    /// the order of the deadlines.
    outcomes: BTreeMap<(UnixTime, JobIndex), (PartitionIndex, DeadlineOutcome)>,
    /// The admitted jobs that wait, as they were published.
    published: Vec<PromisedJob>,
    published_histories: BTreeMap<PartitionIndex, DeadlineHistory>,
}

impl Admissions {
    /// A job is submitted that was admitted, and is forecast to run so long.
    pub(super) fn admitted(&mut self, index: JobIndex, job: &Job, admitted: Admitted, run_times: Vec<(f64, f64)>, now: UnixTime) {
        let promise = Promise {
            partition: job.partition_index(),
            submitted: now,
            processors: job.processors,
            admitted,
            eligible: admitted.begin.unwrap_or(now),
            run_times,
        };
        self.open.insert(index, promise);
    }

    /// Plans the queue in the order of the deadlines, with the jobs that come into it later, and
    /// publishes that with what was learnt. Returns the free processors over time.
    pub(super) fn publish(&mut self, run_times: &ExpectedRunTimes, cluster: &Cluster) -> Vec<(UnixTime, i64)> {
        let now = cluster.now();
        let place = |job: &QueuedJob| (self.open.get(&job.job).map_or(UnixTime(i64::MAX), |promise| promise.admitted.deadline), job.job);
        let mut queue = queue_of(cluster);
        queue.sort_by_key(place);
        let mut starts: Vec<(JobIndex, UnixTime)> = Vec::with_capacity(queue.len());
        let free = run_times.plan_of(cluster, &queue, |job, start| starts.push((job.job, start)));
        self.published.clear();
        for (job, start) in starts {
            let Some(promise) = self.open.get(&job) else { continue };
            if promise.eligible > now {
                // It was admitted with this place, and keeps it.
                continue;
            }
            let wanted = promise.admitted.wanted.unwrap_or_default();
            self.published.push(PromisedJob::of(promise.admitted.deadline, start, promise.processors, &promise.run_times, wanted));
        }
        let to_come = self.outcomes.split_off(&(now, 0));
        for (partition, outcome) in std::mem::replace(&mut self.outcomes, to_come).into_values() {
            self.learner.came_to(partition, &outcome);
        }
        self.published_histories = self.learner.histories().map(|(partition, history)| (partition, *history)).collect();
        free
    }

    /// The admitted jobs that wait. Each partition has all processors.
    pub(super) fn waiting(&self) -> Cow<'_, [PromisedJob]> {
        Cow::Borrowed(&self.published)
    }

    /// What was published of what jobs with deadlines have taught.
    pub(super) fn history(&self, partition: PartitionIndex) -> DeadlineHistory {
        self.published_histories.get(&partition).copied().unwrap_or_default()
    }

    /// A job has started.
    pub(super) fn started(&mut self, index: JobIndex, record: &Record) {
        let Some(promise) = self.open.get(&index) else { return };
        let planned = promise.eligible - promise.submitted;
        self.learner.started(promise.partition, record.wait(), planned);
    }

    /// A job has ended so, or was taken back because its deadline has passed.
    pub(super) fn ended(&mut self, index: JobIndex, record: Option<&Record>, ending: Ending) {
        let Some(promise) = self.open.remove(&index) else { return };
        let Admitted { deadline, probability, wanted, .. } = promise.admitted;
        // What counts for nobody teaches nothing.
        let is_kept = deadline_state(deadline, record.map(|record| record.end), ending).is_kept();
        if let (Some(promised), Some(wanted), Some(is_kept)) = (probability, wanted, is_kept) {
            let outcome = DeadlineOutcome { promised, wanted, is_kept };
            self.outcomes.insert((deadline, index), (promise.partition, outcome));
        }
        if let Some(record) = record {
            self.learner.ran(promise.partition, deadline - promise.submitted, record.run_time().max(Seconds(1)));
        }
    }
}
