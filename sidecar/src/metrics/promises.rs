//! What is counted of virtual reservations that were kept and missed.

use std::sync::Arc;

use job_types::number::JobId;
use job_types::promise::PromiseState;
use job_types::time::UnixTime;
use learning::{PromiseOutcome, ReservedTimes};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use crate::metrics::named_partitions::NamedPartitions;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PromiseLabel {
    partition: String,
    outcome: &'static str,
}

/// Counts what became of reservations, once for each job and reserved time.
#[derive(Debug, Default)]
pub(crate) struct PromiseMetrics {
    promises: Family<PromiseLabel, Counter>,
    /// What is known of each, with its partition.
    known: ReservedTimes<Arc<str>>,
    named: NamedPartitions,
}

impl PromiseMetrics {
    pub(crate) fn registered(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register(
            "promises",
            "Virtual reservations whose time has passed, by whether the job had its nodes then",
            metrics.promises.clone(),
        );
        metrics
    }

    /// Has partitions of the cluster counted by name, from zero on.
    pub(crate) fn know<'a>(&mut self, partitions: impl Iterator<Item = &'a str>) {
        for partition in partitions {
            self.label(partition);
        }
    }

    /// Counts the reservations whose time has passed until `now`, by all that was told of them so
    /// far and these runs, each with its partition.
    pub(crate) fn count<'a>(&mut self, runs: impl Iterator<Item = (JobId, &'a Arc<str>, Option<&'a PromiseOutcome>)>, now: UnixTime) {
        for (job, partition, promise) in runs {
            if let Some(promise) = promise {
                self.known.observe(job, promise, Arc::clone(partition));
            }
        }
        for (outcome, partition) in self.known.due(now) {
            let partition = self.label(&partition);
            self.promises.get_or_create(&PromiseLabel { partition, outcome: outcome.state.name() }).inc();
        }
    }

    /// What a partition is counted as. Both outcomes are there from then on, so that a share can be
    /// made of them.
    fn label(&mut self, partition: &str) -> String {
        let partition = self.named.label(partition);
        for outcome in [PromiseState::Kept, PromiseState::Missed].map(PromiseState::name) {
            let _at_zero = self.promises.get_or_create(&PromiseLabel { partition: partition.to_owned(), outcome });
        }
        partition.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::named_partitions::MOST_PARTITIONS;
    use prometheus_client::encoding::text;

    const AT: UnixTime = UnixTime(1_000);
    const PASSED: UnixTime = UnixTime(1_001);

    fn outcome(state: PromiseState) -> PromiseOutcome {
        PromiseOutcome { wanted: 0.9, told: 0.93, given: UnixTime(400), at: AT, state }
    }

    /// Tells the metrics a run of each of several jobs.
    fn tell(metrics: &mut PromiseMetrics, runs: &[(u32, &str, PromiseState)]) {
        let runs: Vec<_> = runs.iter().map(|(job, partition, state)| (JobId(*job), Arc::from(*partition), outcome(*state))).collect();
        metrics.count(runs.iter().map(|(job, partition, outcome)| (*job, partition, Some(outcome))), PASSED);
    }

    fn served(registry: &Registry) -> String {
        let mut page = String::new();
        text::encode(&mut page, registry).unwrap();
        page
    }

    #[test]
    fn reservations_are_counted_by_partition_and_whether_they_were_kept() {
        let mut registry = Registry::default();
        let mut metrics = PromiseMetrics::registered(&mut registry);
        metrics.know(["batch", "idle"].into_iter());
        let [kept, missed] = [PromiseState::Kept, PromiseState::Missed];
        tell(&mut metrics, &[(1, "batch", kept), (2, "batch", kept), (3, "long", missed)]);
        let page = served(&registry);
        for line in [
            "promises_total{partition=\"batch\",outcome=\"kept\"} 2",
            "promises_total{partition=\"batch\",outcome=\"missed\"} 0",
            "promises_total{partition=\"idle\",outcome=\"kept\"} 0",
            "promises_total{partition=\"long\",outcome=\"kept\"} 0",
            "promises_total{partition=\"long\",outcome=\"missed\"} 1",
        ] {
            assert!(page.contains(line), "{page}");
        }
    }

    #[test]
    fn a_job_that_had_its_nodes_early_was_requeued_and_ran_late_counts_once_as_missed() {
        let mut registry = Registry::default();
        let mut metrics = PromiseMetrics::registered(&mut registry);
        for state in [PromiseState::Open, PromiseState::Missed, PromiseState::Missed] {
            tell(&mut metrics, &[(1, "batch", state)]);
        }
        let page = served(&registry);
        for line in ["outcome=\"kept\"} 0", "outcome=\"missed\"} 1"] {
            assert!(page.contains(&format!("promises_total{{partition=\"batch\",{line}")), "{page}");
        }
    }

    #[test]
    fn partitions_beyond_the_most_are_counted_together() {
        let mut registry = Registry::default();
        let mut metrics = PromiseMetrics::registered(&mut registry);
        for job in 0..151 {
            tell(&mut metrics, &[(job, &format!("p{}", job % 150), PromiseState::Kept)]);
        }
        let page = served(&registry);
        assert!(page.contains("partition=\"other partitions\",outcome=\"kept\"} 50"), "{page}");
        assert!(page.contains("partition=\"p0\",outcome=\"kept\"} 2"), "{page}");
        assert_eq!(page.matches("outcome=\"kept\"").count(), MOST_PARTITIONS + 1);
    }
}
