//! Decisions: what to do with a submission. It is molded, deferred, padded for a virtual
//! reservation, made to begin with the window of a firm slot, admitted with a deadline, refused, or
//! left.
//!
//! [`gate()`] says whether there is anything to decide, [`Bounds`] what limits forbid, and
//! [`decide`] decides. What it asks of a cluster besides forecasts is in [`site`], [`limits`],
//! [`slurm_reservations`] and [`shared_nodes`]. The published methods of admission by deadline are
//! [`deadline_methods`], and what the site's policy says of firm slots is in [`firm`]. What became
//! of submissions is counted by [`counters`], [`refusals`] and [`standing`].
//!
//! The same inputs give the same decision. Nothing here reads a clock or a file, and nothing knows
//! how any of it is stored.

mod admission;
mod bounds;
mod choice;
pub mod counters;
pub mod deadline_methods;
mod deferral;
pub mod firm;
mod gain;
mod gate;
mod least_gain;
pub mod limits;
mod line;
mod molding;
mod others;
mod record;
pub mod refusals;
mod reservation;
pub mod shared_nodes;
pub mod site;
pub mod slurm_reservations;
pub mod standing;
mod submission;

pub use admission::{Admitted, AlternativeSize, Alternatives, FARTHEST_DEADLINE, GivenShare, LeftToSlurm, NotAdmitted, SharingRequest};
pub use bounds::{Bound, Bounds, Limit};
pub use choice::{Offer, ScalingModel, earliest, limit_at, sizes_to_try};
pub use deferral::{Deferral, NotDeferred};
pub use gain::gain;
pub use gate::{Arrival, FilterState, Gate, MOST_AHEAD, NoState, Timeliness, Why, gate};
pub use least_gain::LeastGain;
pub use molding::{Candidate, NotMolded};
pub use others::Weighed;
pub use reservation::{
    Begins, JointOption, JointReservation, LONGEST_AHEAD, NotReserved, Reservable, ReservationCost, STEP, TrajectoryPoint, WORTH_A_CHANGE,
    joint_reservation, latest_point, probabilities_to_ask, trajectory,
};
pub use submission::{
    FixedSizeReason, NodeRange, OutsidePlan, Placement, StartBlocker, Submission, TimeLimit, configured_policy, governing,
};

use crate::decisions::site::Partition;
use crate::forecasts::forecast::{
    Association, Claimed, Claims, Forecaster, JobShape, Moment, RunTimeForecast, RunTimeForecaster, RunTimeQuestion,
};
use crate::forecasts::reliability::WaitSourceReason;
use admission::{DeadlinePlan, Verdict};
use firm::{AskedSlot, NoSlot};
use job_types::options::{EarlyStart, IfMissed, Mode, SuccessProbability, UserOptions};
use job_types::policy::{Policy, When};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use molding::{Assumption, Molding};
use std::cell::OnceCell;

/// Room that is left between our begin time plus time limit and a deadline: limits are whole
/// minutes.
const LIMIT_ROUNDING: Seconds = Seconds(60);

/// Why something is left that the guard holds back.
const HELD_BACK: &str = "held back here by the guard: it does not pay in replays of the last weeks";

/// Everything that a decision depends on.
#[derive(Clone, Copy, Debug)]
pub struct DecisionInputs<'a, F> {
    /// The source of forecasts.
    pub forecasts: &'a F,
    /// The partition that the forecasts are about.
    pub partition: Partition<'a>,
    /// What the site allows; of several partitions, the most careful.
    pub policy: Policy,
    /// The submission.
    pub submission: &'a Submission<'a>,
    /// What bounds its rewrites.
    pub bounds: Bounds,
    /// The time.
    pub now: UnixTime,
    /// The user's jobs that were decided about since the forecasts were made.
    pub claimed: Claimed,
}

/// A situation with what follows from it at once.
#[derive(Debug)]
struct DerivedInputs<'a, F> {
    forecasts: &'a F,
    partition: Partition<'a>,
    policy: Policy,
    submission: &'a Submission<'a>,
    bounds: Bounds,
    now: UnixTime,
    claimed: Claimed,
    association: Association,
    size: Size,
    limit: Option<Seconds>,
    /// Read when the first question about a deadline needs it, and once for all of them.
    deadline_plan: &'a OnceCell<Option<DeadlinePlan>>,
}

impl<'a, F> DerivedInputs<'a, F> {
    /// The job at a size, with a limit.
    fn shape(&self, size: Size, limit: Option<Seconds>) -> JobShape {
        JobShape { user: self.submission.user, association: self.association, partition: self.partition.index, size, limit }
    }

    /// What is known of the run time of the job at a size and with a limit.
    fn past_at(&self, size: Size, limit: Option<Seconds>) -> Option<RunTimeForecast<'a>>
    where
        F: RunTimeForecaster,
    {
        let (user, unit) = (self.submission.user, self.submission.unit());
        let asked = RunTimeQuestion { user, partition: self.partition.index, unit, count: size.count(unit), limit };
        self.forecasts.run_time(&asked)
    }

    /// How long from now the job may begin as it was written.
    fn delay_as_written(&self) -> Seconds {
        self.submission.begin.map_or(Seconds::ZERO, |begin| (begin - self.now).max(Seconds::ZERO))
    }

    /// The moment at which it becomes eligible, so long from now.
    fn moment(&self, delay: Seconds) -> Moment {
        Moment { now: self.now, at: self.now, claimed: self.claimed }.at(self.now + delay)
    }
}

/// A virtual reservation that is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reservation {
    /// The reserved time.
    pub at: UnixTime,
    /// When the job becomes eligible, with which time limit, and how likely it is to run at the
    /// reserved time.
    pub point: TrajectoryPoint,
    /// The probability that was asked for, 0 to 1; 1 where the best one was.
    pub wanted: f64,
    /// The nodes that it is of.
    pub nodes: u32,
    /// What the job does if it starts early.
    pub early_start: EarlyStart,
    /// What becomes of the job if it has not started by the reserved time.
    pub if_missed: IfMissed,
}

impl Reservation {
    /// Returns what the reservation costs beyond the job itself.
    #[must_use]
    pub fn cost(&self) -> ReservationCost {
        ReservationCost::of(&self.point, self.at, self.early_start, self.nodes)
    }
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
    /// Whether it asks for a firm slot: `None` where it does not, and where a default window asks
    /// for nothing.
    pub slot: Option<Result<AskedSlot, NoSlot>>,
    /// Why a default window asks for nothing for this job, where it does.
    pub ignored_window: Option<NoSlot>,
    /// Whether it is admitted with its deadline: `None` where that was not in question.
    pub admission: Option<Result<Admitted, NotAdmitted>>,
    /// Why its deadline stays Slurm's own, where the site admits jobs by a rule.
    pub left_to_slurm: Option<LeftToSlurm>,
    /// The nodes that it is given a share of, where it is admitted by shares.
    pub given_share: Option<GivenShare>,
    /// Why the default forecasts of waits are not in force in the partition, where they were
    /// measured.
    pub fallback: Option<WaitSourceReason>,
    /// A deadline that would be kept with the site's probability; `None` unless the job's own is
    /// likely missed.
    pub deadline_that_holds: Option<UnixTime>,
    /// The shortest time limit that the job was written with (`--time-min`).
    pub shortest_limit: Option<Seconds>,
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
    /// Another shortest time limit, in whole minutes.
    pub shortest_limit: Option<Seconds>,
    /// The time until which the job waits on its nodes if it starts early.
    pub hold_until: Option<UnixTime>,
    /// Whether Slurm's own deadline is taken out: Slurm cancels on an estimated start, and refuses
    /// what would end later only at its time limit. The job's record keeps it.
    pub clears_deadline: bool,
}

/// Why a submission is refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Refusal {
    /// The reservation that the job asked for can't be given.
    NotReserved(NotReserved),
    /// The firm slot that the job asked for can't be asked for.
    NoSlot(NoSlot),
    /// The job's deadline can't be kept.
    NotAdmitted(NotAdmitted),
}

impl Changes {
    /// Whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Changes::default()
    }
}

impl Decision {
    /// Returns what the decision changes in the job: nothing below the mode `enforce`.
    #[must_use]
    pub fn changes(&self) -> Changes {
        if self.mode == Mode::Enforce { self.proposed() } else { Changes::default() }
    }

    /// Returns what the decision would change in the job in the mode `enforce`.
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
        if let Some(Ok(slot)) = &self.slot {
            changes.begin = slot.begin;
        }
        changes.shortest_limit = self.stretched_shortest_limit();
        if let Some(limit) = self.given_share.as_ref().and_then(|given| given.limit) {
            changes.limit = Some(limit);
            // A limit that is cut back leaves no time for what others have of the CPUs.
            changes.shortest_limit = self.shortest_limit.map(|_| limit);
        }
        if let Some(Ok(admitted)) = &self.admission {
            changes.clears_deadline = true;
            changes.begin = changes.begin.max(admitted.begin);
        }
        changes
    }

    /// The shortest time limit that goes with what is decided, or backfilling could cut the job
    /// back to less than was forecast for it: longer in proportion on fewer CPUs and wherever the
    /// limit is longer, no shorter than the run time that was forecast there, and padded as the
    /// limit is.
    fn stretched_shortest_limit(&self) -> Option<Seconds> {
        let shortest = self.shortest_limit?;
        let (written, decided) = (self.as_written.as_ref()?, self.decided.as_ref()?);
        let mut stretched = shortest;
        if written.count != decided.count {
            let part = |longer: i64, shorter: i64| longer as f64 / shorter.max(1) as f64;
            let by_cpus = part(i64::from(written.size.cpus), i64::from(decided.size.cpus));
            let by_limit = decided.limit.zip(written.limit).map_or(1.0, |(decided, written)| part(decided.0, written.0));
            let in_proportion = Seconds((shortest.0 as f64 * by_cpus.max(by_limit).max(1.0)).ceil() as i64);
            let (_, longest_run) = decided.run_time_range;
            // Without past runs a job is taken to run for its whole time limit, which is no
            // forecast.
            let is_forecast = decided.count < written.count && decided.run_time_jobs > 0;
            let needed = if is_forecast { in_proportion.max(longest_run) } else { in_proportion };
            stretched = decided.limit.map_or(needed, |limit| needed.min(limit)).max(shortest);
        }
        if let Some(Ok(reservation)) = &self.reservation {
            let padded = reservation.point.padded_limit;
            let padding = decided.limit.map_or(Seconds::ZERO, |limit| padded - limit);
            stretched = Seconds(stretched.0 + padding.0.max(0)).rounded_up_to_minutes().min(padded);
        }
        Some(stretched.rounded_up_to_minutes()).filter(|stretched| *stretched != shortest)
    }

    /// Why the submission is to be refused, if it is: it asked for what can't be given.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        if self.mode < Mode::Enforce { None } else { self.proposed_refusal() }
    }

    /// Why it would be refused if it went as far as enforcing.
    #[must_use]
    pub fn proposed_refusal(&self) -> Option<Refusal> {
        match (&self.slot, &self.reservation, &self.admission) {
            (Some(Err(why)), ..) => Some(Refusal::NoSlot(*why)),
            (_, Some(Err(why)), _) => Some(Refusal::NotReserved(*why)),
            (.., Some(Err(why))) => Some(Refusal::NotAdmitted(*why)),
            _ => None,
        }
    }

    /// Whether there was nothing to decide: the submission has a default window, which asks for
    /// nothing for this job, and nothing else is in question.
    #[must_use]
    pub fn is_about_nothing(&self, submission: &Submission<'_>, policy: &Policy) -> bool {
        self.ignored_window.is_some() && !is_in_question_without_slot(&submission.asked, submission.deadline.is_some(), policy)
    }

    /// What the job, decided about in this situation, takes from those that are decided about after
    /// it; `None` where it goes on as it was written or could never run.
    #[must_use]
    pub fn claims<F>(&self, situation: &DecisionInputs<'_, F>) -> Option<Claims> {
        let DecisionInputs { partition, submission, .. } = situation;
        let (size, limit, run_time) = match &self.decided {
            _ if self.mode < Mode::Enforce || self.refusal().is_some() => return None,
            Some(decided) => (decided.size, decided.limit, decided.run_time),
            None => {
                // Nothing is forecast of the job, so that it takes its whole size and time limit.
                let limit = submission.limit_in(partition);
                (submission.size(partition), limit, limit.unwrap_or(Seconds::ZERO))
            }
        };
        let claims = Claims::of(size.cpus, limit, run_time);
        let claims = match &self.reservation {
            Some(Ok(reservation)) => claims.reserved_until(reservation.at + limit.unwrap_or(Seconds::ZERO)),
            _ => claims,
        };
        partition.could_run(size, limit).then_some(claims)
    }

    /// The probability of being done by the deadline as decided, where there is one.
    #[must_use]
    pub fn deadline_probability(&self) -> Option<f64> {
        self.decided.as_ref().and_then(|decided| decided.deadline_probability)
    }
}

/// Whether there is anything to decide about a submission under a policy.
fn is_in_question(asked: &UserOptions, has_deadline: bool, policy: &Policy) -> bool {
    asked.reserve_window.is_some() || is_in_question_without_slot(asked, has_deadline, policy)
}

/// Whether there is anything to decide about a submission besides a firm slot.
fn is_in_question_without_slot(asked: &UserOptions, has_deadline: bool, policy: &Policy) -> bool {
    asked.auto_mold || asked.auto_defer || asked.reserve_at.is_some() || has_deadline || policy.is_transparent()
}

/// Whether to look for a later begin: not for somebody who waits at a terminal, unless they asked.
fn is_to_be_deferred(submission: &Submission<'_>, policy: &Policy) -> bool {
    wanted(policy.defer, submission.asked.auto_defer) && (submission.asked.auto_defer || !submission.is_interactive)
}

/// The mode that holds for a submission: its user may only lower the site's.
#[must_use]
pub fn mode_of(asked: &UserOptions, policy: &Policy) -> Mode {
    asked.mode.map_or(policy.mode, |asked| asked.min(policy.mode))
}

/// Decides. The order is: which size, then whether that size can be reserved, or else whether it is
/// better deferred. A job that asks for a firm slot keeps its size, and begins with its window.
///
/// The state can be anything that forecasts. Here 40 of 256 CPUs are free now and all of them in
/// three hours, and jobs of 64 CPUs have run for ten minutes: so a job of 16 nodes is done soonest
/// on the ten that are free.
///
/// ```
/// # use job_types::number::{PartitionIndex, UserId};
/// # use job_types::options::{UserOptions, Mode};
/// # use job_types::policy::Policy;
/// # use job_types::size::{Size, Unit};
/// # use job_types::time::{Seconds, UnixTime};
/// # use predictor_core::decisions::{Bounds, NodeRange, DecisionInputs, Submission, decide};
/// # use predictor_core::forecasts::forecast::*;
/// # use predictor_core::decisions::limits::Applying;
/// # use predictor_core::decisions::site::{Partition, Site};
/// # struct State {
/// #     steps: [(UnixTime, u32); 2],
/// #     run_times: [RunTimeRange; 1],
/// #     batch: Partition<'static>,
/// # }
/// # impl Site for State {
/// #     fn partition(&self, _name: &str) -> Option<Partition<'_>> {
/// #         Some(self.batch)
/// #     }
/// #     fn default_partition(&self) -> Option<Partition<'_>> {
/// #         Some(self.batch)
/// #     }
/// #     fn site_policy(&self) -> Policy {
/// #         self.batch.policy
/// #     }
/// #     fn accounting_limits(
/// #         &self,
/// #         _: UserId,
/// #         _: Option<&str>,
/// #         _: Option<&str>,
/// #         _: PartitionIndex,
/// #     ) -> Applying {
/// #         Applying::default()
/// #     }
/// # }
/// # impl WaitForecaster for State {
/// #     fn wait(&self, _: &JobShape, _: Option<&Moment>) -> Option<WaitForecast<'_>> {
/// #         None
/// #     }
/// #     fn association(&self, _: UserId, _: Option<&str>, _: Option<&str>) -> Association {
/// #         Association::default()
/// #     }
/// # }
/// # impl RunTimeForecaster for State {
/// #     fn run_time(&self, asked: &RunTimeQuestion) -> Option<RunTimeForecast<'_>> {
/// #         (asked.count == 16).then_some(RunTimeForecast {
/// #             jobs: 20,
/// #             longest_limit: None,
/// #             ranges: &self.run_times,
/// #         })
/// #     }
/// #     fn past_sizes(
/// #         &self,
/// #         _: UserId,
/// #         _: PartitionIndex,
/// #         _: Unit,
/// #     ) -> impl Iterator<Item = u32> + '_ {
/// #         [16].into_iter()
/// #     }
/// # }
/// # impl QueueForecaster for State {
/// #     fn queue_plan(&self, _: PartitionIndex) -> Option<FreePlan<'_>> {
/// #         Some(FreePlan { steps: (&self.steps[..]).into(), pending_jobs: 3 })
/// #     }
/// #     fn expected_ends(&self, _: PartitionIndex) -> impl Iterator<Item = UnixTime> + '_ {
/// #         std::iter::empty()
/// #     }
/// # }
/// let now = UnixTime(1_800_000_000);
/// let policy = Policy { mode: Mode::Enforce, ..Policy::default() };
/// let batch = Partition { cpus: 256, nodes: 64, whole_nodes: true, ..Partition::default() };
/// let steps = [(now, 40), (now + Seconds(10_800), 256)];
/// let state = State { steps, run_times: [RunTimeRange::new(600, 600, 1.0)], batch };
/// let nodes = Some(NodeRange { least: 16, most: 16 });
/// let asked = UserOptions { auto_mold: true, ..UserOptions::default() };
/// let submission = &Submission { nodes, asked, ..Submission::default() };
/// let (bounds, claimed) = (Bounds::of(submission, &batch, &state), Claimed::default());
/// let partition = batch;
/// let situation =
///     DecisionInputs { forecasts: &state, partition, policy, submission, bounds, now, claimed };
/// assert_eq!(decide(&situation).changes().size, Some((Size { nodes: 10, cpus: 40 }, None)));
/// ```
pub fn decide<F>(situation: &DecisionInputs<'_, F>) -> Decision
where
    F: Forecaster,
{
    let DecisionInputs { forecasts, partition, policy, submission, bounds, now, claimed } = *situation;
    let size = submission.size(&partition);
    let limit = bounds.limit();
    let association = forecasts.association(submission.user, submission.account, submission.qos);
    let deadline_plan = &OnceCell::new();
    let context = DerivedInputs { forecasts, partition, policy, submission, bounds, now, claimed, association, size, limit, deadline_plan };
    let asked = &submission.asked;
    let reserved = asked.reserve_at.map(UnixTime);

    let (slot, ignored_window) = match firm::asked_slot(&context) {
        Some(Err(why)) if asked.is_default_window => (None, Some(why)),
        slot => (slot, None),
    };
    let firm_begin = slot.and_then(Result::ok).map(|slot| slot.begin.unwrap_or(now));
    let has_slot = firm_begin.is_some();

    let plain = Assumption { delay: context.delay_as_written(), starts_then: false };
    let assumption = match (reserved, firm_begin) {
        (Some(reserved), _) => Assumption { delay: (reserved - now).max(Seconds::ZERO), starts_then: true },
        (None, Some(begin)) => Assumption { delay: begin - now, ..plain },
        (None, None) => plain,
    };
    let count = size.count(submission.unit());
    let written = |assumption| molding::candidate(&context, count, assumption).map(|(candidate, _)| candidate);
    let mold = wanted(policy.mold, asked.auto_mold) && !policy.held_back.molding && !has_slot;
    // Molding without a reservation looks at the size as written anyway.
    let mut as_written = if mold && reserved.is_none() { None } else { written(&plain) };
    let mut decided = if reserved.is_some() || has_slot { written(&assumption) } else { as_written.clone() };

    let mut is_by_plan = false;
    let molding = mold.then(|| {
        let Molding { as_written: scored, better, by_plan } = molding::best(&context, &assumption);
        is_by_plan = by_plan && better.is_ok();
        // Scored against the others, the size as written tells more than its forecast alone.
        if reserved.is_none() {
            as_written.clone_from(&scored);
            decided = scored;
        }
        better.map(|better| decided = Some(better))
    });
    let mut molding = match (asked.auto_mold, policy.mold) {
        (is_asked, _) if has_slot => is_asked.then_some(Err(NotMolded::FirmSlot)),
        (true, When::Never) => Some(Err(NotMolded::NotOffered)),
        _ if policy.held_back.molding && wanted(policy.mold, asked.auto_mold) => Some(Err(NotMolded::HeldBack)),
        _ => molding,
    };

    let reservation = reserved.map(|reserved| {
        let wanted = asked.success_probability.unwrap_or(SuccessProbability::AtLeast(policy.success_probability));
        let at_size = |candidate: &Option<Candidate>, tell_earliest| {
            let (size, limit) = candidate.as_ref().map_or((size, limit), |candidate| (candidate.size, candidate.limit));
            let given = reservation::reserve(&context, size, limit, reserved, wanted, tell_earliest)?;
            let forbidden = candidate.as_ref().and_then(|candidate| reservation::forbid(&context, &given, candidate));
            forbidden.map_or(Ok(given), |weighed| Err(NotReserved::OthersWait(weighed)))
        };
        let is_molded = matches!(molding, Some(Ok(())));
        let mut reservation = at_size(&decided, !is_molded);
        if reservation.is_err() && is_molded {
            // A better size that can't be had in time is no reason to refuse the size as written.
            let as_asked = written(&assumption);
            reservation = at_size(&as_asked, true);
            if reservation.is_ok() {
                decided = as_asked;
                molding = Some(Err(NotMolded::NotReservable));
            }
        }
        reservation
    });

    let mut deferral = None;
    if has_slot {
        deferral = asked.auto_defer.then_some(Err(NotDeferred::FirmSlot));
    } else if reserved.is_none() && is_to_be_deferred(submission, &policy) {
        let result = match &decided {
            _ if policy.held_back.deferral => Err(NotDeferred::HeldBack),
            _ if admission::starts_at_once(&context) => Err(NotDeferred::Immediate),
            // The plan chose the size, and in it nothing that becomes eligible later starts sooner.
            Some(decided) if is_by_plan => Err(NotDeferred::GainTooSmall {
                now: decided.response(),
                deferred: decided.response(),
                least: LeastGain::of_deferral(&policy),
            }),
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

    let likely_missed = decided.as_ref().and_then(|decided| decided.deadline_probability).is_some_and(|p| p < policy.deadline_probability);
    let deadline_that_holds =
        if likely_missed { molding::deadline_that_holds(&context, &plain, policy.deadline_probability) } else { None };
    let mut verdict = admission::admission(&context, decided.as_ref());
    let is_changed = matches!(molding, Some(Ok(()))) || matches!(deferral, Some(Ok(_)));
    if matches!(verdict, Verdict::Judged(Err(_))) && is_changed {
        // Another size or begin that does not do is no reason to refuse the job as written.
        let as_asked = written(&plain);
        let judged = admission::admission(&context, as_asked.as_ref());
        if matches!(judged, Verdict::Judged(Ok(_))) {
            (verdict, decided) = (judged, as_asked);
            molding = molding.map(|molding| molding.and(Err(NotMolded::NotAdmitted)));
            deferral = deferral.map(|deferral| deferral.and(Err(NotDeferred::BeyondDeadline)));
        }
    }
    let (admission, left_to_slurm, given_share) = match verdict {
        Verdict::NotInQuestion => (None, None, None),
        Verdict::Left(left) => (None, Some(left), None),
        Verdict::Judged(Ok(granted)) => (Some(Ok(granted.admitted)), None, granted.share),
        Verdict::Judged(Err(why)) => (Some(Err(why)), None, None),
    };
    let fallback = forecasts.fallback(partition.index);
    Decision {
        mode: mode_of(asked, &policy),
        as_written,
        decided,
        molding,
        deferral,
        reservation,
        slot,
        ignored_window,
        admission,
        left_to_slurm,
        given_share,
        fallback,
        deadline_that_holds,
        shortest_limit: submission.shortest_limit,
    }
}

fn wanted(when: When, asked: bool) -> bool {
    when == When::Always || (asked && when == When::Asked)
}
