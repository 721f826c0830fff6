//! What Prometheus is told of the site's own rules.

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use rules_compiler::in_force::LoadState;

/// What is measured.
#[derive(Debug, Default)]
pub(crate) struct RuleMetrics {
    rules: Gauge,
    broken: Gauge,
    since: Gauge,
}

impl RuleMetrics {
    /// All of it at zero, in a registry.
    pub(crate) fn registered(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register("rules", "Rules of the site that are in force", metrics.rules.clone());
        registry.register(
            "rules_broken",
            "Whether the files of rules can't be used, so that the rules before stay in force",
            metrics.broken.clone(),
        );
        registry.register_with_unit(
            "rules_loaded_timestamp",
            "Since when the rules are in force, in Unix time; 0 where there are none",
            Unit::Seconds,
            metrics.since.clone(),
        );
        metrics
    }

    /// Sets what became of the rules.
    pub(crate) fn set(&self, state: &LoadState) {
        let rules = state.in_force.as_ref().map_or(0, |in_force| in_force.rules);
        self.rules.set(i64::try_from(rules).unwrap_or(i64::MAX));
        self.since.set(state.in_force.as_ref().map_or(0, |in_force| in_force.since));
        self.broken.set(state.is_broken().into());
    }

    /// Nothing becomes of the files of rules.
    pub(crate) fn fail(&self) {
        self.broken.set(1);
    }
}
