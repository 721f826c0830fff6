//! What to do with a submission: mold it, defer it, pad it for a virtual reservation, refuse it, or leave it.
//!
//! The same inputs give the same decision. Nothing here reads a clock or a file.

mod deferral;
mod line;
mod molding;
mod reservation;
mod submission;

pub use deferral::{Deferral, NotDeferred};
pub use molding::{Candidate, NotMolded};
pub use reservation::{LONGEST_AHEAD, NotReserved, STEP, TrajectoryPoint, trajectory};
pub use submission::{NodeRange, Submission, Tie, TimeLimit};

use crate::forecast::{RunTimeForecaster, WaitForecaster};
use crate::options::{EarlyStart, Mode};
use crate::policy::{Policy, When};
use crate::size::Size;
use crate::snapshot::Partition;
use crate::time::{Seconds, UnixTime};
use molding::{Assumption, Molding};

/// Room that is left between our begin time plus time limit and a deadline: limits are whole minutes.
const LIMIT_ROUNDING: Seconds = Seconds(60);

/// Everything that a decision depends on.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a, F> {
    /// Who forecasts.
    pub forecasts: &'a F,
    /// The partition that the forecasts are about.
    pub partition: Partition<'a>,
    /// What the site allows; of several partitions, the most careful.
    pub policy: Policy,
    /// The submission.
    pub submission: &'a Submission<'a>,
    /// The time.
    pub now: UnixTime,
    /// CPUs of the jobs that were decided about in this partition since the forecasts were made.
    pub claimed_cpus: u64,
}

/// A situation with what follows from it at once.
#[derive(Debug)]
struct Context<'a, F> {
    forecasts: &'a F,
    partition: Partition<'a>,
    policy: Policy,
    submission: &'a Submission<'a>,
    now: UnixTime,
    claimed_cpus: u64,
    size: Size,
    limit: Option<Seconds>,
}

impl<F> Context<'_, F> {
    /// CPUs of the partition's other jobs, running, pending or claimed.
    fn demand_cpus(&self) -> f64 {
        let (running, pending) = self.partition.demand_cpus();
        running.saturating_add(pending).saturating_add(self.claimed_cpus) as f64
    }

    /// The pressure on the partition with this job in it.
    fn pressure(&self, demand_cpus: f64, size: Size) -> Option<f64> {
        let cpus = self.partition.cpus();
        (cpus > 0).then(|| (demand_cpus + f64::from(size.cpus)) / f64::from(cpus))
    }
}

/// A virtual reservation that is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reservation {
    /// The reserved time.
    pub at: UnixTime,
    /// When the job becomes eligible, with which time limit, and how likely it is to run at the reserved time.
    pub point: TrajectoryPoint,
    /// What the job does if it starts early.
    pub early_start: EarlyStart,
}

/// What was decided about a submission, and why.
#[derive(Clone, Debug)]
pub struct Decision {
    /// How far it goes.
    pub mode: Mode,
    /// What is forecast for the job as it was written, were it eligible as written.
    pub as_written: Option<Candidate>,
    /// What is forecast for the job as decided.
    pub decided: Option<Candidate>,
    /// Whether it is molded: `None` where that was not in question.
    pub molding: Option<Result<(), NotMolded>>,
    /// Whether it is deferred.
    pub deferral: Option<Result<Deferral, NotDeferred>>,
    /// Whether it is reserved.
    pub reservation: Option<Result<Reservation, NotReserved>>,
    /// For a deadline that is likely missed: one that would be kept with the site's probability.
    pub deadline_that_holds: Option<UnixTime>,
}

/// What a decision changes in a job description.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Changes {
    /// Another size, with its tasks where the submission gives them.
    pub size: Option<(Size, Option<u32>)>,
    /// When the job becomes eligible.
    pub begin: Option<UnixTime>,
    /// Another time limit, in whole minutes.
    pub limit: Option<Seconds>,
    /// Until when the job waits on its nodes if it starts early.
    pub hold_until: Option<UnixTime>,
}

impl Changes {
    /// Whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Changes::default()
    }
}

impl Decision {
    /// What it changes: nothing unless it goes as far as enforcing.
    #[must_use]
    pub fn changes(&self) -> Changes {
        if self.mode == Mode::Enforce { self.proposed() } else { Changes::default() }
    }

    /// What it would change if it went as far as enforcing.
    #[must_use]
    pub fn proposed(&self) -> Changes {
        let mut changes = Changes::default();
        if let (Some(written), Some(decided)) = (&self.as_written, &self.decided)
            && decided.count != written.count
        {
            changes.size = Some((decided.size, decided.tasks));
            changes.limit = decided.limit.filter(|limit| written.limit != Some(*limit)).map(Seconds::rounded_up_to_minutes);
        }
        if let Some(Ok(deferral)) = &self.deferral {
            changes.begin = Some(deferral.begin);
        }
        if let Some(Ok(reservation)) = &self.reservation {
            changes.begin = Some(reservation.point.begin);
            changes.limit = Some(reservation.point.padded_limit);
            changes.hold_until = (reservation.early_start == EarlyStart::Wait).then_some(reservation.at);
        }
        changes
    }

    /// Why the submission is to be refused, if it is: it asked for what can't be given.
    #[must_use]
    pub fn refusal(&self) -> Option<&NotReserved> {
        match &self.reservation {
            Some(Err(why)) if self.mode == Mode::Enforce => Some(why),
            _ => None,
        }
    }

    /// The probability of being done by the deadline as decided, where there is one.
    #[must_use]
    pub fn deadline_probability(&self) -> Option<f64> {
        self.decided.as_ref().and_then(|decided| decided.deadline_probability)
    }
}

/// Whether there is anything to decide about a submission under a policy.
#[must_use]
pub fn is_in_question(submission: &Submission<'_>, policy: &Policy) -> bool {
    let asked = &submission.asked;
    asked.auto_mold || asked.auto_defer || asked.reserve_at.is_some() || submission.deadline.is_some() || policy.is_transparent()
}

/// The mode that holds for a submission: its user may only lower the site's.
#[must_use]
pub fn mode_of(submission: &Submission<'_>, policy: &Policy) -> Mode {
    submission.asked.mode.map_or(policy.mode, |asked| asked.min(policy.mode))
}

/// Decides. The order is: which size, then whether that size can be reserved, or else whether it is better deferred.
pub fn decide<F>(situation: &Situation<'_, F>) -> Decision
where
    F: WaitForecaster + RunTimeForecaster,
{
    let Situation { forecasts, partition, policy, submission, now, claimed_cpus } = *situation;
    let size = submission.size(&partition);
    let limit = submission.limit_in(&partition);
    let context = Context { forecasts, partition, policy, submission, now, claimed_cpus, size, limit };
    let asked = &submission.asked;
    let reserved = asked.reserve_at.map(UnixTime);

    let delay = submission.begin.map_or(Seconds::ZERO, |begin| (begin - now).max(Seconds::ZERO));
    let plain = Assumption { demand_cpus: context.demand_cpus(), delay, starts_then: false };
    let assumption = match reserved {
        Some(reserved) => Assumption { delay: (reserved - now).max(Seconds::ZERO), starts_then: true, ..plain },
        None => plain,
    };
    let mut as_written = molding::candidate(&context, size.count(submission.unit()), &plain).map(|(candidate, _)| candidate);
    let mut decided = match reserved {
        Some(_) => molding::candidate(&context, size.count(submission.unit()), &assumption).map(|(candidate, _)| candidate),
        None => as_written.clone(),
    };

    let mold = wanted(policy.mold, asked.auto_mold);
    let molding = mold.then(|| {
        let Molding { as_written: scored, better } = molding::best(&context, &assumption);
        // Scored against the others, the size as written tells more than its forecast alone.
        if let (Some(scored), None) = (scored, reserved) {
            as_written = Some(scored.clone());
            decided = Some(scored);
        }
        better.map(|better| decided = Some(better))
    });
    let mut molding = match (asked.auto_mold, policy.mold) {
        (true, When::Never) => Some(Err(NotMolded::NotOffered)),
        _ => molding,
    };

    let reservation = reserved.map(|reserved| {
        let wanted = asked.success_probability.unwrap_or(policy.success_probability);
        let early_start = asked.early_start.unwrap_or(policy.early_start);
        let at_size = |candidate: &Option<Candidate>| {
            let (size, limit) = candidate.as_ref().map_or((size, limit), |candidate| (candidate.size, candidate.limit));
            reservation::reserve(&context, size, limit, reserved, wanted)
        };
        let mut point = at_size(&decided);
        if point.is_err() && matches!(molding, Some(Ok(()))) {
            // A better size that can't be had in time is no reason to refuse the size as written.
            let written = molding::candidate(&context, size.count(submission.unit()), &assumption).map(|(candidate, _)| candidate);
            if let Ok(kept) = at_size(&written) {
                decided = written;
                molding = Some(Err(NotMolded::NotReservable));
                point = Ok(kept);
            }
        }
        point.map(|point| Reservation { at: reserved, point, early_start })
    });

    let mut deferral = None;
    if reserved.is_none() && wanted(policy.defer, asked.auto_defer) {
        let result = match &decided {
            Some(decided) => deferral::defer(&context, decided, matches!(molding, Some(Ok(())))),
            None => Err(NotDeferred::NoWaits),
        };
        deferral = Some(result.map(|(deferral, then)| {
            decided = Some(then);
            deferral
        }));
    } else if asked.auto_defer && policy.defer == When::Never {
        deferral = Some(Err(NotDeferred::NotOffered));
    }
    // A deferral molds anew, and may come back to the size as written.
    if matches!(molding, Some(Ok(())))
        && let (Some(written), Some(decided)) = (&as_written, &decided)
        && written.count == decided.count
    {
        molding = Some(Err(NotMolded::AlreadyBest));
    }

    let likely_missed = decided.as_ref().and_then(|decided| decided.deadline_probability).is_some_and(|p| p < policy.success_probability);
    let deadline_that_holds = if likely_missed { molding::deadline_that_holds(&context, &plain, policy.success_probability) } else { None };
    Decision { mode: mode_of(submission, &policy), as_written, decided, molding, deferral, reservation, deadline_that_holds }
}

fn wanted(when: When, asked: bool) -> bool {
    when == When::Always || (asked && when == When::Asked)
}
