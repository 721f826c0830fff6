//! What Prometheus is told of the site's own rules.

use std::fmt;
use std::path::PathBuf;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use rules_compiler::counted::{CountedRule, CountedRules};
use rules_compiler::in_force::LoadState;
use site_rules::counts::{COUNTS, RuleCount};

use crate::metrics::kept_sums;

/// The most rules that are told one by one; of further ones the sums are.
const MOST_RULES: usize = 200;
/// What stands for further rules.
const OTHERS: &str = "(others)";

/// What is measured.
#[derive(Debug, Default)]
pub(crate) struct RuleMetrics {
    rules: Gauge,
    broken: Gauge,
    since: Gauge,
}

impl RuleMetrics {
    /// All of it at zero, in a registry.
    pub(crate) fn registered(registry: &mut Registry, counters: PathBuf) -> Self {
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
        registry.register_collector(Box::new(ByRule { counters }));
        metrics
    }

    /// Sets what became of the rules.
    pub(crate) fn set(&self, state: &LoadState) {
        let rules = state.in_force.as_ref().map_or(0, |in_force| in_force.rules);
        self.rules.set(i64::try_from(rules).unwrap_or(i64::MAX));
        self.since.set(state.in_force.as_ref().map_or(0, |in_force| in_force.since));
        self.broken.set(state.is_broken().into());
    }

    /// Notes that the files of rules can't be taken up.
    pub(crate) fn fail(&self) {
        self.broken.set(1);
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RuleLabel {
    rule: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EventLabel {
    rule: String,
    event: &'static str,
}

/// What was counted of each rule, from the file that this daemon keeps. Without the file, or with a
/// damaged one, nothing is told.
#[derive(Debug)]
struct ByRule {
    counters: PathBuf,
}

impl Collector for ByRule {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let Some(counted) = kept_sums::read::<CountedRules>(&self.counters) else { return Ok(()) };
        let mut rules = counted.rules;
        let further = rules.split_off(rules.len().min(MOST_RULES));
        if !further.is_empty() {
            rules.push(CountedRule::sum_of(OTHERS, &further));
        }
        let mut events =
            encoder.encode_descriptor("rule_events", "What became of submissions and modifications, by rule", None, MetricType::Counter)?;
        for rule in &rules {
            let is_event = |(count, ..): &&(RuleCount, _, _)| !matches!(count, RuleCount::Steps | RuleCount::Nanoseconds);
            for (count, event, _) in COUNTS.iter().filter(is_event) {
                let label = EventLabel { rule: rule.name.clone(), event };
                ConstCounter::new(rule.sum(*count)).encode(events.encode_family(&label)?)?;
            }
        }
        let mut steps = encoder.encode_descriptor("rule_steps", "Steps that each rule took", None, MetricType::Counter)?;
        for rule in &rules {
            ConstCounter::new(rule.sum(RuleCount::Steps)).encode(steps.encode_family(&RuleLabel { rule: rule.name.clone() })?)?;
        }
        let mut times = encoder.encode_descriptor("rule_time", "Time that each rule took", Some(&Unit::Seconds), MetricType::Counter)?;
        for rule in &rules {
            let seconds = rule.sum(RuleCount::Nanoseconds) as f64 * 1e-9;
            ConstCounter::new(seconds).encode(times.encode_family(&RuleLabel { rule: rule.name.clone() })?)?;
        }
        Ok(())
    }
}
