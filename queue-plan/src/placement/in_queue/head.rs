//! The job at the head of the queue, which a reservation must not keep beyond the start that time
//! limits give it.

use std::collections::BTreeSet;

use job_types::time::UnixTime;

use crate::occupancy::Occupancy;
use crate::pass::{MOST_TASKS, Pass};
use crate::schedule::{Assumption, Schedule};
use crate::state::{PendingJob, Reservation, State};

/// The most jobs and tasks of arrays before the head that are kept beside it. They are placed again
/// for each slot, so that a probe of a hundred slots would take seconds where thousands start now.
const MOST_BEFORE_HEAD: u32 = 1_000;

/// The job at the head of the queue. Of an array it is the first task that does not start now.
pub(super) struct Head<'s> {
    /// What stands in its own state, by time limits.
    stands: Occupancy<'s>,
    /// When it starts there.
    start: UnixTime,
}

impl<'s> Head<'s> {
    /// The head in a state of its own ([`alone_with_head`]).
    pub(super) fn of(alone: &'s State) -> Option<Self> {
        let stands = Occupancy::of(alone, Assumption::Limit);
        let start = last_start(&stands)?;
        Some(Self { stands, start })
    }

    /// Whether a reservation keeps it beyond its start.
    pub(super) fn is_delayed(&self, reservation: &Reservation) -> bool {
        last_start(&self.stands.with_reservation(reservation.clone())).is_none_or(|start| start > self.start)
    }
}

/// When the last task of the last job in the order starts.
fn last_start(stands: &Occupancy<'_>) -> Option<UnixTime> {
    let pass = Pass::from(stands);
    Some(pass.tasks_at(pass.starts.len().checked_sub(1)?).last()?.start)
}

/// A state with all that stands, in which only the head of the queue waits, as its last job, and
/// before it those jobs that start now (the first [`MOST_BEFORE_HEAD`] of them); `None` where the
/// queue has no head. `limit` is what stands by time limits.
///
/// The head is the first in the order of the queue that waits for nodes of a partition, or of
/// another one that has some of the same nodes, and can't start now by time limits: whoever stands
/// before it and can needs no lock. slurmctld keeps no nodes for jobs that are not eligible yet,
/// and what waits for a reservation takes nothing of what is free.
pub(super) fn alone_with_head(limit: &Occupancy<'_>, partition: u16) -> Option<State> {
    let setting = &limit.setting;
    let state = setting.state;
    let waits_here = waits_for_nodes_of(state, partition);
    let mut schedule = Schedule::clone(&limit.schedule);
    let (mut pending, mut before) = (Vec::new(), 0);
    for (.., index) in &setting.order {
        let Some((job, Ok(needs))) = setting.pending(*index) else { continue };
        if job.reservation.is_some() || job.eligible > state.now {
            continue;
        }
        let (mut start_now, mut waits) = (0, false);
        while start_now < job.tasks.clamp(1, MOST_TASKS) && !waits {
            let Some(taken) = schedule.find(&setting.places, job, needs, job.eligible) else { break };
            waits = taken.start > state.now;
            if !waits {
                schedule.take(&setting.places, &taken);
                start_now += 1;
            }
        }
        let is_head = waits && waits_here(job);
        let kept = start_now.min(MOST_BEFORE_HEAD - before);
        before += kept;
        let tasks = kept + u32::from(is_head);
        if tasks > 0 {
            pending.push(PendingJob { tasks, ..job.clone() });
        }
        if is_head {
            let State { now, nodes, partitions, reservations, running, .. } = state;
            return Some(State {
                now: *now,
                nodes: nodes.clone(),
                partitions: partitions.clone(),
                reservations: reservations.clone(),
                running: running.clone(),
                pending,
            });
        }
    }
    None
}

/// Whether a job waits for nodes of a partition, or of one that has some of the same nodes.
fn waits_for_nodes_of(state: &State, partition: u16) -> impl Fn(&PendingJob) -> bool {
    let nodes = state.partitions.get(usize::from(partition)).map_or(&[][..], |partition| &partition.nodes);
    let own: BTreeSet<u32> = nodes.iter().copied().collect();
    let shares: Vec<bool> = (0u16..)
        .zip(&state.partitions)
        .map(|(place, other)| place == partition || other.nodes.iter().any(|node| own.contains(node)))
        .collect();
    move |job| job.partitions.iter().any(|place| shares.get(usize::from(*place)).copied().unwrap_or(false))
}
