//! What the default forecast of run times has learnt, size by size, as the snapshot carries it.

use crate::run_times::{ArrivingJob, Calibrated, RangeSetRule, RunTimePredictor};
use job_types::job::EndedJob;
use job_types::number::AccountIndex;
use job_types::size::Unit;
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::forecast::{RunTimeModel, RunTimeRange, UNBOUNDED_S, UserSize};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// How many sizes of users are known at the most, of both units together: 400,000 ranges in the
/// snapshot, which are 5 MB.
const MOST_SIZES: usize = 20_000;

/// Most ranges of the run times of one job, as of those of a size.
const MOST_RANGES: usize = 25;

/// How many of them are known anew, the latest, where there were more.
const KEPT_SIZES: usize = MOST_SIZES / 4 * 3;

/// What is known of a user's jobs of one size beside their run times.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Known {
    /// Account of the latest job.
    account: AccountIndex,
    jobs: u32,
    shortest_limit_s: u32,
    longest_limit_s: u32,
    /// The number of the run that was told last.
    told: u64,
    /// Whether it is to be fitted again.
    has_changed: bool,
}

/// Tells the default forecast of run times, once in nodes and once in CPUs or in one of the two
/// alone, which runs end, and keeps what it says of each size of each user.
///
/// Strictly, every run that ends changes what is to be said of all sizes, if most of them by
/// little. Only those that ended at a size fit it again: the others stay as they were when their
/// last run ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunTimeLearner {
    predictors: Vec<(Unit, Calibrated)>,
    known: HashMap<UserSize, Known>,
    /// What is to be fitted again, in the order in which it changed.
    changed: VecDeque<UserSize>,
    fitted: BTreeMap<UserSize, Arc<RunTimeModel>>,
    told: u64,
}

impl RunTimeLearner {
    /// A learner that knows nothing yet, and is to know sizes in these units.
    #[must_use]
    pub fn new(units: &[Unit]) -> RunTimeLearner {
        RunTimeLearner {
            predictors: units.iter().map(|unit| (*unit, Calibrated::new(*unit, RangeSetRule::default()))).collect(),
            known: HashMap::new(),
            changed: VecDeque::new(),
            fitted: BTreeMap::new(),
            told: 0,
        }
    }

    /// A run has ended by itself or by its limit, at `at`. One that never started is not taken.
    pub fn ended(&mut self, job: &EndedJob, at: UnixTime) {
        self.take(job, |predictor, arriving, run_time| predictor.ends(arriving, at, Some(run_time)));
    }

    /// Takes, as [`RunTimeLearner::ended`] does, a run that ended so long ago that only its run
    /// time is taken, and not what it teaches of the weights.
    pub(super) fn ended_long_ago(&mut self, job: &EndedJob) {
        self.take(job, Calibrated::remembers);
    }

    fn take(&mut self, job: &EndedJob, tell: impl Fn(&mut Calibrated, &ArrivingJob, Seconds)) {
        let Some(run_time) = job.run_time() else { return };
        // It is never asked about a job by name, so that all may have the same.
        let arriving = ArrivingJob::new(0, job);
        let submitted = &job.submitted;
        let limit_s = submitted.limit.map_or(UNBOUNDED_S, Seconds::clamped_u32);
        self.told += 1;
        for (unit, predictor) in &mut self.predictors {
            tell(predictor, &arriving, run_time);
            let key = UserSize { user: submitted.user, partition: submitted.partition, unit: *unit, count: submitted.size.count(*unit) };
            let known = self.known.entry(key).or_insert(Known {
                account: submitted.account,
                jobs: 0,
                shortest_limit_s: limit_s,
                longest_limit_s: limit_s,
                told: 0,
                has_changed: false,
            });
            known.account = submitted.account;
            known.jobs = known.jobs.saturating_add(1);
            known.shortest_limit_s = known.shortest_limit_s.min(limit_s);
            known.longest_limit_s = known.longest_limit_s.max(limit_s);
            known.told = self.told;
            if !known.has_changed {
                known.has_changed = true;
                self.changed.push_back(key);
            }
        }
        if self.known.len() > MOST_SIZES {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let mut told: Vec<u64> = self.known.values().map(|known| known.told).collect();
        let first_kept = told.len().saturating_sub(KEPT_SIZES);
        let (_, first_kept, _) = told.select_nth_unstable(first_kept);
        self.known.retain(|_, known| known.told >= *first_kept);
        self.changed.retain(|key| self.known.contains_key(key));
        self.fitted.retain(|key, _| self.known.contains_key(key));
    }

    /// Fits what has changed, at most so many sizes, those first that changed first. The rest is
    /// for the next time.
    pub fn fit(&mut self, most: usize) {
        for _ in 0..most {
            let Some(key) = self.changed.pop_front() else { return };
            let Some(known) = self.known.get_mut(&key) else { continue };
            known.has_changed = false;
            let Some((_, predictor)) = self.predictors.iter().find(|(unit, _)| *unit == key.unit) else { continue };
            // No single limit stands for all where there are several: run times under the longest
            // differ from those under the others.
            let limit_s = Some(known.longest_limit_s).filter(|limit_s| *limit_s == known.shortest_limit_s && *limit_s != UNBOUNDED_S);
            let limit = limit_s.map(|limit_s| Seconds(i64::from(limit_s)));
            if let Some(ranges) = predictor.published(key.user, known.account, key.partition, key.count, limit) {
                let model = RunTimeModel { jobs: known.jobs, longest_limit_s: known.longest_limit_s, ranges };
                self.fitted.insert(key, Arc::new(model));
            }
        }
    }

    /// What was fitted of each size of each user, in the order of users, partitions, units and
    /// sizes.
    #[must_use]
    pub fn fitted(&self) -> &BTreeMap<UserSize, Arc<RunTimeModel>> {
        &self.fitted
    }

    /// The run times of one job from all jobs like it, whether or not its user ever ran one of its
    /// size; `None` while nothing is known of any like job.
    #[must_use]
    pub fn of_job(&self, job: &ArrivingJob) -> Option<Vec<RunTimeRange>> {
        let (_, predictor) = self.predictors.first()?;
        Some(predictor.distribution(job)?.summary(MOST_RANGES))
    }

    /// What is said of each size of each user. It shares the models with what was handed out
    /// before.
    pub(super) fn published(&self) -> BTreeMap<UserSize, Arc<RunTimeModel>> {
        self.fitted.clone()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use job_types::job::WaitingJob;
    use job_types::number::{PartitionIndex, QosIndex, UserId};
    use job_types::size::Size;

    /// A run of 2 nodes with 8 CPUs.
    fn run(user: u32, limit_s: i64, run_time_s: i64) -> EndedJob {
        EndedJob {
            submitted: WaitingJob {
                user: UserId(user),
                account: AccountIndex(1),
                partition: PartitionIndex(3),
                qos: QosIndex(0),
                size: Size { nodes: 2, cpus: 8 },
                limit: Some(Seconds(limit_s)),
                eligible: UnixTime(1_000),
            },
            allocated: None,
            start: Some(UnixTime(1_000)),
            end: UnixTime(1_000 + run_time_s),
            suspended: Seconds::ZERO,
        }
    }

    /// The probability of the ranges that lie within two run times.
    fn share(model: &RunTimeModel, from_s: i64, to_s: i64) -> f64 {
        let within = model.ranges.iter().filter(|range| range.lower().0 >= from_s && range.upper().0 <= to_s);
        within.map(predictor_core::forecasts::forecast::RunTimeRange::probability).sum()
    }

    #[test]
    fn two_applications_of_one_user_have_their_shares_in_both_units() {
        // Three runs of about 100 s for each of about 3,000 s, with one limit, and with one of
        // their own.
        for limits in [[7_200, 7_200], [600, 7_200]] {
            let mut learner = RunTimeLearner::new(&Unit::ALL);
            for n in 0..400 {
                let run = if n % 4 == 3 { run(5, limits[1], 3_000 + n % 7) } else { run(5, limits[0], 100 + n % 3) };
                learner.ended(&run, run.end);
            }
            learner.fit(usize::MAX);
            let published = learner.published();
            assert_eq!(published.len(), 2);
            for (unit, count) in [(Unit::Nodes, 2), (Unit::Cpus, 8)] {
                let model = &published[&UserSize { user: UserId(5), partition: PartitionIndex(3), unit, count }];
                assert_eq!((model.jobs, model.longest_limit_s), (400, 7_200));
                assert!(model.ranges.len() <= 25 && model.ranges.windows(2).all(|pair| pair[0].upper() < pair[1].lower()));
                let shares = [share(model, 0, 1_000), share(model, 1_500, i64::MAX)];
                assert!((shares[0] - 0.75).abs() < 0.15 && (shares[1] - 0.25).abs() < 0.15, "{shares:?} {:?}", model.ranges);
                let likeliest = |from_s: i64, to_s: i64| {
                    let ranges = model.ranges.iter().filter(|range| (from_s..to_s).contains(&range.lower().0));
                    ranges.max_by(|a, b| a.probability().total_cmp(&b.probability())).map(|range| (range.lower().0, range.upper().0))
                };
                let (short, long) = (likeliest(0, 1_000).unwrap(), likeliest(1_000, i64::MAX).unwrap());
                assert!(short.0 <= 100 && short.1 >= 100 && short.1 < 130, "{short:?}");
                assert!(long.0 <= 3_000 && long.1 >= 3_000 && long.1 < 3_900, "{long:?}");
            }
        }
    }

    #[test]
    fn only_what_has_changed_is_fitted_again_and_no_more_than_asked() {
        let mut learner = RunTimeLearner::new(&Unit::ALL);
        for user in 0..5 {
            learner.ended(&run(user, 600, 60), UnixTime(2_000));
        }
        learner.fit(4);
        assert_eq!((learner.published().len(), learner.changed.len()), (4, 6));
        learner.fit(usize::MAX);
        let before = learner.published();
        learner.ended(&run(3, 600, 70), UnixTime(2_000));
        learner.fit(usize::MAX);
        let changed = learner
            .published()
            .iter()
            .filter(|(key, model)| !Arc::ptr_eq(model, &before[key]))
            .map(|(key, _)| key.user)
            .collect::<Vec<_>>();
        assert_eq!(changed, [UserId(3), UserId(3)]);
    }

    #[test]
    fn the_sizes_that_were_run_last_are_known() {
        let mut learner = RunTimeLearner::new(&Unit::ALL);
        for user in 0..11_000 {
            learner.ended_long_ago(&run(user, 600, 60));
        }
        assert!((KEPT_SIZES..=MOST_SIZES).contains(&learner.known.len()));
        assert_eq!(learner.changed.len(), learner.known.len());
        assert!(learner.known.keys().all(|key| key.user > UserId(2_000)) && learner.known.keys().any(|key| key.user == UserId(10_999)));
    }

    #[test]
    fn runs_that_never_started_say_nothing() {
        let mut learner = RunTimeLearner::new(&Unit::ALL);
        learner.ended(&EndedJob { start: None, ..run(1, 600, 60) }, UnixTime(2_000));
        learner.fit(usize::MAX);
        assert!(learner.published().is_empty());
    }
}
