//! The probability trajectory of a reservation, and the point of it that is chosen (Nurmi, Wolski
//! and Brevik 2008, 3.1).

use crate::forecast::{JobShape, Moment, WaitForecast, WaitForecaster};
use arrayvec::ArrayVec;
use job_types::time::{Seconds, UnixTime};

/// Width of the steps of the probability trajectory (Nurmi, Wolski and Brevik 2008, 3.1).
pub const STEP: Seconds = Seconds(30);

/// A point of the probability trajectory: a job made eligible at `begin`, with the time limit
/// padded from then to the reserved time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrajectoryPoint {
    /// When the job becomes eligible.
    pub begin: UnixTime,
    /// Its time limit: from `begin` to the reserved time, and what it asked for from there, in
    /// whole minutes.
    pub padded_limit: Seconds,
    /// Probability that it has started by the reserved time.
    pub probability: f64,
    /// How long before the reserved time it starts, in the mean of the forecast waits; a start that
    /// is later counts as none.
    pub mean_early: Seconds,
}

/// At how many time limits a trajectory is forecast: so many rows are forecast together in little
/// more time than one.
const MOST_LIMITS: usize = 8;
/// How many of them are forecast first. Of most reservations that are given one of these is enough,
/// because waits are mostly short beside what they are reserved ahead. Two forecasts of each make
/// eight rows, which walk through a tree together.
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

/// The more careful of two forecasts: by the state of the cluster when the job becomes eligible, as
/// far as that can be told, and whatever the state. The first alone would promise nodes on a
/// cluster that is taken to have emptied by a time before which others will come.
#[derive(Clone, Debug)]
struct Careful<'a> {
    then: Option<WaitForecast<'a>>,
    ever: Option<WaitForecast<'a>>,
}

impl<'a> Careful<'a> {
    fn both(&self) -> impl Iterator<Item = &WaitForecast<'a>> {
        self.then.iter().chain(&self.ever)
    }

    fn is_known(&self) -> bool {
        self.both().next().is_some()
    }

    fn probability_within(&self, duration: Seconds) -> f64 {
        self.both().map(|wait| wait.probability_within(duration)).fold(1.0, f64::min)
    }

    /// What is left of a duration after the wait, in the mean. The more careful of two means is the
    /// longer, because a user pays for it.
    fn mean_left(&self, duration: Seconds) -> Seconds {
        self.both().map(|wait| wait.mean_left(duration)).max().unwrap_or(Seconds::ZERO)
    }

    fn bound(&self, probability: f64) -> Option<Seconds> {
        let mut longest = None;
        for wait in self.both() {
            longest = longest.max(Some(wait.bound(probability)?));
        }
        longest
    }
}

impl<F: WaitForecaster> Reservable<'_, F> {
    /// Forecasts at some limits, each as eligible at its time before the reserved one; or, without
    /// a reserved time, as eligible now.
    fn forecasts_at(&self, limits: &[Seconds], reserved: Option<UnixTime>) -> impl Iterator<Item = Careful<'_>> {
        let unpadded = self.shape.limit.unwrap_or(Seconds::ZERO);
        let mut asked: ArrayVec<(JobShape, Option<Moment>), { 2 * MOST_LIMITS }> = ArrayVec::new();
        for limit in limits.iter().take(MOST_LIMITS) {
            let shape = JobShape { limit: Some(*limit), ..self.shape };
            let at = reserved.map_or(self.now.now, |reserved| UnixTime(reserved.0 - (limit.0 - unpadded.0)));
            asked.extend([(shape, Some(self.now.at(at))), (shape, None)]);
        }
        let mut waits = self.forecasts.waits(&asked).into_iter();
        std::iter::from_fn(move || Some(Careful { then: waits.next()?, ever: waits.next()? }))
    }
}

/// The whole probability trajectory of a reservation, from the earliest point with an allowed time
/// limit to the reserved time (Nurmi, Wolski and Brevik 2008, figure 3).
pub fn trajectory<F: WaitForecaster>(job: &Reservable<'_, F>, reserved: UnixTime) -> Vec<TrajectoryPoint> {
    let Some(unpadded) = job.shape.limit else { return Vec::new() };
    let now = job.now.now;
    let ahead = (reserved - now).max(Seconds::ZERO);
    let limits = Limits::new(unpadded, ahead, job.longest_limit);
    let forecasts: Vec<_> = job.forecasts_at(&limits.ascending, Some(reserved)).collect();
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

/// Which begins a walk is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begins {
    /// Each at its time before the reserved one.
    BeforeReserved,
    /// All of them now: what differs is the reserved time.
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
pub(super) fn latest_point<F: WaitForecaster>(
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
    let forecasts = [first, others].into_iter().flat_map(|part| job.forecasts_at(part, begins_before));
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
        // Of one forecast the probability is highest with the most time left.
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
