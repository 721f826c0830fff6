//! What is counted of changes of jobs after their submission.

use std::collections::BTreeMap;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use strum::VariantArray as _;
use upkeep::{AdmissionState, AdmissionWanted, ReservationState};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabel {
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabel {
    state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct WhatLabel {
    what: &'static str,
}

/// What became of a change of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum ChangeOutcome {
    /// slurmctld has made it.
    Made,
    /// The job was not as it had been read any more, and was left for the next round.
    Overtaken,
    /// It could not be made.
    Failed,
    /// Somebody else has changed the job, which is left alone from then on.
    Stopped,
}

impl ChangeOutcome {
    fn label(self) -> OutcomeLabel {
        OutcomeLabel { outcome: self.into() }
    }
}

/// What is counted of changes of jobs.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChangeMetrics {
    changes: Family<OutcomeLabel, Counter>,
    reservations: Family<StateLabel, Gauge>,
    admissions: Family<StateLabel, Gauge>,
    deadline_changes: Family<WhatLabel, Counter>,
}

impl ChangeMetrics {
    pub(crate) fn registered(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        for outcome in ChangeOutcome::VARIANTS {
            let _at_zero = metrics.changes.get_or_create(&outcome.label());
        }
        for &what in AdmissionWanted::NAMES {
            let _at_zero = metrics.deadline_changes.get_or_create(&WhatLabel { what });
        }
        registry.register("changes", "Changes of jobs after their submission, by what became of them", metrics.changes.clone());
        registry.register("reservations", "Jobs in the queue that carry a reservation", metrics.reservations.clone());
        registry.register(
            "deadline_upkeep",
            "Jobs in the queue that were admitted with a deadline, by how they stand",
            metrics.admissions.clone(),
        );
        let of_deadlines = "Changes of jobs for their deadlines that slurmctld has made, by what was wanted";
        registry.register("deadline_changes", of_deadlines, metrics.deadline_changes.clone());
        metrics
    }

    /// Counts a change.
    pub(crate) fn change(&self, outcome: ChangeOutcome) {
        self.changes.get_or_create(&outcome.label()).inc();
    }

    /// Sets how many reservations there are in each state.
    pub(crate) fn reservations(&self, states: &BTreeMap<ReservationState, i64>) {
        for (state, count) in states {
            self.reservations.get_or_create(&StateLabel { state: state.name() }).set(*count);
        }
    }

    /// Counts a change for a deadline that was made, by what was wanted.
    pub(crate) fn deadline_change(&self, what: &'static str) {
        self.deadline_changes.get_or_create(&WhatLabel { what }).inc();
    }

    /// Sets how many admitted jobs there are in each state.
    pub(crate) fn admissions(&self, states: &BTreeMap<AdmissionState, i64>) {
        for (state, count) in states {
            self.admissions.get_or_create(&StateLabel { state: state.name() }).set(*count);
        }
    }
}
