//! Virtual reservations: when to let a job become eligible, and with how long a limit, so that it
//! runs at a promised time (Nurmi, Wolski and Brevik 2008, 3.1).

mod at_once;
mod beside;
mod cost;
mod joint;
mod others;
mod trajectory;

use super::others::Weighed;
use super::{Bound, DerivedInputs, LIMIT_ROUNDING, Limit, Reservation, StartBlocker};
use crate::decisions::site::Partition;
use crate::decisions::slurm_reservations::SlurmReservation;
use crate::forecasts::forecast::{QueueForecaster, WaitForecaster};
use job_types::options::SuccessProbability;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use std::fmt;

use at_once::at_once;
pub use beside::WORTH_A_CHANGE;
pub use cost::ReservationCost;
pub use joint::{JointOption, JointReservation, joint_reservation, probabilities_to_ask};
pub(super) use others::forbid;
pub use trajectory::{Begins, Reservable, STEP, TrajectoryPoint, latest_point, trajectory};

/// Longest time ahead for which reservations are given.
pub const LONGEST_AHEAD: Seconds = Seconds(366 * 86_400);

/// How many later times are tried for a reservation that can't be had: each is a quarter farther
/// ahead than the one before, so that the last is nearly nine times as far as the first.
const MOST_LATER_TIMES: usize = 10;

const DAY: Seconds = Seconds(86_400);

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
    Obstacle(StartBlocker),
    /// It would need a longer time limit than it may have.
    BeyondLimit {
        /// The time limit that the padding comes to.
        needed: Seconds,
        /// The longest that it may have, and who says so.
        longest: Bound<Seconds>,
    },
    /// The reserved time and the time limit reach beyond the deadline.
    BeyondDeadline,
    /// Reservations of Slurm's own, such as for maintenance, leave too few nodes of the partition.
    SlurmReservation {
        /// When what is in the way begins.
        from: UnixTime,
        /// When it ends.
        until: UnixTime,
        /// A later time at which a reservation is possible, as for [`NotReserved::Unlikely`].
        later: Option<UnixTime>,
    },
    /// Too many CPUs are reserved for that time: the nodes that others keep until then would be
    /// missing, whatever their forecasts say.
    Crowded {
        /// The part of the CPUs that would be reserved.
        part: f64,
        /// What was asked for.
        wanted: SuccessProbability,
        /// A later time, as for [`NotReserved::Unlikely`].
        later: Option<UnixTime>,
    },
    /// Others would wait longer for it than the site allows.
    OthersWait(Weighed),
    /// The site gives none in this partition.
    NotOffered,
    /// Nothing is known of waits here.
    NoWaits,
    /// The probability is not to be had.
    Unlikely {
        /// The most probable point of the trajectory; `None` where none has any probability.
        best: Option<Reservation>,
        /// What was asked for.
        wanted: SuccessProbability,
        /// The probability that has to be forecast for that, because forecasts of `wanted` were
        /// kept less often lately; otherwise the same.
        asked: f64,
        /// A later time at which the wanted probability is to be had, as forecast now: the nearest
        /// that was found.
        later: Option<UnixTime>,
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
                StartBlocker::Dependency => {
                    "--dependency lets other jobs decide when this one starts; give only one of it and --reserve-at"
                }
                StartBlocker::Held => "a held job does not start by itself; submit it without --hold or --priority=0",
                StartBlocker::Reservation => "the job runs inside a reservation already; give only one of --reservation and --reserve-at",
            }),
            NotReserved::BeyondLimit { needed, longest: Bound { by: Limit::UnknownPartition, .. } } => {
                write!(f, "its time limit would be padded to {needed}, and nothing is known of one of its partitions")
            }
            NotReserved::BeyondLimit { needed, longest } => {
                write!(f, "its time limit would be padded to {needed}, and {} is {}", longest.by, longest.value)
            }
            NotReserved::BeyondDeadline => f.write_str("the reserved time plus the time limit lies beyond --deadline"),
            NotReserved::SlurmReservation { .. } => {
                f.write_str("Slurm's own reservations, such as for maintenance, leave too few nodes of the partition for it")
            }
            NotReserved::Crowded { part, .. } => {
                write!(f, "with it reservations would take {:.0} % of the CPUs at that time", 100.0 * part)
            }
            NotReserved::OthersWait(weighed) => write!(f, "the reservation {weighed}"),
            NotReserved::NotOffered => f.write_str("this partition offers no virtual reservations"),
            NotReserved::NoWaits => f.write_str("no past waits are known for this partition"),
            NotReserved::Unlikely { best, wanted, asked, .. } => {
                let best = best.map_or(0.0, |best| best.point.probability);
                write!(f, "it would be kept with probability {best:.2} at best, {wanted} is wanted")?;
                if asked - wanted.wanted() >= 0.005 { f.write_str(", and promises of that were kept less often lately") } else { Ok(()) }
            }
        }
    }
}

/// Decides on a reservation of the submission at a size. Of one that is refused it says, where
/// `tell_later`, when it could be had.
pub(super) fn reserve<F: WaitForecaster + QueueForecaster>(
    context: &DerivedInputs<'_, F>,
    size: Size,
    limit: Option<Seconds>,
    reserved: UnixTime,
    wanted: SuccessProbability,
    tell_later: bool,
) -> Result<Reservation, NotReserved> {
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
    if submission.tie == Some(super::FixedSizeReason::Heterogeneous) {
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
    let anywhere = Reservable {
        forecasts: context.forecasts,
        shape: context.shape(size, Some(limit)),
        now: context.moment(Seconds::ZERO),
        longest_limit: longest.map(|longest| longest.value),
    };
    let ahead = reserved - context.now;
    let probability = wanted.wanted();
    let partition = &context.partition;
    let later = || {
        let later = if tell_later { later_time(&anywhere, partition, ahead, wanted) } else { None };
        later.map(|ahead| context.now + ahead)
    };
    let in_the_way = |by: SlurmReservation| NotReserved::SlurmReservation { from: by.start(), until: by.end(), later: later() };
    let (job, beside) = anywhere.beside(partition, reserved).map_err(in_the_way)?;
    if let Some(part) = job.crowded(ahead, wanted) {
        return Err(NotReserved::Crowded { part, wanted, later: later() });
    }
    let asked = job.level_to_ask(ahead, probability);
    let (options, policy) = (&submission.asked, &context.policy);
    // What was forecast too high lately is promised as that much less.
    let as_kept = |point: TrajectoryPoint| {
        let told = job.probability_to_tell(ahead, probability, point.probability);
        TrajectoryPoint { probability: told, ..point }
    };
    let at_point = |point| Reservation {
        at: reserved,
        point: as_kept(point),
        wanted: probability,
        nodes: size.nodes,
        early_start: options.early_start.unwrap_or(policy.early_start),
        if_missed: options.if_missed.unwrap_or(policy.if_missed),
    };
    let found = latest_point(&job, ahead, asked, Begins::BeforeReserved);
    let found = found.or_else(|best| {
        let is_better = |point: &TrajectoryPoint| best.is_none_or(|best| point.probability > best.probability);
        match at_once(context, &job, ahead).filter(is_better) {
            Some(point) if point.probability >= asked => Ok(point),
            better => Err(better.or(best)),
        }
    });
    let best = match found {
        Ok(point) => return Ok(at_point(point)),
        Err(Some(best)) if wanted == SuccessProbability::Best => return Ok(at_point(best)),
        Err(best) => best,
    };
    if let Some(by) = beside.filter(|_| latest_point(&anywhere, ahead, asked, Begins::BeforeReserved).is_ok()) {
        return Err(in_the_way(by));
    }
    if let Some(beyond) = beyond_limit(&job, ahead, asked, longest) {
        return Err(beyond);
    }
    if best.is_none() && context.forecasts.wait(&job.shape, None).is_none() {
        return Err(NotReserved::NoWaits);
    }
    Err(NotReserved::Unlikely { best: best.map(at_point), wanted, asked, later: later() })
}

/// How far ahead a reservation can be had that can't be had `ahead` from now, at a later time. In
/// whole minutes, or in whole hours beyond a day, because a user is to type it.
///
/// What a job needs that is eligible now says where to begin. A job that becomes eligible later is
/// forecast from another state, so that the time is tried before it is told, and others behind it:
/// where one of Slurm's reservations is in the way, as long behind that.
fn later_time<F: WaitForecaster>(
    job: &Reservable<'_, F>,
    partition: &Partition<'_>,
    ahead: Seconds,
    wanted: SuccessProbability,
) -> Option<Seconds> {
    let now = job.now.now;
    let probability = wanted.wanted();
    // Whoever wants the best there is takes any.
    let had = |point: Result<TrajectoryPoint, Option<TrajectoryPoint>>| match point {
        Ok(point) => Some(point),
        Err(best) => best.filter(|_| wanted == SuccessProbability::Best),
    };
    let point = had(latest_point(job, LONGEST_AHEAD, probability, Begins::Now));
    let needed = point.map_or(Seconds::ZERO, |point| now + LONGEST_AHEAD - point.begin);
    let mut later = needed.max(ahead + STEP);
    for _ in 0..MOST_LATER_TIMES {
        let unit = if later < DAY { 60 } else { 3_600 };
        let rounded = Seconds(later.0.saturating_add(unit - 1) / unit * unit);
        if rounded > LONGEST_AHEAD {
            return None;
        }
        let in_the_way = match job.beside(partition, now + rounded) {
            Ok((job, in_the_way)) => {
                let asked = job.level_to_ask(rounded, probability);
                let has_room = job.crowded(rounded, wanted).is_none();
                if has_room && had(latest_point(&job, rounded, asked, Begins::BeforeReserved)).is_some() {
                    return Some(rounded);
                }
                in_the_way
            }
            Err(in_the_way) => Some(in_the_way),
        };
        // Limits are whole minutes, so that up to one of the padding is lost.
        let behind = in_the_way.map(|by| by.end() - now + needed + LIMIT_ROUNDING).filter(|behind| *behind > rounded);
        later = behind.unwrap_or(Seconds(rounded.0 + rounded.0 / 4));
    }
    None
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
