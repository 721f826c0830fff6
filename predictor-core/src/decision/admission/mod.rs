//! Admission of jobs with deadlines: what is admitted is to be done in time, and what can't be is
//! refused at once, with what could be had (after Yeo and Buyya 2006).
//!
//! The methods that share nodes and the order by deadline stand in [`crate::admission`]; here they
//! are asked about a submission.

mod edf;
mod outcome;
mod probability;

pub use outcome::{DeadlineState, GivenDeadline, given_deadline};

use super::{Candidate, Context, Obstacle};
use crate::forecast::Forecaster;
use job_types::policy::Admission;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use std::fmt;

/// The farthest ahead that a deadline is promised.
pub const FARTHEST_DEADLINE: Seconds = Seconds(366 * 86_400);

/// A job that is admitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Admitted {
    /// The rule that admitted it.
    pub by: Admission,
    /// When it is to be done.
    pub deadline: UnixTime,
    /// The probability of that, where the rule forecasts one.
    pub probability: Option<f64>,
    /// The probability that was wanted; `None` where the rule asks for none.
    pub wanted: Option<f64>,
}

/// What could be had in the place of a deadline that can't be kept; each by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Alternatives {
    /// The earliest deadline that can be kept, of those that were tried.
    pub deadline: Option<UnixTime>,
    /// A size at which this deadline can be kept.
    pub size: Option<Size>,
    /// A time limit with which this deadline can be kept.
    pub limit: Option<Seconds>,
}

/// Why a job with a deadline is not admitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NotAdmitted {
    /// The deadline has passed.
    InThePast,
    /// The deadline is too far ahead to be forecast.
    TooFar,
    /// Something else decides when it starts.
    Obstacle(Obstacle),
    /// Its time limit does not fit before the deadline, even if it starts at once.
    BeyondLimit {
        /// What could be had.
        alternatives: Alternatives,
    },
    /// It is not likely enough to be done in time.
    Unlikely {
        /// The probability that was forecast.
        probability: f64,
        /// The probability that is wanted.
        wanted: f64,
        /// What could be had.
        alternatives: Alternatives,
    },
    /// Nothing is known of waits here.
    NoWaits,
}

impl fmt::Display for NotAdmitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotAdmitted::InThePast => f.write_str("the deadline has already passed"),
            NotAdmitted::TooFar => f.write_str("the deadline is more than a year ahead"),
            NotAdmitted::Obstacle(obstacle) => f.write_str(match obstacle {
                Obstacle::Dependency => "--dependency lets other jobs decide when this one starts; give only one of it and --deadline",
                Obstacle::Held => "a held job does not start by itself; submit it without --hold or --priority=0",
                Obstacle::Reservation => "the job runs inside a reservation of Slurm's, of which no forecast is made",
            }),
            NotAdmitted::BeyondLimit { .. } => f.write_str("its time limit does not fit before the deadline"),
            NotAdmitted::Unlikely { probability, wanted, .. } => {
                write!(f, "done by the deadline with probability {probability:.2}, less than {wanted}")
            }
            NotAdmitted::NoWaits => f.write_str("nothing is known of waits here"),
        }
    }
}

impl NotAdmitted {
    /// What could be had in its place.
    #[must_use]
    pub fn alternatives(&self) -> Alternatives {
        match self {
            NotAdmitted::BeyondLimit { alternatives } | NotAdmitted::Unlikely { alternatives, .. } => *alternatives,
            _ => Alternatives::default(),
        }
    }
}

/// Whether a job is admitted as it was decided; `None` where that is not in question: it has no
/// deadline, the partition admits by no rule, or it has a virtual reservation, which is a promise
/// of its own.
pub(super) fn admission<F>(context: &Context<'_, F>, decided: Option<&Candidate>) -> Option<Result<Admitted, NotAdmitted>>
where
    F: Forecaster,
{
    let submission = context.submission;
    let deadline = submission.deadline.filter(|_| submission.asked.reserve_at.is_none())?;
    let by = context.policy.admission;
    if by == Admission::Off {
        return None;
    }
    let ahead = deadline - context.now;
    let refusal = match submission.obstacle {
        _ if ahead <= Seconds::ZERO => Some(NotAdmitted::InThePast),
        _ if ahead > FARTHEST_DEADLINE => Some(NotAdmitted::TooFar),
        Some(obstacle) => Some(NotAdmitted::Obstacle(obstacle)),
        None => None,
    };
    if let Some(refusal) = refusal {
        return Some(Err(refusal));
    }
    match by {
        Admission::Off | Admission::Libra | Admission::LibraRisk => None,
        Admission::Edf => Some(edf::admission(context, decided, deadline)),
        Admission::Probability => Some(probability::admission(context, decided, deadline)),
    }
}
