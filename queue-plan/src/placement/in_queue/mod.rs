//! Where whole nodes can be reserved beside the queue of a cluster, and what that does to those who
//! wait.
//!
//! The plans ORG, RSV and JOB of Röblitz and Rzadca 2006 (section 4.2) are passes over the queue
//! here ([`Pass`]), with partitions, priorities and expected run times. A reservation keeps others
//! off by their time limits, as slurmctld does: nobody starts on its nodes who might run into it.
//!
//! A slot conflicts with jobs that run and with other reservations where too few nodes of the
//! partition are free of them, until their time limits, for all of it; and with the head of the
//! queue where that one would start beyond the start that time limits give it (the lock of
//! section 2). Then its availability is 0. By expected run times the head may start later all the
//! same, and then counts among those that are delayed.
//!
//! Of an array each waiting task counts that a pass places (at most
//! [`MOST_TASKS`](crate::MOST_TASKS)).

mod effect;
mod free_nodes;
mod head;
#[cfg(test)]
mod tests;

use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::queue_plan::{ExpectedStart, PlanObstacle};

use self::free_nodes::FreeNodes;
use self::head::{Head, alone_with_head};
use super::preference::Preference;
use super::probing::Probing;
use super::ranking::Rated;
use super::request::Request;
use super::slot::Slot;
use super::what_if::WhatIf;
use crate::grid::expected_start;
use crate::occupancy::Occupancy;
use crate::pass::Pass;
use crate::schedule::Assumption;
use crate::state::{PendingJob, Reservation, State};
pub use effect::Harm;

/// Whole nodes that are wanted for a time inside a window.
#[derive(Clone, Debug)]
pub struct NodesWanted {
    /// The partition, by its place in [`State::partitions`].
    pub partition: u16,
    /// How many nodes.
    pub nodes: u32,
    /// How long the reservation lasts.
    pub duration: Seconds,
    /// When it begins at the earliest.
    pub earliest_start: UnixTime,
    /// When it ends at the latest.
    pub latest_end: UnixTime,
    /// How long before a reservation its nodes have to be free: a job that could just end before it
    /// starts later than at the very moment of the plan, and then does not start at all.
    pub lead: Seconds,
    /// Which of several slots that are equally good is taken.
    pub preference: Preference,
    /// The job that would wait for the nodes without a reservation (plan JOB).
    pub job: PendingJob,
}

/// A slot, and what a reservation of it would do.
#[derive(Clone, Debug, PartialEq)]
pub struct SlotInQueue {
    /// When it is.
    pub slot: Slot,
    /// How well it is to be had, from 0, not at all, to 1 (equation 4).
    pub availability: f64,
    /// What it conflicts with.
    pub conflict: Option<SlotConflict>,
    /// What it does to those who wait; nothing is known of one that conflicts.
    pub harm: Option<Harm>,
}

/// What a slot conflicts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotConflict {
    /// With running jobs, which may run until their time limits, or with reservations: this many
    /// nodes are free for all of it.
    Nodes {
        /// How many nodes of the partition are free for the whole slot.
        free: u32,
    },
    /// With the job at the head of the queue, which would start beyond the start that time limits
    /// give it.
    Head,
}

/// What is found in a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The slots, in the order of time.
    pub slots: Vec<SlotInQueue>,
    /// The place of the best of them; `None` where none is to be had.
    pub best: Option<usize>,
    /// When the job would start that waits as any other; or why that is not known.
    pub ordinary_start: Result<ExpectedStart, PlanObstacle>,
}

/// Looks for slots in a window, and says what each does to the queue of a state. That takes about
/// one pass over the queue for each slot.
#[must_use]
pub fn probe(state: &State, wanted: &NodesWanted, probing: Probing, ranking: WhatIf) -> Found {
    let expected = Occupancy::of(state, Assumption::Expected);
    let limit = expected.under(Assumption::Limit);
    let mut original = Pass::from(&expected);
    let ordinary_start = ordinary_start(&limit, &mut original, &wanted.job);
    let request = wanted.request(state.now);
    let mut slots = probing.slots(&request, state.now);
    let lead = |start: UnixTime| if start > state.now { wanted.lead } else { Seconds::ZERO };
    let as_job = ordinary_start.ok().map(|start| Slot::of(start.expected + lead(start.expected), wanted.duration));
    let as_job = as_job.filter(|slot| request.may_start(slot.start) && !slots.contains(slot));
    slots.extend(as_job);
    slots.sort_unstable();
    let free = FreeNodes::of(state, wanted.partition);
    let alone = alone_with_head(&limit, wanted.partition);
    let head = alone.as_ref().and_then(Head::of);
    let plan = |slot: &Slot| {
        let reservation = reservation(&free, wanted.nodes, wanted.kept_for(*slot, state.now))?;
        if head.as_ref().is_some_and(|head| head.is_delayed(&reservation)) {
            return Err(SlotConflict::Head);
        }
        let with = Pass::from(&expected.with_reservation(reservation));
        Ok((effect::outcome(state, &with), Harm::of(state, wanted.partition, &original, &with, slot.start)))
    };
    let planned: Vec<_> = slots.iter().map(|slot| (*slot, plan(slot))).collect();
    let outcomes = planned.iter().filter_map(|(slot, plan)| Some((*slot, plan.as_ref().ok()?.0))).collect();
    // A job behind all others moves none of them.
    let rated = ranking.rated(outcomes, effect::outcome(state, &original), None);
    let availability = |slot: Slot| rated.iter().find(|rated| rated.slot == slot).map_or(0.0, |rated| rated.availability);
    let slots: Vec<SlotInQueue> = planned
        .into_iter()
        .map(|(slot, plan)| SlotInQueue {
            slot,
            availability: availability(slot),
            conflict: plan.as_ref().err().copied(),
            harm: plan.ok().map(|(_, harm)| harm),
        })
        .collect();
    Found { best: best(&slots, wanted.preference), slots, ordinary_start }
}

/// What a reservation of nodes from a moment on does to those who wait, where it has been granted
/// already: the lock of the head of the queue is then no conflict, and the head counts among those
/// that are delayed. `None` where too few nodes are free of running jobs and of other reservations.
/// The state is without it.
#[must_use]
pub fn harm_of_granted(state: &State, wanted: &NodesWanted, start: UnixTime) -> Option<Harm> {
    let slot = Slot::of(start, wanted.duration);
    let free = FreeNodes::of(state, wanted.partition);
    // A job that began before it was granted may run until its very start.
    let reservation = [wanted.kept_for(slot, state.now), slot].into_iter().find_map(|kept| reservation(&free, wanted.nodes, kept).ok())?;
    let expected = Occupancy::of(state, Assumption::Expected);
    let (original, with) = (Pass::from(&expected), Pass::from(&expected.with_reservation(reservation)));
    Some(Harm::of(state, wanted.partition, &original, &with, slot.start))
}

/// A reservation of so many nodes that are free for all of a time.
fn reservation(free: &FreeNodes, nodes: u32, kept: Slot) -> Result<Reservation, SlotConflict> {
    let all = free.during(kept);
    let found = u32::try_from(all.len()).unwrap_or(u32::MAX);
    if found < nodes {
        return Err(SlotConflict::Nodes { free: found });
    }
    let nodes = all.into_iter().take(nodes as usize).collect();
    Ok(Reservation { start: kept.start, end: kept.end, nodes, keeps: None })
}

impl NodesWanted {
    /// From when to when nodes have to be free for a slot.
    fn kept_for(&self, slot: Slot, now: UnixTime) -> Slot {
        Slot { start: (slot.start - self.lead).max(slot.start.min(now)), end: slot.end }
    }

    fn request(&self, now: UnixTime) -> Request {
        Request {
            submitted: now,
            duration: self.duration,
            earliest_start: self.earliest_start,
            latest_end: self.latest_end,
            takes: self.job.asks,
            preference: self.preference,
        }
    }
}

/// The place of the slot that is tried first, if one is to be had.
#[must_use]
pub fn best(slots: &[SlotInQueue], preference: Preference) -> Option<usize> {
    let rated = |slot: &SlotInQueue| Rated { slot: slot.slot, availability: slot.availability };
    let to_be_had = slots.iter().enumerate().filter(|(_, slot)| slot.availability > 0.0);
    to_be_had.min_by(|(_, one), (_, other)| rated(one).compare(&rated(other), preference)).map(|(place, _)| place)
}

/// When a job would start behind all that wait, under the three assumptions of run times.
fn ordinary_start(limit: &Occupancy<'_>, original: &mut Pass<'_>, job: &PendingJob) -> Result<ExpectedStart, PlanObstacle> {
    let under = |assumption| Pass::from(&limit.under(assumption)).start_behind_all(job);
    Ok(expected_start([under(Assumption::Optimistic)?, original.start_behind_all(job)?, under(Assumption::Limit)?]))
}
