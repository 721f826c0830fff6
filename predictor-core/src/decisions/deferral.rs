//! Deferral: whether a job is done sooner when it becomes eligible later (Hariharan et al. 2020,
//! IV.B).
//!
//! Hariharan et al. compare the response predicted for a submission now with that predicted for a
//! submission at a future time. It leaves open whether the time until then counts; here it does,
//! because it is the user who waits.

use super::molding::{self, Assumption, Candidate};
use super::others::{Scales, Weighed};
use super::{DerivedInputs, HELD_BACK, LIMIT_ROUNDING, LeastGain, StartBlocker};
use crate::forecasts::forecast::Forecaster;
use job_types::time::{Seconds, UnixTime};
use std::fmt;

/// Another job's end this soon after the last one, as a part of the time until that, is waited for
/// as well (IV.B).
const SOON_AFTER: f64 = 0.05;

/// A deferral that pays.
#[derive(Clone, Debug)]
pub struct Deferral {
    /// When the job becomes eligible.
    pub begin: UnixTime,
    /// Forecast response if it is eligible at once.
    pub response_now: Seconds,
    /// Forecast response, from now, if it is eligible at `begin`.
    pub response_deferred: Seconds,
}

/// Why a job is not deferred.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NotDeferred {
    /// The site defers none in this partition.
    NotOffered,
    /// The guard holds deferral back in this partition.
    HeldBack,
    /// The job carries a begin time of its own.
    OwnBegin,
    /// The job must start at once.
    Immediate,
    /// The job is a component of a heterogeneous job, whose components start together.
    Heterogeneous,
    /// A firm slot is asked for, whose window says when the job may begin.
    FirmSlot,
    /// Something else decides when the job starts.
    Obstacle(StartBlocker),
    /// No running job is expected to end soon enough.
    NoEndExpected,
    /// Nothing is known of waits here.
    NoWaits,
    /// Counted from the deferred begin, the job's time limit would reach beyond its deadline, or
    /// the job has no time limit.
    BeyondDeadline,
    /// The job would gain too little, or nothing.
    GainTooSmall {
        /// Forecast response now.
        now: Seconds,
        /// Forecast response when deferred.
        deferred: Seconds,
        /// The least that a deferral has to gain.
        least: LeastGain,
    },
    /// Others would wait longer for it than the site allows.
    OthersWait(Weighed),
}

impl fmt::Display for NotDeferred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotDeferred::NotOffered => f.write_str("this partition defers no jobs"),
            NotDeferred::HeldBack => f.write_str(HELD_BACK),
            NotDeferred::OwnBegin => f.write_str("it has a begin time of its own"),
            NotDeferred::Immediate => f.write_str("it must start at once"),
            NotDeferred::Heterogeneous => f.write_str("it is part of a heterogeneous job"),
            NotDeferred::FirmSlot => f.write_str("the window of its firm slot says when it may begin"),
            NotDeferred::Obstacle(obstacle) => f.write_str(match obstacle {
                StartBlocker::Dependency => "it waits for other jobs (--dependency)",
                StartBlocker::Held => "it is held",
                StartBlocker::Reservation => "it runs inside a reservation",
            }),
            NotDeferred::NoEndExpected => f.write_str("no running job is expected to end within the longest deferral"),
            NotDeferred::NoWaits => f.write_str("no past waits are known for this partition"),
            NotDeferred::BeyondDeadline => f.write_str("it would reach beyond its deadline"),
            NotDeferred::GainTooSmall { now, deferred, .. } if deferred >= now => f.write_str("waiting gains nothing"),
            NotDeferred::OthersWait(weighed) => write!(f, "waiting {weighed}"),
            NotDeferred::GainTooSmall { now, deferred, least } => {
                write!(f, "waiting gains too little: done about {} sooner than in {now}, and {least} are wanted here", *now - *deferred)
            }
        }
    }
}

/// The future time of IV.B: from the first expected end on, as long as another follows within 5 %
/// of the time until it.
fn future_time<F: Forecaster>(context: &DerivedInputs<'_, F>, longest: Seconds) -> Option<UnixTime> {
    let mut future: Option<UnixTime> = None;
    for end in context.forecasts.expected_ends(context.partition.index).filter(|end| *end > context.now) {
        let reach = match future {
            None => context.now + longest,
            Some(future) => {
                let until = (future - context.now).0 as f64;
                (future + Seconds((until * SOON_AFTER) as i64)).min(context.now + longest)
            }
        };
        if end > reach {
            break;
        }
        future = Some(end);
    }
    future
}

/// Decides whether to defer: compares `now`, what is forecast for the job as it would be submitted
/// now, with the job at the future time, molded anew where `mold` says so.
pub(super) fn defer<F>(context: &DerivedInputs<'_, F>, now: &Candidate, mold: bool) -> Result<(Deferral, Candidate), NotDeferred>
where
    F: Forecaster,
{
    let submission = context.submission;
    if submission.is_immediate {
        return Err(NotDeferred::Immediate);
    }
    if submission.tie == Some(super::FixedSizeReason::Heterogeneous) {
        return Err(NotDeferred::Heterogeneous);
    }
    if let Some(obstacle) = submission.obstacle {
        return Err(NotDeferred::Obstacle(obstacle));
    }
    if submission.begin.is_some_and(|begin| begin > context.now) {
        return Err(NotDeferred::OwnBegin);
    }
    if now.wait.is_none() {
        return Err(NotDeferred::NoWaits);
    }
    let longest = submission.asked.max_defer.map_or(context.policy.max_defer, |most| Seconds(most).min(context.policy.max_defer));
    let begin = future_time(context, longest).ok_or(NotDeferred::NoEndExpected)?;
    // The forecast at a later moment takes the CPUs to be free that are expected to be by then.
    let assumption = Assumption { delay: begin - context.now, starts_then: false };
    let written = || molding::candidate(context, now.count, &assumption).map(|(candidate, _)| candidate);
    let then = if mold {
        let molding = molding::best(context, &assumption);
        molding.better.ok().or(molding.as_written)
    } else {
        written()
    };
    let then = then.ok_or(NotDeferred::NoWaits)?;
    let reaches = then.limit.map(|limit| begin + limit + LIMIT_ROUNDING);
    if let Some(deadline) = submission.deadline
        && reaches.is_none_or(|reaches| reaches > deadline)
    {
        return Err(NotDeferred::BeyondDeadline);
    }
    let (response_now, response_deferred) = (now.response(), then.response());
    let least = LeastGain::of_deferral(&context.policy);
    if !least.is_reached(response_now, response_deferred) {
        return Err(NotDeferred::GainTooSmall { now: response_now, deferred: response_deferred, least });
    }
    let [area_now, area_then] = [now, &then].map(|candidate| candidate.area(context.now));
    if let Some(weighed) = Scales::new(context).forbid(response_now - response_deferred, area_now, area_then) {
        return Err(NotDeferred::OthersWait(weighed));
    }
    Ok((Deferral { begin, response_now, response_deferred }, then))
}
