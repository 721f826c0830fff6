//! The state that decisions are made from while a simulation runs: what a snapshot holds of a real
//! cluster.

use std::borrow::Cow;

use job_types::job::Ending;
use job_types::number::{PartitionIndex, UserId};
use job_types::policy::Policy;
use job_types::size::Unit;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::limits::Applying;
use predictor_core::decisions::site::{Partition, Site};
use predictor_core::decisions::{Admitted, Timeliness};
use predictor_core::forecasts::deadline_history::DeadlineHistory;
use predictor_core::forecasts::deadline_run_times::with_deadline;
use predictor_core::forecasts::forecast::{
    Association, FreePlan, JobShape, Moment, QueueForecaster, RunTimeForecast, RunTimeForecaster, RunTimeQuestion, RunTimeRange,
    WaitForecast, WaitForecaster, point,
};
use predictor_core::forecasts::price::Prices;
use predictor_core::forecasts::promise::PromiseShape;
use predictor_core::forecasts::promised_job::PromisedJob;
use predictor_core::forecasts::promised_job::mean;
use predictor_core::forecasts::reliability::WaitSourceReason;
use predictor_core::snapshot::Snapshot;

use super::admissions::Admissions;
use super::expected_run_times::{ExpectedRunTimes, question};
use super::learnt_waits::{LearntWaits, PublishedSite, ReservationGiven};
use super::parts::Ablations;
use super::priced_time::{Agreement, PricedTime};
use crate::engine::{Cluster, Job, JobIndex, Record, Revised};

/// What is known of the queue and of the past of a simulated machine. Each queue of the log is a
/// partition of all processors, known by its number.
pub(super) struct State {
    site: PublishedSite,
    parts: Ablations,
    run_times: ExpectedRunTimes,
    /// The time limit of the job that is decided about, as its run time, where nothing is known of
    /// any job like it and such jobs are to be decided about as well.
    first_run: Option<[RunTimeRange; 1]>,
    learnt_waits: Option<LearntWaits>,
    /// The jobs that were admitted with their deadlines, where jobs are.
    admissions: Option<Admissions>,
    published: Option<Published>,
    /// What the machine's time costs, where that is asked.
    priced: Option<PricedTime>,
}

/// What was published.
struct Published {
    at: UnixTime,
    steps: Vec<(UnixTime, u32)>,
    pending_jobs: u64,
}

impl State {
    /// Creates the state for a workload of `jobs` jobs. It is published anew when it is older than
    /// the site's refresh interval; with an interval of 0 each decision sees the present. Without
    /// `learnt_waits` there is a plan of the queue and no forecast from past waits.
    pub(super) fn new(jobs: usize, site: PublishedSite, parts: Ablations, learnt_waits: Option<LearntWaits>) -> Self {
        Self {
            site,
            parts,
            run_times: ExpectedRunTimes::new(jobs),
            first_run: None,
            learnt_waits,
            admissions: None,
            published: None,
            priced: PricedTime::of(site.policy.others),
        }
    }

    /// Jobs with deadlines are admitted.
    pub(super) fn admits(&mut self) {
        self.admissions = Some(Admissions::default());
    }

    /// A job that is submitted was admitted. Returns how long it is expected to run, by what its
    /// deadline says of that.
    pub(super) fn admitted(&mut self, index: JobIndex, job: &Job, admitted: Admitted, now: UnixTime) -> Option<Seconds> {
        let forecast = self.run_times.forecast(&question(job));
        let given = self.admissions.as_ref()?.history(job.partition_index()).given;
        let run_times = with_deadline(forecast, Some(job.estimate), admitted.deadline - now, &given);
        let expected = mean(&run_times);
        self.admissions.as_mut()?.admitted(index, job, admitted, run_times, now);
        Some(expected)
    }

    /// Publishes the present state where what was published is too old. Returns whether it did.
    pub(super) fn renew(&mut self, cluster: &Cluster) -> bool {
        let now = cluster.now();
        if self.published.as_ref().is_some_and(|published| now - published.at < self.site.site.refresh) {
            return false;
        }
        self.run_times.publish();
        let steps = match &mut self.admissions {
            Some(admissions) => admissions.publish(&self.run_times, cluster),
            None => self.run_times.plan(cluster),
        };
        let steps = steps.into_iter().map(|(at, free)| (at, u32::try_from(free).unwrap_or(0))).collect();
        if let Some(waits) = &mut self.learnt_waits {
            let run_times = &self.run_times;
            waits.publish(now, run_times.published());
        }
        if let Some(priced) = &mut self.priced {
            priced.renew(&self.run_times, cluster);
        }
        self.published = Some(Published { at: now, steps, pending_jobs: cluster.waiting().len() as u64 });
        true
    }

    /// Whether what was published may be decided from.
    pub(super) fn timeliness(&self, now: UnixTime) -> Option<Timeliness> {
        self.published.as_ref().map(|published| Timeliness::of(published.at, now, self.site.site.refresh))
    }

    /// A job is to be decided about.
    pub(super) fn prepare(&mut self, job: &Job) {
        let is_unknown = self.parts.first_runs && self.run_times.forecast(&question(job)).is_none();
        let limit_s = job.estimate.clamped_u32();
        self.first_run = is_unknown.then(|| [RunTimeRange::new(limit_s, limit_s, 1.0)]);
    }

    /// Holds prices against whole plans, where there are prices and that is wanted.
    pub(super) fn hold_against_plan(&mut self, job: &Job, cluster: &Cluster) {
        let Some(priced) = self.priced.as_mut().filter(|_| self.parts.agreement) else { return };
        if let Some(forecast) = self.run_times.forecast(&question(job)) {
            let run_time = point(&forecast.within(Some(job.estimate)));
            priced.hold_against_plan(&self.run_times, cluster, job, run_time.max(Seconds(1)));
        }
    }

    /// How often prices and whole plans allowed the same.
    pub(super) fn agreement(&self) -> Option<Agreement> {
        self.priced.as_ref().filter(|_| self.parts.agreement).map(|priced| priced.agreement)
    }

    /// A job is submitted, and is expected to run so long where that was decided.
    pub(super) fn passed(&mut self, index: JobIndex, job: &Job, expected: Option<Seconds>, now: UnixTime, eligible: UnixTime) {
        self.run_times.passed(index, job, expected);
        if let Some(priced) = &mut self.priced {
            priced.submitted(index, job.processors, eligible);
        }
        if let Some(waits) = &mut self.learnt_waits {
            waits.passed(index, job, now, eligible);
        }
    }

    /// A job that was submitted was given a reservation.
    pub(super) fn reserved(&mut self, index: JobIndex, given: ReservationGiven) {
        if let Some(waits) = &mut self.learnt_waits {
            waits.reserved(index, given);
        }
    }

    /// A job that was submitted has been changed.
    pub(super) fn revised(&mut self, revised: &Revised) {
        if let Some(waits) = &mut self.learnt_waits {
            waits.revised(revised);
        }
    }

    /// A job has started.
    pub(super) fn started(&mut self, index: JobIndex, record: &Record) {
        if let Some(admissions) = &mut self.admissions {
            admissions.started(index, record);
        }
        if let Some(waits) = &mut self.learnt_waits {
            waits.started(index, record.start, record.held);
        }
    }

    /// A job that has not started was taken back.
    pub(super) fn withdrawn(&mut self, index: JobIndex) {
        if let Some(admissions) = &mut self.admissions {
            admissions.ended(index, None, Ending::SlurmsDeadline);
        }
        if let Some(waits) = &mut self.learnt_waits {
            waits.withdrawn(index);
        }
    }

    /// A job has ended.
    pub(super) fn ended(&mut self, index: JobIndex, job: &Job, record: &Record) {
        self.run_times.ended(index, job, record);
        if let Some(admissions) = &mut self.admissions {
            admissions.ended(index, Some(record), job.ending);
        }
        if let Some(waits) = &mut self.learnt_waits {
            waits.ended(index, record);
        }
    }

    /// The run times that were published, for a test that publishes them elsewhere.
    #[cfg(test)]
    pub(super) fn run_times(&self) -> &ExpectedRunTimes {
        &self.run_times
    }

    /// What was learnt of waits, likewise.
    #[cfg(test)]
    pub(super) fn learnt_waits(&mut self) -> Option<&mut LearntWaits> {
        self.learnt_waits.as_mut()
    }

    fn published_waits(&self) -> Option<&Snapshot<Vec<u8>>> {
        self.learnt_waits.as_ref()?.published()
    }
}

impl Site for State {
    fn partition(&self, name: &str) -> Option<Partition<'_>> {
        Some(Partition {
            index: PartitionIndex(name.parse().ok()?),
            policy: self.site.policy,
            cpus: self.site.site.processors,
            nodes: self.site.site.processors,
            max_time: self.site.site.longest_limit,
            ..Partition::default()
        })
    }

    fn default_partition(&self) -> Option<Partition<'_>> {
        self.partition("0")
    }

    fn site_policy(&self) -> Policy {
        self.site.policy
    }

    fn accounting_limits(&self, _user: UserId, _account: Option<&str>, _qos: Option<&str>, _partition: PartitionIndex) -> Applying {
        Applying::default()
    }
}

impl WaitForecaster for State {
    /// Forecasts the wait from the last published snapshot of the learnt waits; `None` if waits are
    /// not learnt.
    fn wait(&self, job: &JobShape, moment: Option<&Moment>) -> Option<WaitForecast<'_>> {
        self.published_waits()?.wait(job, moment)
    }

    fn waits(&self, asked: &[(JobShape, Option<Moment>)]) -> Vec<Option<WaitForecast<'_>>> {
        self.published_waits().map_or_else(|| vec![None; asked.len()], |waits| waits.waits(asked))
    }

    fn level_to_ask(&self, promise: &PromiseShape, wanted: f64) -> f64 {
        self.published_waits().map_or(wanted, |waits| waits.level_to_ask(promise, wanted))
    }

    fn probability_to_tell(&self, promise: &PromiseShape, wanted: f64, forecast: f64) -> f64 {
        self.published_waits().map_or(forecast, |waits| waits.probability_to_tell(promise, wanted, forecast))
    }

    fn reserved_part(&self, partition: PartitionIndex, cpus: u32, moment: &Moment) -> f64 {
        self.published_waits().map_or(0.0, |waits| waits.reserved_part(partition, cpus, moment))
    }

    fn fallback(&self, partition: PartitionIndex) -> Option<WaitSourceReason> {
        self.published_waits()?.fallback(partition)
    }

    fn association(&self, user: UserId, account: Option<&str>, qos: Option<&str>) -> Association {
        self.published_waits().map_or_else(Association::default, |waits| waits.association(user, account, qos))
    }
}

impl RunTimeForecaster for State {
    /// The forecast from what was published. Where jobs at sizes that their user never ran are to
    /// be decided about as well, that of such a job counts as one of its user's own.
    fn run_time(&self, asked: &RunTimeQuestion) -> Option<RunTimeForecast<'_>> {
        let is_written = asked.limit.is_some();
        let limit = || Some(RunTimeForecast { jobs: 0, longest_limit: None, ranges: self.first_run.as_ref().filter(|_| is_written)? });
        let forecast = self.run_times.forecast(asked).or_else(limit)?;
        Some(RunTimeForecast { jobs: forecast.jobs.max(u32::from(self.parts.first_runs && is_written)), ..forecast })
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

    fn prices(&self, _partition: PartitionIndex) -> Option<Prices<'_>> {
        self.priced.as_ref()?.prices()
    }

    fn expected_ends(&self, partition: PartitionIndex) -> impl Iterator<Item = UnixTime> + '_ {
        self.published_waits().into_iter().flat_map(move |waits| waits.expected_ends(partition))
    }

    fn promised_jobs(&self, _partition: PartitionIndex) -> Cow<'_, [PromisedJob]> {
        self.admissions.as_ref().map_or(Cow::Borrowed(&[]), Admissions::waiting)
    }

    fn deadline_history(&self, partition: PartitionIndex) -> Option<DeadlineHistory> {
        self.admissions.as_ref().map(|admissions| admissions.history(partition))
    }
}
