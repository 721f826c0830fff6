//! What is counted of firm slots.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use job_types::slot::SlotState;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use slurm_sys::client::controller::ReservationError;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabel {
    state: &'static str,
}

/// What is counted of firm slots. A clone counts into the same numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct FirmSlotMetrics {
    slots: Family<StateLabel, Gauge>,
    moves: Counter,
    refusals: Counter,
    looking: Gauge<f64, AtomicU64>,
}

impl FirmSlotMetrics {
    pub(crate) fn registered(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        metrics.slots([].into_iter());
        registry.register("firm_slots", "Firm slots that are kept in the daemon's file, by how far they have come", metrics.slots.clone());
        registry.register("firm_slot_moves", "Moves of firm slots, replacements among them", metrics.moves.clone());
        let refusals = "Reservations for firm slots, and moves of them, that slurmctld has refused";
        registry.register("firm_slot_refusals", refusals, metrics.refusals.clone());
        registry.register_with_unit(
            "firm_slots_look",
            "Time that the last look at all firm slots took",
            Unit::Seconds,
            metrics.looking.clone(),
        );
        metrics
    }

    /// Sets how many slots there are in each state.
    pub(crate) fn slots(&self, states: impl Iterator<Item = SlotState> + Clone) {
        for state in SlotState::ALL {
            let count = states.clone().filter(|other| *other == state).count();
            self.slots.get_or_create(&StateLabel { state: state.name() }).set(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }

    /// Counts a move, or that another slot is looked for in the place of one.
    pub(crate) fn moved(&self) {
        self.moves.inc();
    }

    /// Counts what slurmctld says of a reservation that was asked for or moved, where it refuses.
    pub(crate) fn answered<T>(&self, outcome: &Result<T, ReservationError>) {
        let is_refusal = |error: &ReservationError| !matches!(error, ReservationError::Away(_));
        if outcome.as_ref().err().is_some_and(is_refusal) {
            self.refusals.inc();
        }
    }

    /// Sets how long the last look at all slots took.
    pub(crate) fn looked(&self, took: Duration) {
        self.looking.set(took.as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus_client::encoding::text;

    fn served(registry: &Registry) -> String {
        let mut page = String::new();
        text::encode(&mut page, registry).unwrap();
        page
    }

    #[test]
    fn slots_are_counted_by_state_from_zero_on_and_refusals_apart_from_silence() {
        let mut registry = Registry::default();
        let metrics = FirmSlotMetrics::registered(&mut registry);
        assert_eq!(served(&registry).matches("firm_slots{state=").count(), SlotState::ALL.len());
        metrics.slots([SlotState::Movable, SlotState::Used, SlotState::Movable].into_iter());
        metrics.moved();
        metrics.answered(&Ok(()));
        metrics.answered::<()>(&Err(ReservationError::NodesBusy));
        metrics.answered::<()>(&Err(ReservationError::Overlaps));
        metrics.looked(Duration::from_millis(250));
        let page = served(&registry);
        for line in [
            "firm_slots{state=\"movable\"} 2",
            "firm_slots{state=\"used\"} 1",
            "firm_slots{state=\"lost\"} 0",
            "firm_slot_moves_total 1",
            "firm_slot_refusals_total 2",
            "firm_slots_look_seconds 0.25",
        ] {
            assert!(page.lines().any(|other| other == line), "{line} is not in {page}");
        }
    }
}
