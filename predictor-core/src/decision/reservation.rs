//! Virtual reservations: when to let a job become eligible, and with how long a limit, so that it runs at a promised time (VARQ paper, 3.1).

use super::{Context, LIMIT_ROUNDING};
use crate::forecast::{JobShape, WaitForecaster};
use crate::size::Size;
use crate::time::{Seconds, UnixTime};
use std::fmt;

/// Width of the steps of the probability trajectory (VARQ paper, 3.1).
pub const STEP: Seconds = Seconds(30);

/// Longest time ahead for which reservations are given.
pub const LONGEST_AHEAD: Seconds = Seconds(366 * 86_400);

/// A point of the probability trajectory: a job made eligible at `begin`, with the time limit padded from then to the reserved time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrajectoryPoint {
    /// When the job becomes eligible.
    pub begin: UnixTime,
    /// Its time limit: from `begin` to the reserved time, and what it asked for from there, in whole minutes.
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
        /// The earliest time from now at which the wanted probability is to be had, as forecast now.
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
            NotReserved::BeyondDeadline => f.write_str("the reserved time plus the time limit lies beyond --deadline"),
            NotReserved::NotOffered => f.write_str("this partition offers no virtual reservations"),
            NotReserved::NoWaits => f.write_str("no past waits are known for this partition"),
            NotReserved::Unlikely { best, wanted, .. } => {
                write!(f, "it would be kept with probability {best:.2} at best, {wanted} is wanted")
            }
        }
    }
}

/// The whole probability trajectory of a reservation, from now to the reserved time (VARQ paper, figure 3).
pub fn trajectory<'a, F: WaitForecaster>(
    forecasts: &'a F,
    shape: &JobShape,
    now: UnixTime,
    reserved: UnixTime,
) -> impl Iterator<Item = TrajectoryPoint> + 'a {
    let shape = *shape;
    let steps = ((reserved - now).0.max(0) as u64).div_ceil(STEP.0 as u64);
    (0..steps).filter_map(move |step| point(forecasts, &shape, reserved, now + Seconds(step as i64 * STEP.0)))
}

fn point<F: WaitForecaster>(forecasts: &F, shape: &JobShape, reserved: UnixTime, begin: UnixTime) -> Option<TrajectoryPoint> {
    let time_left = reserved - begin;
    let padded_limit = (shape.limit? + time_left).rounded_up_to_minutes();
    let wait = forecasts.wait(&JobShape { limit: Some(padded_limit), ..*shape }, None)?;
    Some(TrajectoryPoint { begin, padded_limit, probability: wait.probability_within(time_left) })
}

/// The latest point of the trajectory that reaches the wanted probability, so that as little as possible is paid for waiting on the nodes.
///
/// It is what walking back through the trajectory finds first. Within one limit class the forecast is the same at each step, so that
/// the walk goes from class to class, and takes as many steps as there are classes however far ahead the time is.
pub(super) fn latest_point<F: WaitForecaster>(
    forecasts: &F,
    shape: &JobShape,
    now: UnixTime,
    reserved: UnixTime,
    wanted: f64,
    longest_limit: Option<Seconds>,
) -> Result<TrajectoryPoint, Option<f64>> {
    let Some(limit) = shape.limit else { return Err(None) };
    let ahead = reserved - now;
    // Steps count from now, so that what is left at the last one is what the division leaves, or a whole step.
    let last_left = match ahead.0.rem_euclid(STEP.0) {
        0 => STEP,
        rest => Seconds(rest),
    };
    let on_step = |time_left: Seconds| last_left + Seconds((time_left - last_left).0.max(0).saturating_add(STEP.0 - 1) / STEP.0 * STEP.0);
    let mut best = None;
    let mut time_left = last_left;
    while time_left <= ahead {
        let padded_limit = (limit + time_left).rounded_up_to_minutes();
        if longest_limit.is_some_and(|longest| padded_limit > longest) {
            break;
        }
        let Some(wait) = forecasts.wait(&JobShape { limit: Some(padded_limit), ..*shape }, None) else { return Err(best) };
        // The longest time left whose padded limit, in whole minutes, is still of this class.
        let class_minutes = Seconds(wait.limits.end().0.div_euclid(60).saturating_mul(60));
        let end_of_class = (class_minutes - limit).min(ahead).max(time_left);
        let end_of_class =
            longest_limit.map_or(end_of_class, |longest| end_of_class.min(Seconds(longest.0 / 60 * 60) - limit)).max(time_left);
        if let Some(bound) = wait.bound(wanted) {
            let needed = on_step(bound.max(time_left));
            if needed <= end_of_class {
                return Ok(TrajectoryPoint {
                    begin: UnixTime(reserved.0 - needed.0),
                    padded_limit: (limit + needed).rounded_up_to_minutes(),
                    probability: wait.probability_within(needed),
                });
            }
        }
        // Within a class the probability is highest with the most time left.
        let steps = (end_of_class - last_left).0.div_euclid(STEP.0);
        let probability = wait.probability_within(last_left + Seconds(steps * STEP.0));
        best = Some(best.map_or(probability, |best: f64| best.max(probability)));
        time_left = on_step(end_of_class + Seconds(1));
    }
    Err(best)
}

/// Decides on a reservation of the submission at a size.
pub(super) fn reserve<F: WaitForecaster>(
    context: &Context<'_, F>,
    size: Size,
    limit: Option<Seconds>,
    reserved: UnixTime,
    wanted: f64,
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
    if submission.begin.is_some_and(|begin| begin > context.now) {
        return Err(NotReserved::OwnBegin);
    }
    let limit = limit.ok_or(NotReserved::Unlimited)?;
    if submission.deadline.is_some_and(|deadline| reserved + limit + LIMIT_ROUNDING > deadline) {
        return Err(NotReserved::BeyondDeadline);
    }
    let shape = JobShape { partition: context.partition.index, size, limit: Some(limit) };
    let longest = context.partition.max_time();
    latest_point(context.forecasts, &shape, context.now, reserved, wanted, longest).map_err(|best| match best {
        None if context.forecasts.wait(&shape, None).is_none() => NotReserved::NoWaits,
        best => {
            let far = context.now + LONGEST_AHEAD;
            let possible = latest_point(context.forecasts, &shape, context.now, far, wanted, longest);
            let earliest = possible.ok().map(|point| context.now + (far - point.begin));
            NotReserved::Unlikely { best: best.unwrap_or(0.0), wanted, earliest }
        }
    })
}
