//! What a forecast is, apart from who makes it.
//!
//! The decisions ask through [`WaitForecaster`], [`RunTimeForecaster`] and [`QueueForecaster`]; the
//! snapshot answers with what the daemon fitted, a simulator from its own state.

use crate::forecasts::deadline_history::DeadlineHistory;
use crate::forecasts::price::Prices;
use crate::forecasts::promise::PromiseShape;
use crate::forecasts::promised_job::PromisedJob;
use crate::forecasts::reliability::WaitSourceReason;
use job_types::job::WaitingJob;
use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
use job_types::record::WaitSource;
use job_types::size::{Size, Unit};
use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use zerocopy::little_endian::{F32, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Percentiles that are kept of each distribution: 1 to 99.
pub const PERCENTILES: usize = 99;

/// The value that stands for "no bound": there is too little history for one.
pub const UNBOUNDED_S: u32 = u32::MAX;

/// The account and the quality of service of a job, by the indices that the daemon gave them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Association {
    /// Index of the account.
    pub account: AccountIndex,
    /// Index of the quality of service.
    pub qos: QosIndex,
}

impl Default for Association {
    /// The association of a job of which neither is known.
    fn default() -> Association {
        Association { account: AccountIndex::UNKNOWN, qos: QosIndex::UNKNOWN }
    }
}

/// What a forecast of a wait needs to know of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobShape {
    /// Numeric id of the user.
    pub user: UserId,
    /// Account and quality of service.
    pub association: Association,
    /// Index of the partition in the snapshot's table of partitions.
    pub partition: PartitionIndex,
    /// Nodes and CPUs.
    pub size: Size,
    /// Time limit; `None` is unlimited.
    pub limit: Option<Seconds>,
}

impl JobShape {
    /// A job of this kind that becomes eligible at a moment.
    #[must_use]
    pub fn eligible_at(&self, eligible: UnixTime) -> WaitingJob {
        let JobShape { user, association: Association { account, qos }, partition, size, limit } = *self;
        WaitingJob { user, account, partition, qos, size, limit, eligible }
    }
}

/// Jobs that were decided about since the forecasts were made, summed. The forecasts do not know of
/// them by themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// How many jobs.
    pub jobs: u64,
    /// Their CPUs.
    pub cpus: u64,
    /// The CPUs of those with virtual reservations.
    pub reserved_cpus: u64,
    /// When the last of these reservations is over: its time and the job's time limit, in Unix
    /// seconds; 0 where there is none.
    pub reserved_until_s: u64,
    /// Their time limits in seconds, none counting as 0.
    pub limits_s: u64,
    /// CPUs times time limit.
    pub work: u64,
    /// CPUs times forecast run time.
    pub expected_work: u64,
}

impl Claims {
    /// The claims of one job.
    #[must_use]
    pub fn of(cpus: u32, limit: Option<Seconds>, run_time: Seconds) -> Claims {
        let (cpus, limit_s) = (u64::from(cpus), limit.map_or(0, |limit| u64::from(limit.clamped_u32())));
        let expected_work = cpus * u64::from(run_time.clamped_u32());
        Claims { jobs: 1, cpus, limits_s: limit_s, work: cpus * limit_s, expected_work, ..Claims::default() }
    }

    /// Turns the claims into those of a job that keeps its CPUs until a time by a virtual
    /// reservation.
    #[must_use]
    pub fn reserved_until(self, until: UnixTime) -> Claims {
        Claims { reserved_cpus: self.cpus, reserved_until_s: until.0.max(0).unsigned_abs(), ..self }
    }

    /// The CPUs that reservations keep at a moment. The times of single ones are not known: each
    /// counts until the last is over.
    #[must_use]
    pub fn reserved_at(&self, moment: UnixTime) -> u64 {
        if moment.0 < self.reserved_until_s as i64 { self.reserved_cpus } else { 0 }
    }

    /// Adds other claims.
    pub fn add(&mut self, other: &Claims) {
        let Claims { jobs, cpus, reserved_cpus, reserved_until_s, limits_s, work, expected_work } = other;
        self.jobs += jobs;
        self.cpus += cpus;
        self.reserved_cpus += reserved_cpus;
        self.reserved_until_s = self.reserved_until_s.max(*reserved_until_s);
        self.limits_s += limits_s;
        self.work += work;
        self.expected_work += expected_work;
    }

    /// Adds other claims as long as the sum stays within so many CPUs. Returns whether it did.
    pub fn add_within(&mut self, other: &Claims, most_cpus: u64) -> bool {
        let is_within = self.cpus.checked_add(other.cpus).is_some_and(|sum| sum <= most_cpus);
        if is_within {
            self.add(other);
        }
        is_within
    }
}

/// The claims on a job's partition and on the cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Claimed {
    /// Claims of the user's jobs on the partition.
    pub partition: Claims,
    /// Claims of the user's jobs on the whole cluster, the partition included.
    pub cluster: Claims,
    /// Claims on the partition of all users' jobs with a promise: to be done by a deadline, or to
    /// begin at a reserved time. The user's own jobs with promises also count in the other two
    /// fields.
    pub admitted: Claims,
}

/// When a job becomes eligible, and what is known beyond the forecasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// The present.
    pub now: UnixTime,
    /// When the job becomes eligible.
    pub at: UnixTime,
    /// The user's jobs that were decided about since the forecasts were made.
    pub claimed: Claimed,
}

impl Moment {
    /// The present, with no claims.
    #[must_use]
    pub fn present(now: UnixTime) -> Moment {
        Moment { now, at: now, claimed: Claimed::default() }
    }

    /// Moves the moment to `at`, when the job becomes eligible, or to now if that has passed.
    #[must_use]
    pub fn at(self, at: UnixTime) -> Moment {
        Moment { at: at.max(self.now), ..self }
    }
}

/// The jobs of a class of QBETS, as far as one rectangle of sizes and time limits; both ends belong
/// to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitClass {
    /// Fewest CPUs.
    pub first_cpus: u32,
    /// Most CPUs.
    pub last_cpus: u32,
    /// Shortest time limit in seconds.
    pub first_limit_s: u32,
    /// Longest time limit in seconds; `u32::MAX` holds those without one as well.
    pub last_limit_s: u32,
}

impl WaitClass {
    /// Whether a job belongs to it.
    #[must_use]
    pub fn holds(&self, cpus: u32, limit: Option<Seconds>) -> bool {
        let limit_s = limit.map_or(u32::MAX, Seconds::clamped_u32);
        (self.first_cpus..=self.last_cpus).contains(&cpus) && (self.first_limit_s..=self.last_limit_s).contains(&limit_s)
    }
}

/// A class of jobs of like delay, as far as one rectangle of sizes and limits; a class that
/// consists of several is told once for each.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassBounds {
    /// Index of the partition.
    pub partition: PartitionIndex,
    /// CPUs of its jobs.
    pub cpus: RangeInclusive<u32>,
    /// Time limits of its jobs in seconds; `u32::MAX` stands for none.
    pub limit_s: RangeInclusive<u32>,
    /// Number of the class within the partition.
    pub class: usize,
    /// How many waits it has.
    pub jobs: usize,
    /// The number of times that the waits of the class have changed.
    pub changes: u32,
    /// Upper bounds on the percentiles 1 to 99 of the wait in seconds; [`UNBOUNDED_S`] where the
    /// waits are too few.
    pub bounds_s: [u32; PERCENTILES],
    /// The median of its waits in seconds, as such and not as a bound.
    pub median_s: u32,
}

/// A forecast of the time between a job's eligibility and its start.
#[derive(Clone, Debug)]
pub struct WaitForecast<'a> {
    /// The method that made the forecast.
    pub source: WaitSource,
    /// The class whose history it rests on, where it rests on one.
    pub class: Option<WaitClass>,
    /// How many past jobs it rests on: of that class, or outcomes of forecasts like it.
    pub jobs: u32,
    /// The point forecast: the median of the class's waits, or the blend's own, which is not the
    /// 50th percentile of the bounds.
    pub median: Seconds,
    /// Upper bounds in seconds on the percentiles 1 to 99, ascending, [`UNBOUNDED_S`] where there
    /// is none.
    pub bounds: &'a [u32; PERCENTILES],
}

impl WaitForecast<'_> {
    /// An upper bound on the wait that holds with `probability` (0 to 1, rounded up to a percent),
    /// at the confidence of the fit.
    #[must_use]
    pub fn bound(&self, probability: f64) -> Option<Seconds> {
        let percent = (probability * 100.0 - 1e-9).ceil().max(1.0);
        let bound = *self.bounds.get(percent as usize - 1)?;
        (bound != UNBOUNDED_S).then_some(Seconds(i64::from(bound)))
    }

    /// The probability of starting within `duration`, in whole percent: the inverse of
    /// [`WaitForecast::bound`] (Nurmi, Wolski and Brevik 2008, 2.3).
    #[must_use]
    pub fn probability_within(&self, duration: Seconds) -> f64 {
        if duration.0 < 0 {
            return 0.0;
        }
        self.held_within(duration) as f64 / 100.0
    }

    /// What is left of a duration after the wait: see [`mean_left`].
    #[must_use]
    pub fn mean_left(&self, duration: Seconds) -> Seconds {
        mean_left(self.bounds, duration)
    }

    /// How many percentiles have a bound that a duration reaches.
    fn held_within(&self, duration: Seconds) -> usize {
        held_within(self.bounds, duration)
    }
}

/// How many of the bounds in seconds on the percentiles 1 to 99 of a wait a duration reaches.
#[must_use]
pub fn held_within(bounds_s: &[u32], duration: Seconds) -> usize {
    bounds_s.partition_point(|bound| *bound != UNBOUNDED_S && i64::from(*bound) <= duration.0)
}

/// What is left of a duration after a wait with these bounds in seconds on its percentiles 1 to 99,
/// in the mean over them; after a wait that is longer, nothing is. In whole seconds, rounded down.
#[must_use]
pub fn mean_left(bounds_s: &[u32], duration: Seconds) -> Seconds {
    let left = |bound: &u32| duration.0 - i64::from(*bound);
    Seconds(bounds_s.iter().take(held_within(bounds_s, duration)).map(left).sum::<i64>() / PERCENTILES as i64)
}

/// One range of run times, in seconds, with the probability that the run time lies in it.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Serialize, Deserialize)]
#[serde(from = "(u32, u32, f32)", into = "(u32, u32, f32)")]
#[repr(C)]
pub struct RunTimeRange {
    lower_s: U32,
    upper_s: U32,
    probability: F32,
}

impl From<(u32, u32, f32)> for RunTimeRange {
    fn from((lower_s, upper_s, probability): (u32, u32, f32)) -> RunTimeRange {
        RunTimeRange::new(lower_s, upper_s, probability)
    }
}

impl From<RunTimeRange> for (u32, u32, f32) {
    fn from(range: RunTimeRange) -> (u32, u32, f32) {
        (range.lower_s.get(), range.upper_s.get(), range.probability.get())
    }
}

impl RunTimeRange {
    /// A range from `lower` to `upper`, both included.
    #[must_use]
    pub fn new(lower_s: u32, upper_s: u32, probability: f32) -> RunTimeRange {
        RunTimeRange { lower_s: lower_s.into(), upper_s: upper_s.into(), probability: probability.into() }
    }

    /// Returns the range from `lower_s` to `upper_s`, in seconds, with the probability of this one.
    #[must_use]
    pub fn with_ends(&self, lower_s: u32, upper_s: u32) -> RunTimeRange {
        RunTimeRange { lower_s: lower_s.into(), upper_s: upper_s.into(), probability: self.probability }
    }

    /// Shortest run time in the range.
    #[must_use]
    pub fn lower(&self) -> Seconds {
        Seconds(i64::from(self.lower_s.get()))
    }

    /// Longest run time in the range.
    #[must_use]
    pub fn upper(&self) -> Seconds {
        Seconds(i64::from(self.upper_s.get()))
    }

    /// The middle of the range.
    #[must_use]
    pub fn middle(&self) -> Seconds {
        Seconds((i64::from(self.lower_s.get()) + i64::from(self.upper_s.get())) / 2)
    }

    /// Probability of this range, 0 to 1.
    #[must_use]
    pub fn probability(&self) -> f64 {
        f64::from(self.probability.get())
    }
}

/// A job whose run time is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunTimeQuestion {
    /// Numeric id of the user.
    pub user: UserId,
    /// Index of the partition.
    pub partition: PartitionIndex,
    /// Whether `count` is nodes or CPUs.
    pub unit: Unit,
    /// The size.
    pub count: u32,
    /// Its time limit; `None` asks for the jobs of whichever limit.
    pub limit: Option<Seconds>,
}

/// A forecast of a run time: disjoint ascending ranges whose probabilities sum to 1, or none where
/// nothing is known.
#[derive(Clone, Copy, Debug)]
pub struct RunTimeForecast<'a> {
    /// How many past jobs the user has of that size; 0 where the ranges are those of the user's
    /// jobs of other sizes, or of other users' jobs.
    pub jobs: u32,
    /// The longest time limit that the user asked for at that size; `None` where one was unlimited,
    /// and where there is no such job.
    pub longest_limit: Option<Seconds>,
    /// The ranges.
    pub ranges: &'a [RunTimeRange],
}

impl RunTimeForecast<'_> {
    /// The ranges of a job with a time limit: what would run as long or longer ends there, so that
    /// it falls on the limit itself. Of a range that reaches beyond it, that is the part of its
    /// seconds.
    #[must_use]
    pub fn within(&self, limit: Option<Seconds>) -> Vec<RunTimeRange> {
        let mut ranges = self.ranges.to_vec();
        let Some(limit_s) = limit.map(Seconds::clamped_u32) else { return ranges };
        let below = ranges.partition_point(|range| range.upper_s.get() < limit_s);
        let mut at_limit: f64 = ranges.iter().skip(below).map(RunTimeRange::probability).sum();
        if at_limit == 0.0 {
            return ranges;
        }
        let first_beyond = ranges.get(below).copied();
        ranges.truncate(below);
        if let Some(cut) = first_beyond.filter(|range| range.lower_s.get() < limit_s) {
            let (lower_s, upper_s) = (cut.lower_s.get(), cut.upper_s.get());
            let part = f64::from(limit_s - lower_s) / (f64::from(upper_s - lower_s) + 1.0);
            let shorter = cut.probability() * part;
            at_limit -= shorter;
            ranges.push(RunTimeRange::new(lower_s, limit_s - 1, shorter as f32));
        }
        ranges.push(RunTimeRange::new(limit_s, limit_s, at_limit as f32));
        ranges
    }
}

/// The run time that half of the jobs do not exceed, by ranges within which every second is as
/// likely as any other; 0 of none. Of all points it is the one whose absolute error is least, so
/// that it is what a user is told.
#[must_use]
pub fn median(ranges: &[RunTimeRange]) -> Seconds {
    Seconds(quantile_s(ranges, 0.5).round() as i64)
}

/// The run time in seconds that is not exceeded with a probability of 0 to 1, by ranges within
/// which every second is as likely as any other; 0 of none.
#[must_use]
pub fn quantile_s(ranges: &[RunTimeRange], probability: f64) -> f64 {
    let mut below = 0.0;
    for range in ranges {
        let up_to = below + range.probability();
        let (lower, upper) = (range.lower().0 as f64, range.upper().0 as f64);
        if up_to >= probability {
            let part = if up_to > below { ((probability - below) / (up_to - below)).clamp(0.0, 1.0) } else { 0.0 };
            return lower + part * (upper - lower);
        }
        below = up_to;
    }
    ranges.last().map_or(0.0, |last| last.upper().0 as f64)
}

/// The probabilities, 0 to 1, of a shorter run time than one in seconds, and of one no longer, by
/// ranges within which every second is as likely as any other. Between the two lies the randomised
/// probability integral transform.
#[must_use]
pub fn below_and_up_to(ranges: &[RunTimeRange], run_time_s: u32) -> (f64, f64) {
    let mut below = 0.0;
    for range in ranges {
        let (first, last) = (range.lower().clamped_u32(), range.upper().clamped_u32());
        if run_time_s < first {
            break;
        }
        if run_time_s <= last {
            let second = range.probability() / (f64::from(last - first) + 1.0);
            let before = second * f64::from(run_time_s - first);
            return (below + before, below + before + second);
        }
        below += range.probability();
    }
    (below, below)
}

/// The mean of run-time ranges: their middles weighted by their probabilities (Hariharan et al.
/// 2020, IV.B). What is planned and weighed reckons with it.
#[must_use]
pub fn point(ranges: &[RunTimeRange]) -> Seconds {
    let weighted: f64 = ranges.iter().map(|range| range.middle().0 as f64 * range.probability()).sum();
    Seconds(weighted.round() as i64)
}

/// What a plan of the queue says of a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FreePlan<'a> {
    /// The number of CPUs that are free from each time on, with all that runs and waits; times
    /// ascend.
    pub steps: Cow<'a, [(UnixTime, u32)]>,
    /// Jobs that wait, in the whole cluster.
    pub pending_jobs: u64,
}

/// Forecasts waits.
pub trait WaitForecaster {
    /// The forecast for a job that becomes eligible at a moment or, with `None`, whatever the state
    /// of the cluster; `None` where there is no history to forecast from.
    fn wait(&self, job: &JobShape, moment: Option<&Moment>) -> Option<WaitForecast<'_>>;

    /// Forecasts several waits at once, as [`WaitForecaster::wait`] does each. This may be faster.
    fn waits(&self, asked: &[(JobShape, Option<Moment>)]) -> Vec<Option<WaitForecast<'_>>> {
        asked.iter().map(|(job, moment)| self.wait(job, moment.as_ref())).collect()
    }

    /// The probability that a promise for a time so far ahead is to be forecast with so that it is
    /// kept with `wanted`, as those of the past were kept; never less.
    fn level_to_ask(&self, promise: &PromiseShape, wanted: f64) -> f64 {
        let _ = promise;
        wanted
    }

    /// What is told of a promise for a time so far ahead that is forecast with a probability where
    /// `wanted` is wanted, as such promises were kept lately; never more than is forecast
    /// ([`probability_to_tell`](crate::forecasts::promise::probability_to_tell)).
    fn probability_to_tell(&self, promise: &PromiseShape, wanted: f64, forecast: f64) -> f64 {
        let _ = (promise, wanted);
        forecast
    }

    /// The part of the CPUs that would be reserved at a moment with `cpus` more, the reservations
    /// that are claimed included: of the partition, or of the cluster, whichever is more. 0 where
    /// nothing else is reserved.
    fn reserved_part(&self, partition: PartitionIndex, cpus: u32, moment: &Moment) -> f64 {
        let _ = (partition, cpus, moment);
        0.0
    }

    /// Why the default forecasts are not in force in a partition, where they were measured and are
    /// not.
    fn fallback(&self, partition: PartitionIndex) -> Option<WaitSourceReason> {
        let _ = partition;
        None
    }

    /// The account and the quality of service that a user's job has: those named, or else those of
    /// the user's latest job.
    fn association(&self, user: UserId, account: Option<&str>, qos: Option<&str>) -> Association;
}

/// Forecasts run times from a user's own past, or else from that of others.
pub trait RunTimeForecaster {
    /// The forecast for a job; `None` where nothing is known of any like it.
    fn run_time(&self, asked: &RunTimeQuestion) -> Option<RunTimeForecast<'_>>;

    /// The sizes that the user has run in a partition, ascending.
    fn past_sizes(&self, user: UserId, partition: PartitionIndex, unit: Unit) -> impl Iterator<Item = u32> + '_;
}

/// Forecasts the queue: what runs and waits in it.
pub trait QueueForecaster {
    /// The plan of the queue, as far as it is about a partition; `None` where there is none, or not
    /// of all that waits.
    fn queue_plan(&self, partition: PartitionIndex) -> Option<FreePlan<'_>>;

    /// What a CPU of a partition costs those who wait; `None` where nobody has worked that out.
    fn prices(&self, _partition: PartitionIndex) -> Option<Prices<'_>> {
        None
    }

    /// When the running jobs of a partition are expected to end, ascending.
    fn expected_ends(&self, partition: PartitionIndex) -> impl Iterator<Item = UnixTime> + '_;

    /// The admitted jobs that wait in a partition, as the plan of the queue has them.
    fn promised_jobs(&self, _partition: PartitionIndex) -> Cow<'_, [PromisedJob]> {
        Cow::Borrowed(&[])
    }

    /// What jobs with deadlines have taught in a partition; `None` where nobody learns it.
    fn deadline_history(&self, _partition: PartitionIndex) -> Option<DeadlineHistory> {
        None
    }
}

/// Whoever makes all the forecasts that decisions rest on.
pub trait Forecaster: WaitForecaster + RunTimeForecaster + QueueForecaster {}

impl<F: WaitForecaster + RunTimeForecaster + QueueForecaster> Forecaster for F {}

#[cfg(test)]
mod tests {
    use super::*;

    fn forecast(bounds: &[u32; PERCENTILES]) -> WaitForecast<'_> {
        WaitForecast { source: WaitSource::Qbets, class: None, jobs: 100, median: Seconds(50), bounds }
    }

    #[test]
    fn the_probability_within_a_bound_is_the_bounds_own() {
        let bounds = std::array::from_fn(|index| index as u32 * 10);
        let forecast = forecast(&bounds);
        for percent in 1..=99 {
            let probability = f64::from(percent) / 100.0;
            let bound = forecast.bound(probability).unwrap();
            assert_eq!(forecast.probability_within(bound), probability);
        }
    }

    #[test]
    fn a_source_is_written_by_its_name() {
        for source in WaitSource::ALL {
            assert_eq!(serde_json::to_string(&source).unwrap(), format!("{:?}", source.name()));
        }
    }

    #[test]
    fn no_bound_is_no_probability() {
        let mut bounds = [UNBOUNDED_S; PERCENTILES];
        bounds[0] = 5;
        let forecast = forecast(&bounds);
        assert_eq!(forecast.bound(0.5), None);
        assert_eq!(forecast.probability_within(Seconds(i64::MAX)), 0.01);
        assert_eq!(forecast.probability_within(Seconds(-1)), 0.0);
    }

    #[test]
    fn the_point_of_a_run_time_weighs_the_middles() {
        let ranges = [RunTimeRange::new(80, 120, 0.75), RunTimeRange::new(400, 600, 0.25)];
        let forecast = RunTimeForecast { jobs: 4, longest_limit: None, ranges: &ranges };
        assert_eq!(point(forecast.ranges), Seconds(200));
    }

    #[test]
    fn run_times_beyond_the_limit_fall_on_it() {
        let ranges = [RunTimeRange::new(80, 120, 0.5), RunTimeRange::new(400, 600, 0.25), RunTimeRange::new(900, 1_000, 0.25)];
        let forecast = RunTimeForecast { jobs: 4, longest_limit: None, ranges: &ranges };
        assert_eq!(forecast.within(None), ranges);
        assert_eq!(forecast.within(Some(Seconds(2_000))), ranges);
        let shorter = [ranges[0], ranges[1], RunTimeRange::new(700, 700, 0.25)];
        assert_eq!(forecast.within(Some(Seconds(700))), shorter);
        // 100 of the 201 seconds from 400 to 600 lie below the limit.
        let cut = forecast.within(Some(Seconds(500)));
        assert_eq!((cut[0], cut[1].upper(), cut[2].lower(), cut[2].upper()), (ranges[0], Seconds(499), Seconds(500), Seconds(500)));
        assert!(
            (cut[1].probability() - 0.25 * 100.0 / 201.0).abs() < 1e-6 && (cut[1].probability() + cut[2].probability() - 0.5).abs() < 1e-6
        );
        assert_eq!(forecast.within(Some(Seconds(60))), [RunTimeRange::new(60, 60, 1.0)]);
    }
}
