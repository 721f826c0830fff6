//! What the guard has found, as metrics.

use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use simulator::guard::state::{Change, Draw, Guard, Standing};

use crate::metrics::named_partitions::NamedPartitions;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PolicyLabel {
    partition: String,
    policy: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ChangeLabel {
    partition: String,
    policy: &'static str,
    jobs: &'static str,
    figure: &'static str,
}

/// What the guard has found.
#[derive(Debug, Default)]
pub(crate) struct GuardMetrics {
    held_back: Family<PolicyLabel, Gauge>,
    stands_badly: Family<PolicyLabel, Gauge>,
    change: Family<ChangeLabel, Gauge<f64, AtomicU64>>,
    replays: Counter,
    failures: Counter,
    last_success: Gauge,
    took: Gauge<f64, AtomicU64>,
    named: NamedPartitions,
}

impl GuardMetrics {
    pub(crate) fn registered(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register("guard_held_back", "Whether the guard holds a policy back in a partition", metrics.held_back.clone());
        registry.register(
            "guard_stands_badly",
            "Whether replays say that a policy does not pay in a partition, also where the guard only warns",
            metrics.stands_badly.clone(),
        );
        registry.register_with_unit(
            "guard_response_change",
            "Change of the time to a result by a policy in the latest replay, a part of that without it, the mean over the draws",
            Unit::Ratios,
            metrics.change.clone(),
        );
        registry.register("guard_replays", "Replays of the past by the guard that succeeded", metrics.replays.clone());
        registry.register("guard_replay_failures", "Replays of the past by the guard that failed", metrics.failures.clone());
        registry.register_with_unit(
            "guard_last_success_timestamp",
            "When the past was last replayed, as Unix time; 0 is never",
            Unit::Seconds,
            metrics.last_success.clone(),
        );
        registry.register_with_unit("guard_replay", "How long the latest replay of the past took", Unit::Seconds, metrics.took.clone());
        metrics
    }

    /// Counts a replay of the past that has ended.
    pub(crate) fn count(&self, has_succeeded: bool) {
        if has_succeeded {
            self.replays.inc()
        } else {
            self.failures.inc()
        };
    }

    /// Shows what was found.
    pub(crate) fn set(&mut self, guard: &Guard) {
        self.last_success.set(guard.last_success.map_or(0, |moment| moment.0));
        self.took.set(guard.last_try.as_ref().map_or(0.0, |last| last.took_s));
        for standing in &guard.policies {
            let (partition, policy) = (self.named.label(&standing.partition).to_owned(), standing.policy.name());
            let label = PolicyLabel { partition: partition.clone(), policy };
            self.held_back.get_or_create(&label).set(guard.is_held_back(&standing.partition, standing.policy).into());
            self.stands_badly.get_or_create(&label).set((standing.standing == Standing::Bad).into());
            let Some(draws) = standing.replays.last().map(|replay| replay.draws.as_slice()).filter(|draws| !draws.is_empty()) else {
                continue;
            };
            for jobs in ["all", "users", "others"] {
                let changes = || draws.iter().map(|draw| change_of(draw, jobs));
                let count = draws.len() as f64;
                let means =
                    [("mean", changes().map(Change::mean).sum::<f64>() / count), ("p95", changes().map(Change::p95).sum::<f64>() / count)];
                for (figure, mean) in means {
                    let label = ChangeLabel { partition: partition.clone(), policy, jobs, figure };
                    self.change.get_or_create(&label).set(mean);
                }
            }
        }
    }
}

/// What becomes of all jobs of a draw, of those of who use the policy, or of the others.
fn change_of<'a>(draw: &'a Draw, jobs: &str) -> &'a Change {
    match jobs {
        "users" => &draw.users,
        "others" => &draw.others,
        _ => &draw.all,
    }
}
