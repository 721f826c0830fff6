//! The default: a calibrated distribution of run time from what like jobs of the past did.
//!
//! A job belongs to eleven contexts, from "same user, size, limit and partition" to "all jobs".
//! Each remembers its latest run times. A mixture of them, whose weights are learnt as jobs end,
//! gives the distribution; what earlier run times did at its levels corrects it. Its cost does not
//! grow with the history.

mod bins;
mod contexts;
mod distribution;
mod kernel;
mod levels;
mod mixture;

use self::contexts::Contexts;
use self::levels::Levels;
use self::mixture::{Mixture, View};
use super::{ArrivingJob, RunTimePrediction, RunTimePredictor, Tuple, TupleHistory};
use job_types::job::WaitingJob;
use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
use job_types::size::{Size, Unit};
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::forecast::RunTimeRange;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

pub use distribution::RunTimeDistribution;

/// Most ranges of one forecast (Hariharan et al. 2020, III.F).
const MOST_RANGES: usize = 25;
/// What like jobs span is taken from so many jobs of the past, as many as Hariharan et al.'s
/// history holds (V).
const LIKE_JOBS: usize = 15_000;

/// Says which seconds of a distribution belong to its set of ranges.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RangeSetRule {
    /// A second belongs to the set if it is this many times as probable as it would be if the run
    /// time lay anywhere, evenly, within what the run times of like jobs span on average. Over many
    /// jobs such sets hold more run times than any others of the same total length.
    pub times_as_probable: f64,
}

impl Default for RangeSetRule {
    fn default() -> RangeSetRule {
        RangeSetRule { times_as_probable: 1.15 }
    }
}

/// Predicts a distribution of run time. The point is the median of the mixture before its levels
/// are corrected: the correction, which is the same for all jobs, serves the coverage and not the
/// single forecast.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Calibrated {
    unit: Unit,
    rule: RangeSetRule,
    contexts: Contexts,
    mixture: Mixture,
    levels: Levels,
    /// What each job saw when it arrived, and the levels before correction; of the evaluation,
    /// which is not kept.
    #[serde(skip)]
    pending: HashMap<u32, (View, Option<RunTimeDistribution>)>,
    /// Run times of like jobs.
    like: TupleHistory<u32>,
    mean_span: FadingMean,
}

impl Calibrated {
    /// A forecaster that has learnt nothing yet; sizes are counted in `unit`.
    #[must_use]
    pub fn new(unit: Unit, rule: RangeSetRule) -> Calibrated {
        Calibrated {
            unit,
            rule,
            contexts: Contexts::default(),
            mixture: Mixture::new(),
            levels: Levels::new(),
            pending: HashMap::new(),
            like: TupleHistory::new(LIKE_JOBS),
            mean_span: FadingMean::default(),
        }
    }

    fn view(&self, job: &ArrivingJob) -> View {
        let limit_s = limit_s(job);
        let last_bin = limit_s.map_or(bins::count() - 1, |limit_s| bins::of(limit_s.saturating_sub(1)));
        View { user: job.submitted.user, seen: self.contexts.seen_by(job, self.unit), last_bin, has_limit: limit_s.is_some() }
    }

    /// The distribution with its levels corrected, and as the mixture gives it.
    fn distribution_of(&self, job: &ArrivingJob, view: &View) -> Option<(RunTimeDistribution, RunTimeDistribution)> {
        let probabilities = self.mixture.probabilities(view)?;
        let mut below = 0.0;
        let plain: Vec<f32> = probabilities
            .iter()
            .map(|probability| {
                below += probability;
                below as f32
            })
            .collect();
        let mut corrected: Vec<f32> = plain.iter().map(|level| self.levels.corrected(f64::from(*level)) as f32).collect();
        if let Some(last) = corrected.last_mut() {
            *last = 1.0;
        }
        Some((RunTimeDistribution::new(corrected, limit_s(job)), RunTimeDistribution::new(plain, limit_s(job))))
    }

    /// The distribution of a job's run time, from the run times that ended so far; `None` before
    /// the first.
    #[must_use]
    pub fn distribution(&self, job: &ArrivingJob) -> Option<RunTimeDistribution> {
        self.distribution_of(job, &self.view(job)).map(|(distribution, _)| distribution)
    }

    /// The set of ranges of a distribution.
    #[must_use]
    pub fn range_set(&self, distribution: &RunTimeDistribution) -> Vec<RunTimeRange> {
        let span_s = self.mean_span.mean().unwrap_or(86_400.0).max(1.0);
        distribution.denser_than(self.rule.times_as_probable / span_s, MOST_RANGES)
    }

    /// What the daemon publishes of a user's jobs of `count` in a partition: the whole distribution
    /// as at most 25 ranges whose probabilities sum to 1. With a `limit` it is that of jobs with
    /// this limit, without one that of all. `None` where the user has run no job of that size
    /// there.
    #[must_use]
    pub fn published(
        &self,
        user: UserId,
        account: AccountIndex,
        partition: PartitionIndex,
        count: u32,
        limit: Option<Seconds>,
    ) -> Option<Vec<RunTimeRange>> {
        if !self.contexts.knows_size(user, partition, count) {
            return None;
        }
        let size = Size { nodes: count, cpus: count };
        // The quality of service and the time of arrival make no difference.
        let submitted = WaitingJob { user, account, partition, qos: QosIndex::UNKNOWN, size, limit, eligible: UnixTime(0) };
        let job = ArrivingJob { id: u32::MAX, submitted, occupied_cpus: size.cpus };
        Some(self.distribution(&job)?.summary(MOST_RANGES))
    }

    /// Takes the run time of a job that ended long ago as one of the past, at a hundredth of the
    /// cost of [`ends`](RunTimePredictor::ends): it teaches nothing of how the past is to be
    /// weighed.
    pub fn remembers(&mut self, job: &ArrivingJob, run_time: Seconds) {
        self.contexts.push(job, self.unit, run_time);
        self.like.push(Tuple::from(job), run_time.clamped_u32());
    }

    /// The forecast for a job that arrives now, with its distribution.
    pub fn predict_distribution(&mut self, job: &ArrivingJob) -> Option<(RunTimePrediction, RunTimeDistribution)> {
        let view = self.view(job);
        let forecast = self.distribution_of(job, &view);
        if let Some(run_times) = self.like.get(&Tuple::from(job)) {
            let span_s = run_times.iter().max().zip(run_times.iter().min()).map_or(0, |(longest, shortest)| longest - shortest);
            self.mean_span.push(f64::from(span_s) + 1.0);
        }
        let Some((distribution, plain)) = forecast else {
            self.pending.insert(job.id, (view, None));
            return None;
        };
        let prediction = RunTimePrediction { ranges: self.range_set(&distribution), point_s: job.within_limit(plain.quantile(0.5)) };
        self.pending.insert(job.id, (view, Some(plain)));
        Some((prediction, distribution))
    }
}

impl RunTimePredictor for Calibrated {
    fn predict(&mut self, job: &ArrivingJob) -> Option<RunTimePrediction> {
        self.predict_distribution(job).map(|(prediction, _)| prediction)
    }

    /// A job that was not asked about is learnt as if it had been asked about when it ended.
    fn ends(&mut self, job: &ArrivingJob, _: UnixTime, run_time: Option<Seconds>) {
        let pending = self.pending.remove(&job.id);
        let Some(run_time) = run_time else { return };
        let (view, plain) = pending.unwrap_or_else(|| {
            let view = self.view(job);
            let plain = self.distribution_of(job, &view).map(|(_, plain)| plain);
            (view, plain)
        });
        self.mixture.learn(&view, view.place(run_time.clamped_u32(), limit_s(job)));
        if let Some(plain) = plain {
            let (less, up_to) = plain.below_and_up_to(run_time.clamped_u32());
            self.levels.learn(less, up_to);
        }
        self.remembers(job, run_time);
    }
}

fn limit_s(job: &ArrivingJob) -> Option<u32> {
    job.submitted.limit.filter(|limit| limit.0 > 0).map(Seconds::clamped_u32)
}

/// A mean in which a value loses three ten-thousandths of its weight with every later one.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct FadingMean {
    sum: f64,
    weight: f64,
}

impl FadingMean {
    fn push(&mut self, value: f64) {
        self.sum = self.sum * 0.9997 + value;
        self.weight = self.weight * 0.9997 + 1.0;
    }

    fn mean(&self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::job;
    use super::*;

    fn taught(runs: &[(u32, Option<i64>, i64)]) -> Calibrated {
        let mut predictor = Calibrated::new(Unit::Cpus, RangeSetRule::default());
        for (id, (user, limit_s, run_time_s)) in (0..).zip(runs) {
            let job = job(id, UserId(*user), *limit_s);
            predictor.predict(&job);
            predictor.ends(&job, UnixTime(0), Some(Seconds(*run_time_s)));
        }
        predictor
    }

    #[test]
    fn a_user_who_repeats_a_job_gets_its_run_time() {
        let mut runs = vec![(1, Some(3_600), 300); 50];
        runs.extend([(2, Some(3_600), 3_000); 50]);
        let mut predictor = taught(&runs);
        let prediction = predictor.predict(&job(1_000, UserId(1), Some(3_600))).unwrap();
        assert!((280.0..320.0).contains(&prediction.point_s), "{}", prediction.point_s);
        assert!(prediction.holds(300) && !prediction.holds(3_000));
    }

    #[test]
    fn no_forecast_is_longer_than_the_jobs_own_limit() {
        let mut predictor = taught(&[(1, Some(36_000), 30_000); 30]);
        for limit_s in [1, 60, 601, 7_200] {
            let (prediction, distribution) = predictor.predict_distribution(&job(1_000, UserId(1), Some(limit_s))).unwrap();
            assert!(prediction.point_s <= limit_s as f64);
            assert!(prediction.ranges.iter().all(|range| range.upper().0 <= limit_s));
            assert!(distribution.quantile(1.0) <= limit_s as f64);
            assert!(
                predictor
                    .published(UserId(1), AccountIndex(0), PartitionIndex(0), 1, Some(Seconds(limit_s)))
                    .unwrap()
                    .iter()
                    .all(|range| range.upper().0 <= limit_s)
            );
        }
    }

    #[test]
    fn nothing_is_published_of_sizes_that_were_never_run() {
        let predictor = taught(&[(1, Some(600), 30); 5]);
        assert_eq!(predictor.published(UserId(1), AccountIndex(0), PartitionIndex(0), 2, None), None);
        let ranges = predictor.published(UserId(1), AccountIndex(0), PartitionIndex(0), 1, None).unwrap();
        assert!((ranges.iter().map(RunTimeRange::probability).sum::<f64>() - 1.0).abs() < 1e-3);
    }
}
