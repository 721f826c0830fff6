//! Slots that may still move after they were granted.

use job_types::time::{Seconds, UnixTime};

use super::cycle::Cycle;
use super::execution_plan::{ExecutionPlan, Placed};
use super::probing::Probing;
use super::request::Request;
use super::slot::Slot;
use super::workload::{Granted, Workload};

/// Until when and for what a granted slot moves inside its window. Röblitz and Rzadca 2006 fix a
/// slot when it is granted; jobs that come and go afterwards make another one the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moving {
    /// How long before its start a slot no longer moves.
    pub notice: Seconds,
    /// How often slots are ranked anew.
    pub every: Seconds,
    /// By how much the jobs of the workload have to end sooner for it, all together.
    pub least: Seconds,
}

impl Default for Moving {
    /// Each hour, until its start, for what spares all jobs ten minutes.
    fn default() -> Self {
        Self { notice: Seconds::ZERO, every: Seconds(3_600), least: Seconds(600) }
    }
}

impl Moving {
    /// Whether a slot may still move.
    #[must_use]
    pub fn is_movable(&self, slot: Slot, now: UnixTime) -> bool {
        slot.start - self.notice > now
    }

    /// Returns the slot to which a granted one moves: that with which the jobs end soonest by plans
    /// with a placeholder for each slot of its window, if they end sooner by [`Moving::least`] than
    /// with the present one. One that delays them by less stays. The workload and the cycle are
    /// without the present one.
    #[must_use]
    pub fn better(&self, (workload, cycle): (&Workload, &Cycle), request: &Request, present: Slot, probing: Probing) -> Option<Slot> {
        let placeholder = |slot| Granted { slot, takes: request.takes };
        let completions = |slot| ExecutionPlan::of(workload, Placed::Reservation(placeholder(slot))).completions;
        let original = ExecutionPlan::of(workload, Placed::Nothing).completions;
        let with_present = completions(present);
        if with_present - original < self.least {
            return None;
        }
        let now = workload.now;
        let may_move = |slot: &Slot| *slot != present && slot.start >= now + self.notice && cycle.has_room_for(&placeholder(*slot));
        let others = probing.slots(request, now).into_iter().filter(may_move);
        let best = others.map(|slot| (completions(slot), slot)).min()?;
        (with_present - best.0 >= self.least).then_some(best.1)
    }

    /// Whether a reservation begins now, where there is room for it at the end of a cycle, and not
    /// in its later slot. It does unless plans know of jobs that come: then only if the jobs end no
    /// later for it. The workload is without it.
    #[must_use]
    pub fn begins_early(workload: &Workload, now: Granted, later: Granted) -> bool {
        let completions = |granted| ExecutionPlan::of(workload, Placed::Reservation(granted)).completions;
        workload.coming.is_empty() || completions(now) <= completions(later)
    }
}
