//! What the default forecast of run times has learnt, in models as the snapshot carries them.

mod levels;

use self::levels::Levels;
use crate::run_times::{ArrivingJob, ContextMixture};
use arrayvec::ArrayVec;
use job_types::job::{EndedJob, WaitingJob};
use job_types::number::{AccountIndex, PartitionIndex, UserId};
use job_types::size::Unit;
use job_types::time::Seconds;
use predictor_core::forecasts::forecast::{RunTimeForecast, RunTimeQuestion, RunTimeRange, UNBOUNDED_S, below_and_up_to};
use predictor_core::forecasts::run_time_models::{LikeJobs, RunTimeModel, forecast, nearest};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// How many models are known at the most, of both units together: 1,000,000 ranges in the snapshot,
/// which are 12 MB.
const MOST_MODELS: usize = 40_000;

/// How many of them are known anew, the latest, where there were more.
const KEPT_MODELS: usize = MOST_MODELS / 4 * 3;

/// Everybody's jobs are published once so many users have run such ones: where users' jobs are
/// private, what two have run would tell each the other's.
const FEWEST_USERS: usize = 3;

/// The model of everybody's jobs is fitted again after so many runs: it rests on 32 run times of
/// each context, and every run that ends is one of them.
const RUNS_UNTIL_REFIT: u32 = 4;

/// What is known of jobs that have something in common, beside their run times.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Known {
    /// Account of the latest job.
    account: AccountIndex,
    jobs: u32,
    shortest_limit_s: u32,
    longest_limit_s: u32,
    /// The number of the run that was told last.
    told: u64,
    /// Some of the users that have run such jobs.
    users: ArrayVec<UserId, FEWEST_USERS>,
    /// How many runs were told since it was fitted, or is to be.
    since_fitted: u32,
    /// Whether it is to be fitted again.
    has_changed: bool,
}

/// A model, and the same ranges with the probabilities that they have before their levels are
/// corrected.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Fitted {
    model: Arc<RunTimeModel>,
    plain: Arc<[RunTimeRange]>,
}

/// What was said of a job's run time when it arrived, before its levels were corrected.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Asked {
    like: Likeness,
    plain: Arc<[RunTimeRange]>,
    limit: Option<Seconds>,
}

/// What the jobs of a model have in common: their user, their size, their time limit, or some of
/// these. How often run times lie below a level differs by that: a model of everybody's jobs is
/// surer than it may be, or less sure, in another way than one of a user's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Likeness(usize);

impl Likeness {
    const COUNT: usize = 8;

    fn of(like: &LikeJobs) -> Likeness {
        let shared = [like.user.is_some(), like.size.is_some(), like.limit_s.is_some()];
        Likeness(shared.into_iter().fold(0, |place, is_shared| 2 * place + usize::from(is_shared)))
    }
}

/// Tells the default forecast of run times, once in nodes and once in CPUs or in one of the two
/// alone, which runs end, and keeps what it says of jobs that have something in common, as
/// [`forecast`] asks for it.
///
/// Strictly, every run that ends changes what is to be said of all jobs, if of most by little. Only
/// those models are fitted again that a run which ended belongs to: the others stay as they were
/// when their last run ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunTimeLearner {
    predictors: Vec<(Unit, ContextMixture)>,
    known: HashMap<LikeJobs, Known>,
    /// What is to be fitted again, in the order in which it changed.
    changed: VecDeque<LikeJobs>,
    fitted: BTreeMap<LikeJobs, Fitted>,
    told: u64,
    /// What was said of the jobs that have arrived and not ended.
    asked: HashMap<u32, Asked>,
    /// The correction of levels, by likeness.
    levels: Vec<Levels>,
}

impl RunTimeLearner {
    /// A learner that knows nothing yet, and is to know sizes in these units.
    #[must_use]
    pub fn new(units: &[Unit]) -> RunTimeLearner {
        RunTimeLearner {
            predictors: units.iter().map(|unit| (*unit, ContextMixture::new(*unit))).collect(),
            known: HashMap::new(),
            changed: VecDeque::new(),
            fitted: BTreeMap::new(),
            told: 0,
            asked: HashMap::new(),
            levels: vec![Levels::new(); Likeness::COUNT],
        }
    }

    /// A job arrives that has a number of its own until it ends: its run time is forecast from what
    /// was fitted last, to be held against what it comes to.
    pub fn arrived(&mut self, id: u32, job: &WaitingJob) {
        let WaitingJob { user, partition, size, limit, .. } = *job;
        let near = |unit| {
            let asked = RunTimeQuestion { user, partition, unit, count: size.count(unit), limit };
            nearest(&asked, |like| self.fitted.get(like))
        };
        let mut units = self.predictors.iter().map(|(unit, _)| *unit);
        let found = units.clone().filter_map(near).find(|found| found.of_size.is_some()).or_else(|| units.find_map(near));
        if let Some(found) = found {
            self.asked.insert(id, Asked { like: Likeness::of(&found.like), plain: Arc::clone(&found.known.plain), limit });
        }
    }

    /// A job that had arrived has left, or its run was interrupted.
    pub fn left(&mut self, id: u32) {
        self.asked.remove(&id);
    }

    /// A run has ended by itself or by its limit. One that never started is not taken.
    pub fn ended(&mut self, id: u32, job: &EndedJob) {
        let asked = self.asked.remove(&id);
        if let (Some(asked), Some(run_time)) = (asked, job.run_time()) {
            let is_cut = asked.limit.is_some_and(|limit| run_time >= limit);
            let cut = asked.limit.map_or(run_time, |limit| run_time.min(limit));
            let (less, up_to) = below_and_up_to(&asked.plain, cut.clamped_u32());
            if let Some(levels) = self.levels.get_mut(asked.like.0) {
                levels.learn(less, if is_cut { 1.0 } else { up_to });
            }
        }
        self.take(job, ContextMixture::ended);
    }

    /// Takes, as [`RunTimeLearner::ended`] does, a run that ended so long ago that only its run
    /// time is taken, and not what it teaches of the weights.
    pub(super) fn ended_long_ago(&mut self, job: &EndedJob) {
        self.take(job, ContextMixture::remembers);
    }

    fn take(&mut self, job: &EndedJob, tell: impl Fn(&mut ContextMixture, &ArrivingJob, Seconds)) {
        let Some(run_time) = job.run_time() else { return };
        // It is never asked about a job by name, so that all may have the same.
        let arriving = ArrivingJob::new(0, job);
        let submitted = job.submitted;
        self.told += 1;
        for (_, predictor) in &mut self.predictors {
            tell(predictor, &arriving, run_time);
        }
        let units: ArrayVec<Unit, 2> = self.predictors.iter().map(|(unit, _)| *unit).collect();
        if units.is_empty() {
            return;
        }
        let partition = submitted.partition;
        let limit_s = submitted.limit.map(Seconds::clamped_u32);
        let of_limit = LikeJobs { user: None, partition, size: None, limit_s };
        for unit in units {
            let size = Some((unit, submitted.size.count(unit)));
            let own = LikeJobs { user: Some(submitted.user), partition, size, limit_s: None };
            let earlier_limit_s = self.one_limit_of(&own);
            self.ran(own, &submitted);
            // The one model of a size stands for its one limit as well.
            if let Some(limit_s) = limit_s.filter(|_| self.one_limit_of(&own).is_none()) {
                self.ran(LikeJobs { limit_s: Some(limit_s), ..own }, &submitted);
                if let Some(earlier_s) = earlier_limit_s {
                    self.ran(LikeJobs { limit_s: Some(earlier_s), ..own }, &submitted);
                }
            }
            if limit_s.is_some() {
                self.ran(LikeJobs { size, ..of_limit }, &submitted);
            }
        }
        if limit_s.is_some() {
            self.ran(LikeJobs { user: Some(submitted.user), ..of_limit }, &submitted);
            self.ran(of_limit, &submitted);
        }
        self.ran(LikeJobs { limit_s: None, ..of_limit }, &submitted);
        if self.known.len() > MOST_MODELS {
            self.forget_oldest();
        }
    }

    /// The time limit in seconds of all jobs that have something in common, where they have one.
    fn one_limit_of(&self, like: &LikeJobs) -> Option<u32> {
        let known = self.known.get(like).filter(|known| known.shortest_limit_s == known.longest_limit_s)?;
        Some(known.longest_limit_s).filter(|limit_s| *limit_s != UNBOUNDED_S)
    }

    /// A job has run that belongs to a model.
    fn ran(&mut self, like: LikeJobs, job: &WaitingJob) {
        let limit_s = job.limit.map_or(UNBOUNDED_S, Seconds::clamped_u32);
        let known = self.known.entry(like).or_insert_with(|| Known {
            account: job.account,
            jobs: 0,
            shortest_limit_s: limit_s,
            longest_limit_s: limit_s,
            told: 0,
            users: ArrayVec::new(),
            since_fitted: RUNS_UNTIL_REFIT,
            has_changed: false,
        });
        known.account = job.account;
        known.jobs = known.jobs.saturating_add(1);
        known.shortest_limit_s = known.shortest_limit_s.min(limit_s);
        known.longest_limit_s = known.longest_limit_s.max(limit_s);
        known.told = self.told;
        known.since_fitted = known.since_fitted.saturating_add(1);
        if !known.users.is_full() && !known.users.contains(&job.user) {
            known.users.push(job.user);
        }
        let is_due = like.user.is_some() || known.users.is_full() && known.since_fitted >= RUNS_UNTIL_REFIT;
        if is_due && !known.has_changed {
            known.has_changed = true;
            self.changed.push_back(like);
        }
    }

    fn forget_oldest(&mut self) {
        let mut told: Vec<u64> = self.known.values().map(|known| known.told).collect();
        let first_kept = told.len().saturating_sub(KEPT_MODELS);
        let (_, first_kept, _) = told.select_nth_unstable(first_kept);
        self.known.retain(|_, known| known.told >= *first_kept);
        self.changed.retain(|like| self.known.contains_key(like));
        self.fitted.retain(|like, _| self.known.contains_key(like));
    }

    /// Fits what has changed, at most so many models, those first that changed first. The rest is
    /// for the next time.
    pub fn fit(&mut self, most: usize) {
        for _ in 0..most {
            let Some(like) = self.changed.pop_front() else { return };
            // No single limit stands for all where there are several: run times under the longest
            // differ from those under the others.
            let limit_s = like.limit_s.or_else(|| self.one_limit_of(&like));
            let Some(known) = self.known.get_mut(&like) else { continue };
            known.has_changed = false;
            known.since_fitted = 0;
            let unit = like.size.map(|(unit, _)| unit);
            let predictor = self.predictors.iter().rfind(|(known, _)| unit.is_none_or(|unit| unit == *known));
            let account = if like.user.is_some() { known.account } else { AccountIndex::UNKNOWN };
            let limit = limit_s.map(|limit_s| Seconds(i64::from(limit_s)));
            if let Some(plain) = predictor.and_then(|(_, predictor)| predictor.published(&like, account, limit)) {
                let ranges = self.levels.get(Likeness::of(&like).0).map_or_else(|| plain.clone(), |levels| corrected(&plain, levels));
                let model = RunTimeModel { jobs: known.jobs, longest_limit_s: known.longest_limit_s, ranges };
                self.fitted.insert(like, Fitted { model: Arc::new(model), plain: plain.into() });
            }
        }
    }

    /// The forecast of a job's run time from what was fitted last; `None` while nothing is known of
    /// any like job. What is published forecasts the same.
    #[must_use]
    pub fn forecast(&self, asked: &RunTimeQuestion) -> Option<RunTimeForecast<'_>> {
        forecast(asked, |like| self.model(like).map(RunTimeModel::forecast))
    }

    /// What was fitted of some jobs.
    #[must_use]
    pub fn model(&self, like: &LikeJobs) -> Option<&RunTimeModel> {
        self.fitted.get(like).map(|fitted| &*fitted.model)
    }

    /// The sizes of a user's jobs in a partition that something was fitted of, ascending.
    pub fn sizes(&self, user: UserId, partition: PartitionIndex, unit: Unit) -> impl Iterator<Item = u32> + '_ {
        let size = |count| LikeJobs::of_size(user, partition, unit, count);
        let sizes = self.fitted.range(size(0)..=LikeJobs { limit_s: Some(u32::MAX), ..size(u32::MAX) });
        sizes.filter_map(|(like, _)| like.size.filter(|_| like.is_users_size()).map(|(_, count)| count))
    }

    /// What was fitted, to be published. It shares the models with what was handed out before.
    #[must_use]
    pub fn published(&self) -> BTreeMap<LikeJobs, Arc<RunTimeModel>> {
        self.fitted.iter().map(|(like, fitted)| (*like, Arc::clone(&fitted.model))).collect()
    }
}

/// Ranges with the probabilities that follow from the levels at which run times lay.
fn corrected(plain: &[RunTimeRange], levels: &Levels) -> Vec<RunTimeRange> {
    let (mut below, mut corrected_below) = (0.0, 0.0);
    let last = plain.len().saturating_sub(1);
    let correct = |(place, range): (usize, &RunTimeRange)| {
        below += range.probability();
        let up_to = if place == last { 1.0 } else { levels.corrected(below) };
        let probability = (up_to - corrected_below).max(0.0);
        corrected_below = up_to;
        RunTimeRange::new(range.lower().clamped_u32(), range.upper().clamped_u32(), probability as f32)
    };
    plain.iter().enumerate().map(correct).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use job_types::job::WaitingJob;
    use job_types::number::{PartitionIndex, QosIndex, UserId};
    use job_types::size::Size;
    use job_types::time::UnixTime;
    use predictor_core::forecasts::forecast::{median, quantile_s};
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

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
                learner.ended(0, &run);
            }
            learner.fit(usize::MAX);
            let published = learner.published();
            for (unit, count) in [(Unit::Nodes, 2), (Unit::Cpus, 8)] {
                let model = &published[&LikeJobs::of_size(UserId(5), PartitionIndex(3), unit, count)];
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
            learner.ended(0, &run(user, 600, 60));
        }
        let changed = learner.changed.len();
        learner.fit(4);
        assert_eq!((learner.published().len(), learner.changed.len()), (4, changed - 4));
        learner.fit(usize::MAX);
        let before = learner.published();
        learner.ended(0, &run(3, 600, 70));
        learner.fit(usize::MAX);
        let changed = learner
            .published()
            .iter()
            .filter(|(key, model)| !Arc::ptr_eq(model, &before[key]))
            .map(|(key, _)| key.user)
            .collect::<Vec<_>>();
        // Its nodes, its CPUs and its limit.
        assert_eq!(changed, [Some(UserId(3)); 3]);
    }

    #[test]
    fn the_models_of_what_was_run_last_are_known() {
        let mut learner = RunTimeLearner::new(&Unit::ALL);
        for user in 0..15_000 {
            learner.ended_long_ago(&run(user, 600, 60));
        }
        assert!((KEPT_MODELS..=MOST_MODELS).contains(&learner.known.len()));
        assert!(learner.changed.iter().all(|like| learner.known.contains_key(like)));
        let users: Vec<UserId> = learner.known.keys().filter_map(|like| like.user).collect();
        assert!(users.iter().all(|user| *user > UserId(1_000)) && users.contains(&UserId(14_999)));
    }

    /// What is forecast for a job of a user on two nodes.
    fn forecast_of(learner: &RunTimeLearner, user: u32, count: u32, limit_s: i64) -> Option<(u32, i64)> {
        let (user, partition, limit) = (UserId(user), PartitionIndex(3), Some(Seconds(limit_s)));
        let found = learner.forecast(&RunTimeQuestion { user, partition, unit: Unit::Nodes, count, limit })?;
        Some((found.jobs, median(&found.within(limit)).0))
    }

    #[test]
    fn each_limit_of_a_size_has_its_run_times() {
        let mut learner = RunTimeLearner::new(&Unit::ALL);
        for n in 0..60 {
            let limit_s = if n % 2 == 0 { 600 } else { 7_200 };
            learner.ended(0, &run(5, limit_s, limit_s / 2 + n % 3));
        }
        learner.fit(usize::MAX);
        let (jobs, short_s) = forecast_of(&learner, 5, 2, 600).unwrap();
        let (_, long_s) = forecast_of(&learner, 5, 2, 7_200).unwrap();
        assert!(jobs == 60 && (280..330).contains(&short_s) && (3_400..3_900).contains(&long_s), "{short_s} {long_s}");
    }

    #[test]
    fn a_size_that_its_user_never_ran_is_forecast_from_like_jobs() {
        let mut learner = RunTimeLearner::new(&Unit::ALL);
        assert_eq!(forecast_of(&learner, 5, 2, 600), None);
        for n in 0..80 {
            learner.ended(0, &run(5 + n % 4, 600, 100 + i64::from(n % 3)));
            learner.ended(0, &run(1, 7_200, 3_000 + i64::from(n % 7)));
        }
        learner.fit(usize::MAX);
        let of = |user, count, limit_s| forecast_of(&learner, user, count, limit_s).unwrap();
        assert!(of(5, 64, 600).0 == 0 && (95..115).contains(&of(5, 64, 600).1), "the user's limit: {:?}", of(5, 64, 600));
        assert!(of(99, 2, 600).0 == 0 && (95..125).contains(&of(99, 2, 600).1), "others' size and limit: {:?}", of(99, 2, 600));
        // One user alone has run with the other limit: that is nobody else's business.
        assert!(learner.published().keys().all(|like| like.user.is_some() || like.limit_s != Some(7_200)));
    }

    #[test]
    fn levels_at_which_run_times_lie_correct_what_is_said_next() {
        // Every tenth job runs for ten times as long as the others, and the models see each as it
        // arrives.
        let mut learner = RunTimeLearner::new(&[Unit::Nodes]);
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let (mut held, mut asked) = (0, 0);
        for n in 0..6_000u32 {
            let run_time_s = if random.random_bool(0.1) { 2_000 } else { 200 } + random.random_range(0..40);
            let job = run(n % 3, 7_200, run_time_s);
            learner.arrived(n, &job.submitted);
            let question = RunTimeQuestion {
                user: UserId(n % 3),
                partition: PartitionIndex(3),
                unit: Unit::Nodes,
                count: 2,
                limit: Some(Seconds(7_200)),
            };
            if let Some(forecast) = learner.forecast(&question).filter(|_| n >= 3_000) {
                asked += 1;
                held += u32::from(run_time_s as f64 <= quantile_s(forecast.ranges, 0.95));
            }
            learner.ended(n, &job);
            learner.fit(usize::MAX);
        }
        let share = f64::from(held) / f64::from(asked);
        assert!(learner.asked.is_empty() && (share - 0.95).abs() < 0.015, "{share}");
    }

    #[test]
    fn runs_that_never_started_say_nothing() {
        let mut learner = RunTimeLearner::new(&Unit::ALL);
        learner.ended(0, &EndedJob { start: None, ..run(1, 600, 60) });
        learner.fit(usize::MAX);
        assert!(learner.published().is_empty());
    }
}
