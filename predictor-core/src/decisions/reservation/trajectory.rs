//! The probability trajectory of a reservation, and the point of it that is chosen (Nurmi, Wolski
//! and Brevik 2008, 3.1).

use crate::forecasts::forecast::{JobShape, Moment, PERCENTILES, UNBOUNDED_S, WaitForecast, WaitForecaster, held_within, mean_left};
use crate::forecasts::promise::{PromiseKind, PromiseShape, reservable_part};
use arrayvec::ArrayVec;
use job_types::options::SuccessProbability;
use job_types::record::WaitSource;
use job_types::time::{Seconds, UnixTime};

/// Width of the steps of the probability trajectory (Nurmi, Wolski and Brevik 2008, 3.1).
pub const STEP: Seconds = Seconds(30);

/// A point of the probability trajectory: a job made eligible at `begin`, with the time limit
/// padded from then to the reserved time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrajectoryPoint {
    /// When the job becomes eligible.
    pub begin: UnixTime,
    /// The job's padded time limit: from `begin` to the reserved time, and what the job asked for
    /// from there, in whole minutes.
    pub padded_limit: Seconds,
    /// Probability that the job has started by the reserved time.
    pub probability: f64,
    /// How long before the reserved time the job starts, in the mean of the forecast waits; a start
    /// that is later counts as none.
    pub mean_early: Seconds,
}

/// The number of time limits at which a trajectory is forecast. So many rows are forecast together
/// in little more time than one.
const MOST_LIMITS: usize = 8;
/// The number of limits that are forecast first. For most reservations that are given one of these
/// is enough, because waits are mostly short beside what they are reserved ahead. Two forecasts of
/// each make eight rows, which walk through a tree together.
const FIRST_LIMITS: usize = MOST_LIMITS / 2;

/// What a trajectory depends on.
#[derive(Debug)]
pub struct Reservable<'a, F> {
    /// The source of forecasts.
    pub forecasts: &'a F,
    /// The job as it is asked for, without padding.
    pub shape: JobShape,
    /// The present, with the claims.
    pub now: Moment,
    /// The longest time limit that it may have, beyond which nothing is padded; `None` is
    /// unlimited.
    pub longest_limit: Option<Seconds>,
}

/// The time limits at which a trajectory is forecast: in steps of equal proportion from the job's
/// own limit to the longest padded one, in whole minutes. A padded limit is forecast as the next of
/// them, and as eligible when that one would be: no later than it is, with no shorter a limit. That
/// is the careful side, and costs the same however far ahead the time is.
#[derive(Debug)]
struct Limits {
    unpadded: Seconds,
    ascending: ArrayVec<Seconds, MOST_LIMITS>,
}

impl Limits {
    fn new(unpadded: Seconds, ahead: Seconds, longest: Option<Seconds>) -> Limits {
        let top = (unpadded + ahead).rounded_up_to_minutes();
        let top = longest.map_or(top, |longest| top.min(Seconds(longest.0.div_euclid(60) * 60)));
        let first = unpadded.max(Seconds::MINUTE);
        let proportion = (top.0 as f64 / first.0 as f64).max(1.0).powf(1.0 / MOST_LIMITS as f64);
        let mut ascending = ArrayVec::new();
        for step in 1..=MOST_LIMITS as i32 {
            let limit = Seconds((first.0 as f64 * proportion.powi(step)) as i64).rounded_up_to_minutes().min(top);
            let limit = if step == MOST_LIMITS as i32 { top } else { limit };
            if limit > unpadded && ascending.last().is_none_or(|last| limit > *last) {
                // There is room for each step.
                let _ = ascending.try_push(limit);
            }
        }
        Limits { unpadded, ascending }
    }

    /// Index of the limit that stands for a padded one; the number of limits for one beyond them.
    fn index(&self, padded: Seconds) -> usize {
        self.ascending.partition_point(|limit| *limit < padded)
    }

    /// The longest time left for which the limit of that index stands.
    fn longest_left(&self, index: usize) -> Option<Seconds> {
        self.ascending.get(index).map(|limit| Seconds(limit.0 - self.unpadded.0))
    }
}

/// How far ahead the present state tells as much as the past without it: what will be submitted
/// until then is not known, and the farther the moment, the more of what matters then.
const STATE_FADES: Seconds = Seconds(2 * 3_600);

/// Upper bounds in seconds on the percentiles 1 to 99 of a wait, ascending.
type Bounds = [u32; PERCENTILES];

/// Two forecasts for a moment, mixed: by the state of the cluster, as far as it can be told for
/// then, and whatever the state. The first alone would promise nodes on a cluster that is taken to
/// have emptied by a time before which others will come; the second alone would not see that it is
/// idle now. Of a moment near by the first counts, of one far ahead the second.
#[derive(Clone, Debug)]
struct Mixed<'a> {
    then: Option<WaitForecast<'a>>,
    ever: Option<Bounds>,
    /// The weight of the second forecast, `ever`, 0 to 1.
    weight: f64,
}

impl<'a> Mixed<'a> {
    fn new(then: Option<WaitForecast<'a>>, ever: Option<Bounds>, ahead: Seconds) -> Mixed<'a> {
        // If the state says nothing, the first forecast only repeats the second and is dropped.
        let then = then.filter(|then| then.source != WaitSource::Qbets || ever.is_none());
        let weight = match (&then, &ever) {
            (Some(_), Some(_)) => 1.0 - (-(ahead.0.max(0) as f64) / STATE_FADES.0 as f64).exp2(),
            (Some(_), None) => 0.0,
            (None, _) => 1.0,
        };
        Mixed { then, ever, weight }
    }

    fn is_known(&self) -> bool {
        self.then.is_some() || self.ever.is_some()
    }

    /// The bounds of both, each with how much it counts.
    fn weighed(&self) -> [(&[u32], f64); 2] {
        let then = self.then.as_ref().map_or(&[][..], |wait| wait.bounds);
        [(then, 1.0 - self.weight), (self.ever.as_ref().map_or(&[][..], |bounds| bounds), self.weight)]
    }

    fn probability_within(&self, duration: Seconds) -> f64 {
        self.weighed().map(|(bounds, weight)| weight * held_within(bounds, duration) as f64 / 100.0).iter().sum()
    }

    /// What is left of a duration after the wait, in the mean.
    fn mean_left(&self, duration: Seconds) -> Seconds {
        let left = self.weighed().map(|(bounds, weight)| weight * mean_left(bounds, duration).0 as f64);
        Seconds(left.iter().sum::<f64>().round() as i64)
    }

    /// The shortest time within which the wait ends with the probability, as
    /// [`WaitForecast::bound`].
    fn bound(&self, probability: f64) -> Option<Seconds> {
        let mut weighed = self.weighed();
        let mut reached = 0.0;
        let mut bound = 0;
        // Each percentile that is passed adds its percent, the lowest bound first.
        while reached < probability - 1e-9 || reached == 0.0 {
            let next = |bounds: &[u32]| bounds.first().copied().filter(|bound| *bound != UNBOUNDED_S);
            bound = weighed.iter().filter_map(|(bounds, _)| next(bounds)).min()?;
            for (bounds, weight) in &mut weighed {
                let passed = bounds.partition_point(|other| *other <= bound);
                reached += *weight * passed as f64 / 100.0;
                *bounds = bounds.get(passed..).unwrap_or_default();
            }
        }
        Some(Seconds(i64::from(bound)))
    }
}

/// The longer of the bounds, percentile by percentile.
fn longer(one: Option<Bounds>, other: Option<&Bounds>) -> Option<Bounds> {
    match (one, other) {
        (Some(one), Some(other)) => Some(std::array::from_fn(|place| one[place].max(other[place]))),
        (one, other) => one.or(other.copied()),
    }
}

impl<F: WaitForecaster> Reservable<'_, F> {
    /// The probability that is to be forecast for a time so far ahead to be kept with `wanted`
    /// ([`WaitForecaster::level_to_ask`]).
    #[must_use]
    pub fn level_to_ask(&self, ahead: Seconds, wanted: f64) -> f64 {
        self.forecasts.level_to_ask(&self.promise(ahead), wanted)
    }

    /// What is told of a reservation for a time so far ahead that is forecast with a probability
    /// where `wanted` is wanted ([`WaitForecaster::probability_to_tell`]).
    #[must_use]
    pub fn probability_to_tell(&self, ahead: Seconds, wanted: f64, forecast: f64) -> f64 {
        self.forecasts.probability_to_tell(&self.promise(ahead), wanted, forecast)
    }

    /// Its reservation for a time so far ahead.
    fn promise(&self, ahead: Seconds) -> PromiseShape {
        let JobShape { partition, size, .. } = self.shape;
        PromiseShape { kind: PromiseKind::Reservation, partition, cpus: size.cpus, ahead }
    }

    /// The part of the CPUs that would be reserved for a time so far ahead with this job, where
    /// that is more than reservations of that probability may take ([`reservable_part`]).
    #[must_use]
    pub fn crowded(&self, ahead: Seconds, wanted: SuccessProbability) -> Option<f64> {
        // Whoever wants the best there is takes any.
        let wanted = if wanted == SuccessProbability::Best { 0.0 } else { wanted.wanted() };
        let part = self.forecasts.reserved_part(self.shape.partition, self.shape.size.cpus, &self.now.at(self.now.now + ahead));
        (part > reservable_part(wanted)).then_some(part)
    }

    /// Forecasts at some limits, each as eligible at its time before the reserved one; or, without
    /// a reserved time, as eligible now.
    ///
    /// No job waits less for a longer limit: where the class of a longer one did, it had other jobs
    /// or few, and of many limits the luckiest would be taken. `longest` has the bounds of the
    /// limits before, and then those of these as well.
    fn forecasts_at(&self, limits: &[Seconds], reserved: Option<UnixTime>, longest: &mut Option<Bounds>) -> Vec<Mixed<'_>> {
        let unpadded = self.shape.limit.unwrap_or(Seconds::ZERO);
        if longest.is_none() {
            *longest = self.forecasts.wait(&self.shape, None).map(|wait| *wait.bounds);
        }
        let mut asked: ArrayVec<(JobShape, Option<Moment>), { 2 * MOST_LIMITS }> = ArrayVec::new();
        for limit in limits.iter().take(MOST_LIMITS) {
            let shape = JobShape { limit: Some(*limit), ..self.shape };
            let at = reserved.map_or(self.now.now, |reserved| UnixTime(reserved.0 - (limit.0 - unpadded.0)));
            asked.extend([(shape, Some(self.now.at(at))), (shape, None)]);
        }
        let waits = self.forecasts.waits(&asked);
        let moments = asked.iter().step_by(2).filter_map(|(_, moment)| *moment);
        let mixed = waits.chunks_exact(2).zip(moments).map(|(waits, moment)| {
            let [then, ever] = waits else { return Mixed::new(None, None, Seconds::ZERO) };
            *longest = longer(*longest, ever.as_ref().map(|wait| wait.bounds));
            Mixed::new(then.clone(), *longest, moment.at - moment.now)
        });
        mixed.collect()
    }
}

/// The whole probability trajectory of a reservation, from the earliest point with an allowed time
/// limit to the reserved time (Nurmi, Wolski and Brevik 2008, figure 3).
pub fn trajectory<F: WaitForecaster>(job: &Reservable<'_, F>, reserved: UnixTime) -> Vec<TrajectoryPoint> {
    let Some(unpadded) = job.shape.limit else { return Vec::new() };
    let now = job.now.now;
    let ahead = (reserved - now).max(Seconds::ZERO);
    let limits = Limits::new(unpadded, ahead, job.longest_limit);
    let forecasts = job.forecasts_at(&limits.ascending, Some(reserved), &mut None);
    let steps = (ahead.0 as u64).div_ceil(STEP.0 as u64);
    let point = |step| {
        let begin = now + Seconds(step as i64 * STEP.0);
        let time_left = reserved - begin;
        let padded_limit = (unpadded + time_left).rounded_up_to_minutes();
        let wait = forecasts.get(limits.index(padded_limit)).filter(|wait| wait.is_known())?;
        let (probability, mean_early) = (wait.probability_within(time_left), wait.mean_left(time_left));
        Some(TrajectoryPoint { begin, padded_limit, probability, mean_early })
    };
    (0..steps).filter_map(point).collect()
}

/// The begin times that a walk along the trajectory is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// Each begin is at its own time before the reserved time.
    BeforeReserved,
    /// All begins are now: what differs is the reserved time.
    Now,
}

/// The latest point of the trajectory that reaches the wanted probability, so that as little as
/// possible is paid for waiting on the nodes.
///
/// It is what walking back through the trajectory finds first. Padded limits that are forecast as
/// one have the same forecast, so that the walk goes from one to the next.
///
/// # Errors
/// Where no point reaches it: the most probable one, the latest of those that are equally probable;
/// `None` where nothing is known of waits or each point is out of the question.
pub fn latest_point<F: WaitForecaster>(
    job: &Reservable<'_, F>,
    ahead: Seconds,
    wanted: f64,
    begins: Begins,
) -> Result<TrajectoryPoint, Option<TrajectoryPoint>> {
    let Some(unpadded) = job.shape.limit else { return Err(None) };
    let limits = Limits::new(unpadded, ahead, job.longest_limit);
    let reserved = job.now.now + ahead;
    // Steps count from now, so that what is left at the last one is what the division leaves, or a
    // whole step.
    let last_left = match ahead.0.rem_euclid(STEP.0) {
        0 => STEP,
        rest => Seconds(rest),
    };
    let on_step = |time_left: Seconds| last_left + Seconds((time_left - last_left).0.max(0).saturating_add(STEP.0 - 1) / STEP.0 * STEP.0);
    let mut best: Option<TrajectoryPoint> = None;
    let mut time_left = last_left;
    let (first, others) = limits.ascending.split_at(FIRST_LIMITS.min(limits.ascending.len()));
    let begins_before = (begins == Begins::BeforeReserved).then_some(reserved);
    // The others are forecast when the walk comes to them.
    let mut longest = None;
    let forecasts = [first, others].into_iter().flat_map(|part| job.forecasts_at(part, begins_before, &mut longest));
    for (index, wait) in forecasts.enumerate() {
        let Some(longest_left) = limits.longest_left(index).map(|left| left.min(ahead)).filter(|left| *left >= time_left) else {
            continue;
        };
        if !wait.is_known() {
            return Err(best);
        }
        // The latest point that reaches a probability with this forecast, where there is one.
        let reaches = |probability| {
            let needed = on_step(wait.bound(probability)?.max(time_left));
            (needed <= longest_left).then(|| TrajectoryPoint {
                begin: UnixTime(reserved.0 - needed.0),
                padded_limit: (unpadded + needed).rounded_up_to_minutes(),
                probability: wait.probability_within(needed),
                mean_early: wait.mean_left(needed),
            })
        };
        if let Some(point) = reaches(wanted) {
            return Ok(point);
        }
        // Within one forecast, the probability is highest with the most time left.
        let steps = (longest_left - last_left).0.div_euclid(STEP.0);
        let highest = wait.probability_within(last_left + Seconds(steps * STEP.0));
        if highest > best.map_or(0.0, |best| best.probability) {
            best = reaches(highest).or(best);
        }
        time_left = on_step(longest_left + Seconds(1));
    }
    Err(best)
}
#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_padded_limit_is_forecast_as_one_that_is_no_shorter_and_little_longer(
            unpadded in 60i64..500_000, ahead in 1i64..32_000_000, longest in prop::option::of(60i64..2_000_000), left in 1i64..32_000_000,
        ) {
            let limits = Limits::new(Seconds(unpadded), Seconds(ahead), longest.map(Seconds));
            prop_assert!(limits.ascending.is_sorted());
            let padded = Seconds(unpadded + left.min(ahead)).rounded_up_to_minutes();
            if longest.is_none_or(|longest| padded.0 <= longest) {
                let stands_for = limits.ascending[limits.index(padded)];
                let proportion = ((unpadded + ahead + 60) as f64 / unpadded as f64).powf(1.0 / MOST_LIMITS as f64);
                prop_assert!(stands_for >= padded && stands_for.0 as f64 <= (padded.0 + 120) as f64 * proportion);
            } else {
                prop_assert_eq!(limits.index(padded), limits.ascending.len());
            }
        }
    }
}
