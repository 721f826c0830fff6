//! Virtual reservations: when to let a job become eligible, and with how long a limit, so that it
//! runs at a promised time (Nurmi, Wolski and Brevik 2008, 3.1).

use super::{Bound, Context, LIMIT_ROUNDING, Limit, Obstacle};
use crate::forecast::{JobShape, Moment, WaitForecast, WaitForecaster};
use arrayvec::ArrayVec;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use std::fmt;

/// Width of the steps of the probability trajectory (Nurmi, Wolski and Brevik 2008, 3.1).
pub const STEP: Seconds = Seconds(30);

/// Longest time ahead for which reservations are given.
pub const LONGEST_AHEAD: Seconds = Seconds(366 * 86_400);

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
}

/// Why a reservation is not given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NotReserved {
    /// The time has passed.
    InThePast,
    /// The time is too far ahead.
    TooFar,
    /// The job has no time limit to add to.
    Unlimited,
    /// The job carries a begin time of its own.
    OwnBegin,
    /// An array, of which each task would need a time of its own.
    Array,
    /// A component of a heterogeneous job.
    Heterogeneous,
    /// It must start at once.
    Immediate,
    /// Something else decides when it starts.
    Obstacle(Obstacle),
    /// It would need a longer time limit than it may have.
    BeyondLimit {
        /// The time limit that the padding comes to.
        needed: Seconds,
        /// The longest that it may have, and who says so.
        longest: Bound<Seconds>,
    },
    /// The reserved time and the time limit reach beyond the deadline.
    BeyondDeadline,
    /// The site gives none in this partition.
    NotOffered,
    /// Nothing is known of waits here.
    NoWaits,
    /// The probability is not to be had.
    Unlikely {
        /// The highest probability of the trajectory.
        best: f64,
        /// What was asked for.
        wanted: f64,
        /// The earliest time from now at which the wanted probability is to be had, as forecast
        /// now.
        earliest: Option<UnixTime>,
    },
}

impl fmt::Display for NotReserved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotReserved::InThePast => f.write_str("the time has already passed"),
            NotReserved::TooFar => f.write_str("the time is more than a year ahead"),
            NotReserved::Unlimited => f.write_str("the job has no time limit; give one with --time"),
            NotReserved::OwnBegin => f.write_str("--begin and --reserve-at contradict each other; give one of them"),
            NotReserved::Array => f.write_str("an array of jobs can't be reserved; submit its tasks one by one"),
            NotReserved::Heterogeneous => f.write_str("a heterogeneous job can't be reserved"),
            NotReserved::Immediate => f.write_str("--immediate and --reserve-at contradict each other; give one of them"),
            NotReserved::Obstacle(obstacle) => f.write_str(match obstacle {
                Obstacle::Dependency => "--dependency lets other jobs decide when this one starts; give only one of it and --reserve-at",
                Obstacle::Held => "a held job does not start by itself; submit it without --hold or --priority=0",
                Obstacle::Reservation => "the job runs inside a reservation already; give only one of --reservation and --reserve-at",
            }),
            NotReserved::BeyondLimit { needed, longest: Bound { by: Limit::UnknownPartition, .. } } => {
                write!(f, "its time limit would be padded to {needed}, and nothing is known of one of its partitions")
            }
            NotReserved::BeyondLimit { needed, longest } => {
                write!(f, "its time limit would be padded to {needed}, and {} is {}", longest.by, longest.value)
            }
            NotReserved::BeyondDeadline => f.write_str("the reserved time plus the time limit lies beyond --deadline"),
            NotReserved::NotOffered => f.write_str("this partition offers no virtual reservations"),
            NotReserved::NoWaits => f.write_str("no past waits are known for this partition"),
            NotReserved::Unlikely { best, wanted, .. } => {
                write!(f, "it would be kept with probability {best:.2} at best, {wanted} is wanted")
            }
        }
    }
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
        Some(TrajectoryPoint { begin, padded_limit, probability: wait.probability_within(time_left) })
    };
    (0..steps).filter_map(point).collect()
}

/// Which begins a walk is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begins {
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
fn latest_point<F: WaitForecaster>(
    job: &Reservable<'_, F>,
    ahead: Seconds,
    wanted: f64,
    begins: Begins,
) -> Result<TrajectoryPoint, Option<f64>> {
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
    let mut best = None;
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
        if let Some(bound) = wait.bound(wanted) {
            let needed = on_step(bound.max(time_left));
            if needed <= longest_left {
                return Ok(TrajectoryPoint {
                    begin: UnixTime(reserved.0 - needed.0),
                    padded_limit: (unpadded + needed).rounded_up_to_minutes(),
                    probability: wait.probability_within(needed),
                });
            }
        }
        // Of one forecast the probability is highest with the most time left.
        let steps = (longest_left - last_left).0.div_euclid(STEP.0);
        let probability = wait.probability_within(last_left + Seconds(steps * STEP.0));
        best = Some(best.map_or(probability, |best: f64| best.max(probability)));
        time_left = on_step(longest_left + Seconds(1));
    }
    Err(best)
}

/// Decides on a reservation of the submission at a size. Of one that is refused it says, where
/// `tell_earliest`, when it could be had.
pub(super) fn reserve<F: WaitForecaster>(
    context: &Context<'_, F>,
    size: Size,
    limit: Option<Seconds>,
    reserved: UnixTime,
    wanted: f64,
    tell_earliest: bool,
) -> Result<TrajectoryPoint, NotReserved> {
    let submission = context.submission;
    if !context.policy.reserve {
        return Err(NotReserved::NotOffered);
    }
    if reserved <= context.now {
        return Err(NotReserved::InThePast);
    }
    if reserved - context.now > LONGEST_AHEAD {
        return Err(NotReserved::TooFar);
    }
    if submission.tie == Some(super::Tie::Heterogeneous) {
        return Err(NotReserved::Heterogeneous);
    }
    if submission.is_array {
        return Err(NotReserved::Array);
    }
    if submission.is_immediate {
        return Err(NotReserved::Immediate);
    }
    if let Some(obstacle) = submission.obstacle {
        return Err(NotReserved::Obstacle(obstacle));
    }
    if submission.begin.is_some_and(|begin| begin > context.now) {
        return Err(NotReserved::OwnBegin);
    }
    let limit = limit.ok_or(NotReserved::Unlimited)?;
    if submission.deadline.is_some_and(|deadline| reserved + limit + LIMIT_ROUNDING > deadline) {
        return Err(NotReserved::BeyondDeadline);
    }
    let longest = context.bounds.longest_limit(size);
    let job = Reservable {
        forecasts: context.forecasts,
        shape: context.shape(size, Some(limit)),
        now: context.moment(Seconds::ZERO),
        longest_limit: longest.map(|longest| longest.value),
    };
    let ahead = reserved - context.now;
    let best = match latest_point(&job, ahead, wanted, Begins::BeforeReserved) {
        Ok(point) => return Ok(point),
        Err(best) => best,
    };
    if let Some(beyond) = beyond_limit(&job, ahead, wanted, longest) {
        return Err(beyond);
    }
    if best.is_none() && context.forecasts.wait(&job.shape, None).is_none() {
        return Err(NotReserved::NoWaits);
    }
    let far = context.now + LONGEST_AHEAD;
    let possible = tell_earliest.then(|| latest_point(&job, LONGEST_AHEAD, wanted, Begins::Now).ok());
    let earliest = possible.flatten().map(|point| context.now + (far - point.begin));
    Err(NotReserved::Unlikely { best: best.unwrap_or(0.0), wanted, earliest })
}

/// Whether it is the longest time limit that forbids a reservation: without it there would be one.
fn beyond_limit<F: WaitForecaster>(
    job: &Reservable<'_, F>,
    ahead: Seconds,
    wanted: f64,
    longest: Option<Bound<Seconds>>,
) -> Option<NotReserved> {
    let longest = longest?;
    let unbounded = Reservable { longest_limit: None, ..*job };
    let point = latest_point(&unbounded, ahead, wanted, Begins::BeforeReserved).ok()?;
    Some(NotReserved::BeyondLimit { needed: point.padded_limit, longest })
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
