//! The default: a distribution of run time from what like jobs of the past did.
//!
//! A job belongs to eleven contexts, from "same user, size, limit and partition" to "all jobs".
//! Each remembers its latest run times. A mixture of them, whose weights are learnt as jobs end,
//! gives the distribution. Its cost does not grow with the history.

mod bins;
mod contexts;
mod distribution;
mod kernel;
mod mixture;

use self::contexts::Contexts;
use self::distribution::RunTimeDistribution;
use self::mixture::{Mixture, View};
use super::ArrivingJob;
use job_types::job::WaitingJob;
use job_types::number::{AccountIndex, QosIndex, UserId};
use job_types::size::{Size, Unit};
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::forecast::RunTimeRange;
use predictor_core::forecasts::run_time_models::LikeJobs;
use serde::{Deserialize, Serialize};

/// Most ranges of one forecast (Hariharan et al. 2020, III.F).
const MOST_RANGES: usize = 25;
/// The user and the size of jobs that have none in common: no job of the past has them.
const NO_USER: UserId = UserId(u32::MAX);
const NO_SIZE: u32 = 0;

/// Predicts a distribution of run time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ContextMixture {
    unit: Unit,
    contexts: Contexts,
    mixture: Mixture,
}

impl ContextMixture {
    /// A forecaster that has learnt nothing yet; sizes are counted in `unit`.
    #[must_use]
    pub fn new(unit: Unit) -> ContextMixture {
        ContextMixture { unit, contexts: Contexts::default(), mixture: Mixture::new() }
    }

    fn view(&self, job: &ArrivingJob) -> View {
        let limit_s = limit_s(job);
        let last_bin = limit_s.map_or(bins::count() - 1, |limit_s| bins::of(limit_s.saturating_sub(1)));
        View { user: job.submitted.user, seen: self.contexts.seen_by(job, self.unit), last_bin, has_limit: limit_s.is_some() }
    }

    /// The distribution of a job's run time, from the run times that ended so far; `None` before
    /// the first.
    fn distribution(&self, job: &ArrivingJob) -> Option<RunTimeDistribution> {
        let probabilities = self.mixture.probabilities(&self.view(job))?;
        let mut below = 0.0;
        let sum_up = |probability: &f64| {
            below += probability;
            below as f32
        };
        let mut cumulative: Vec<f32> = probabilities.iter().map(sum_up).collect();
        if let Some(last) = cumulative.last_mut() {
            *last = 1.0;
        }
        Some(RunTimeDistribution::new(cumulative, limit_s(job)))
    }

    /// What the daemon publishes of jobs that have something in common, whose latest was of an
    /// account: the whole distribution as at most 25 ranges whose probabilities sum to 1. What they
    /// do not have in common is taken to be like in no job of the past. `None` before the first
    /// run.
    #[must_use]
    pub fn published(&self, like: &LikeJobs, account: AccountIndex, limit: Option<Seconds>) -> Option<Vec<RunTimeRange>> {
        let user = like.user.unwrap_or(NO_USER);
        let count = like.size.map_or(NO_SIZE, |(_, count)| count);
        let size = Size { nodes: count, cpus: count };
        // The quality of service and the time of arrival make no difference.
        let submitted = WaitingJob { user, account, partition: like.partition, qos: QosIndex::UNKNOWN, size, limit, eligible: UnixTime(0) };
        let job = ArrivingJob { id: u32::MAX, submitted, occupied_cpus: size.cpus };
        Some(self.distribution(&job)?.summary(MOST_RANGES))
    }

    /// Takes the run time of a job that ended long ago as one of the past, at a hundredth of the
    /// cost of [`ended`](ContextMixture::ended): it teaches nothing of how the past is to be
    /// weighed.
    pub fn remembers(&mut self, job: &ArrivingJob, run_time: Seconds) {
        self.contexts.push(job, self.unit, run_time);
    }

    /// A job has ended. It is learnt as if it had been forecast then.
    pub fn ended(&mut self, job: &ArrivingJob, run_time: Seconds) {
        let view = self.view(job);
        self.mixture.learn(&view, view.place(run_time.clamped_u32(), limit_s(job)));
        self.remembers(job, run_time);
    }
}

fn limit_s(job: &ArrivingJob) -> Option<u32> {
    job.submitted.limit.filter(|limit| limit.0 > 0).map(Seconds::clamped_u32)
}

#[cfg(test)]
mod tests {
    use super::super::tests::job;
    use super::*;
    use job_types::number::PartitionIndex;
    use predictor_core::forecasts::forecast::median;

    fn one_cpu(user: Option<UserId>) -> LikeJobs {
        LikeJobs { user, partition: PartitionIndex(0), size: Some((Unit::Cpus, 1)), limit_s: None }
    }

    fn taught(runs: &[(u32, Option<i64>, i64)]) -> ContextMixture {
        let mut predictor = ContextMixture::new(Unit::Cpus);
        for (id, (user, limit_s, run_time_s)) in (0..).zip(runs) {
            predictor.ended(&job(id, UserId(*user), *limit_s), Seconds(*run_time_s));
        }
        predictor
    }

    #[test]
    fn a_user_who_repeats_a_job_gets_its_run_time() {
        let mut runs = vec![(1, Some(3_600), 300); 50];
        runs.extend([(2, Some(3_600), 3_000); 50]);
        let ranges = taught(&runs).published(&one_cpu(Some(UserId(1))), AccountIndex(0), Some(Seconds(3_600))).unwrap();
        assert!((280..320).contains(&median(&ranges).0), "{:?}", median(&ranges));
    }

    #[test]
    fn no_forecast_is_longer_than_the_jobs_own_limit() {
        let predictor = taught(&[(1, Some(36_000), 30_000); 30]);
        for limit_s in [1, 60, 601, 7_200] {
            let ranges = predictor.published(&one_cpu(Some(UserId(1))), AccountIndex(0), Some(Seconds(limit_s))).unwrap();
            assert!(ranges.iter().all(|range| range.upper().0 <= limit_s));
        }
    }

    #[test]
    fn what_is_published_of_everybodys_jobs_is_of_all_users() {
        let predictor = taught(&[(1, Some(600), 30), (2, Some(600), 500)].repeat(20));
        let shares = |user: Option<u32>| {
            let ranges = predictor.published(&one_cpu(user.map(UserId)), AccountIndex(0), Some(Seconds(600))).unwrap();
            assert!((ranges.iter().map(RunTimeRange::probability).sum::<f64>() - 1.0).abs() < 1e-3);
            ranges.iter().filter(|range| range.upper().0 < 100).map(RunTimeRange::probability).sum::<f64>()
        };
        let (first, second, all) = (shares(Some(1)), shares(Some(2)), shares(None));
        assert!(first > 0.7 && second < 0.3 && (second..first).contains(&all), "{first} {second} {all}");
    }
}
