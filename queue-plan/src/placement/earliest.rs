//! The first slot that is free.

use super::execution_plan::{ExecutionPlan, Placed};
use super::ranking::{Probe, Ranking, Rated};

/// Whom a reservation may delay (F. Heine, M. Hovestadt, O. Kao and A. Streit, "On the Impact of
/// Reservations from the Grid on Planning-Based Resource Management", GSRM 2005).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delays {
    /// No job that waits.
    Nobody,
    /// Any job but the one at the head of the queue.
    #[default]
    Anybody,
}

/// Takes all slots that are free to be alike, so that the user's preference decides: the first of
/// them, as a rule (W. Smith, I. Foster and V. Taylor, "Scheduling with Advanced Reservations",
/// IPDPS 2000).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Earliest {
    /// Whom it may delay.
    pub delays: Delays,
}

impl Ranking for Earliest {
    fn rate(&self, probe: &Probe<'_>) -> Vec<Rated> {
        let mut slots = probe.slots();
        slots.retain(|slot| probe.cycle.has_room_for(&probe.placeholder(*slot)));
        if self.delays == Delays::Nobody && !slots.is_empty() {
            let original = ExecutionPlan::of(probe.workload, Placed::Nothing);
            slots.retain(|slot| {
                let plan = ExecutionPlan::of(probe.workload, Placed::Reservation(probe.placeholder(*slot)));
                plan.delays(&original).0 == 0
            });
        }
        slots.into_iter().map(|slot| Rated { slot, availability: 1.0 }).collect()
    }
}
