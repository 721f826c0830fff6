//! The state that decisions are made from while a simulation runs: what a snapshot holds of a real
//! cluster.

use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
use std::cell::RefCell;
use std::sync::Arc;

use job_types::policy::Policy;
use job_types::size::Unit;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decision::Timeliness;
use predictor_core::forecast::{
    Association, FreePlan, JobShape, Moment, QueueForecaster, RunTimeForecast, RunTimeForecaster, RunTimeModel, RunTimeRange, UNBOUNDED_S,
    UserSize, WaitForecast, WaitForecaster,
};
use predictor_core::limits::Applying;
use predictor_core::site::{Partition, Site};

use super::expected_run_times::ExpectedRunTimes;
use super::parts::Parts;
use super::waits::{BoundRows, PastWaits};
use crate::engine::{Cluster, Job, JobIndex, Record};

/// What is known of the queue and of the past of a simulated machine. Each queue of the log is a
/// partition of all processors, known by its number.
pub(super) struct State {
    processors: u32,
    /// The longest time limit that a job may have; `None` where the log has no limits.
    longest_limit: Option<Seconds>,
    policy: Policy,
    parts: Parts,
    /// How old it gets before it is published anew.
    refresh: Seconds,
    run_times: ExpectedRunTimes,
    /// The run times of the job that is decided about, where its user never ran one of its size and
    /// such jobs are to be decided about as well.
    first_run: Option<(UserSize, RunTimeModel)>,
    waits: Option<RefCell<PastWaits>>,
    published: Option<Published>,
}

/// What was published.
struct Published {
    at: UnixTime,
    steps: Vec<(UnixTime, u32)>,
    pending_jobs: u64,
    ends: Vec<UnixTime>,
    bounds: BoundRows,
}

impl State {
    /// For a workload of so many jobs on a machine of so many processors. It is published anew
    /// where it is older than `refresh`; with 0 each decision sees the present. Without `waits`
    /// there is a plan of the queue and no forecast from past waits.
    pub(super) fn new(
        jobs: usize,
        processors: u32,
        longest_limit: Option<Seconds>,
        policy: Policy,
        refresh: Seconds,
        parts: Parts,
        waits: Option<PastWaits>,
    ) -> Self {
        Self {
            processors,
            longest_limit,
            policy,
            parts,
            refresh,
            run_times: ExpectedRunTimes::new(jobs),
            first_run: None,
            waits: waits.map(RefCell::new),
            published: None,
        }
    }

    /// Publishes the present state where what was published is too old. Returns whether it did.
    pub(super) fn renew(&mut self, cluster: &Cluster) -> bool {
        let now = cluster.now();
        if self.published.as_ref().is_some_and(|published| now - published.at < self.refresh) {
            return false;
        }
        self.run_times.publish();
        let steps = self.run_times.plan(cluster);
        let steps = steps.steps().map(|(at, free)| (at, u32::try_from(free).unwrap_or(0))).collect();
        let (mut ends, mut bounds) = (Vec::new(), BoundRows::default());
        if let Some(waits) = &self.waits {
            ends = self.run_times.ends(cluster);
            bounds = waits.borrow().bound_rows();
        }
        self.published = Some(Published { at: now, steps, pending_jobs: cluster.waiting().len() as u64, ends, bounds });
        true
    }

    /// Whether what was published may be decided from.
    pub(super) fn timeliness(&self, now: UnixTime) -> Option<Timeliness> {
        self.published.as_ref().map(|published| Timeliness::of(published.at, now, self.refresh))
    }

    /// A job is to be decided about. Where jobs at sizes that their user never ran are decided
    /// about as well, their run times are those of others like them.
    pub(super) fn prepare(&mut self, index: JobIndex, job: &Job) {
        self.first_run = None;
        let key = UserSize { user: UserId(job.user), partition: PartitionIndex(job.queue as u16), unit: Unit::Cpus, count: job.processors };
        if self.parts.first_runs && self.run_times.published(&key).is_none() {
            let limit_s = job.estimate.clamped_u32();
            let known = self.run_times.of_job(index, job);
            let ranges = known.unwrap_or_else(|| vec![RunTimeRange::new(limit_s, limit_s, 1.0)]);
            self.first_run = Some((key, RunTimeModel { jobs: 1, longest_limit_s: limit_s, ranges }));
        }
    }

    /// A job is submitted, and is expected to run so long where that was decided.
    pub(super) fn passed(&mut self, index: JobIndex, job: &Job, expected: Option<Seconds>, now: UnixTime, eligible: UnixTime) {
        self.run_times.passed(index, job, expected);
        if let Some(waits) = &mut self.waits {
            waits.get_mut().passed(index, job, now, eligible);
        }
    }

    /// A job has started.
    pub(super) fn started(&mut self, index: JobIndex, record: &Record) {
        if let Some(waits) = &mut self.waits {
            waits.get_mut().started(index, record.start);
        }
    }

    /// A job has ended.
    pub(super) fn ended(&mut self, index: JobIndex, job: &Job, record: &Record) {
        self.run_times.ended(job, record);
        if let Some(waits) = &mut self.waits {
            waits.get_mut().ended(index, record.end);
        }
    }

    /// The run times that were published, for a test that publishes them elsewhere.
    #[cfg(test)]
    pub(super) fn run_times(&self) -> &ExpectedRunTimes {
        &self.run_times
    }

    fn model(&self, key: &UserSize) -> Option<&RunTimeModel> {
        let first_run = self.first_run.as_ref().filter(|(first, _)| first == key).map(|(_, model)| model);
        first_run.or_else(|| self.run_times.published(key).map(Arc::as_ref))
    }
}

impl Site for State {
    fn partition(&self, name: &str) -> Option<Partition<'_>> {
        Some(Partition {
            index: PartitionIndex(name.parse().ok()?),
            policy: self.policy,
            cpus: self.processors,
            nodes: self.processors,
            max_time: self.longest_limit,
            ..Partition::default()
        })
    }

    fn default_partition(&self) -> Option<Partition<'_>> {
        self.partition("0")
    }

    fn site_policy(&self) -> Policy {
        self.policy
    }

    fn accounting_limits(&self, _user: UserId, _account: Option<&str>, _qos: Option<&str>, _partition: PartitionIndex) -> Applying {
        Applying::default()
    }
}

impl WaitForecaster for State {
    /// From what was learnt of past waits, where waits are learnt. The machine and its queue are
    /// seen as they are now: what was decided since the state was published is known.
    fn wait(&self, job: &JobShape, moment: Option<&Moment>) -> Option<WaitForecast<'_>> {
        let (waits, published) = (self.waits.as_ref()?, self.published.as_ref()?);
        let Moment { now, at, .. } = *moment?;
        waits.borrow_mut().forecast(job, now, at, &published.bounds)
    }

    fn association(&self, _user: UserId, account: Option<&str>, _qos: Option<&str>) -> Association {
        Association {
            account: account.and_then(|number| number.parse().ok()).map_or(AccountIndex::UNKNOWN, AccountIndex),
            qos: QosIndex(0),
        }
    }
}

impl RunTimeForecaster for State {
    fn run_time(&self, user: UserId, partition: PartitionIndex, unit: Unit, count: u32) -> Option<RunTimeForecast<'_>> {
        let model = self.model(&UserSize { user, partition, unit, count })?;
        let longest_limit = (model.longest_limit_s != UNBOUNDED_S).then_some(Seconds(i64::from(model.longest_limit_s)));
        Some(RunTimeForecast { jobs: model.jobs, longest_limit, ranges: &model.ranges })
    }

    fn past_sizes(&self, user: UserId, partition: PartitionIndex, unit: Unit) -> impl Iterator<Item = u32> + '_ {
        self.run_times.sizes(user, partition, unit)
    }
}

impl QueueForecaster for State {
    fn queue_plan(&self, _partition: PartitionIndex) -> Option<FreePlan<'_>> {
        let published = self.published.as_ref().filter(|_| self.parts.plan)?;
        Some(FreePlan { steps: published.steps.as_slice().into(), pending_jobs: published.pending_jobs })
    }

    fn expected_ends(&self, _partition: PartitionIndex) -> impl Iterator<Item = UnixTime> + '_ {
        self.published.iter().flat_map(|published| published.ends.iter().copied())
    }
}
