//! What is counted of virtual reservations that were kept and missed.

use learning::PromiseOutcome;
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

/// Counts what became of reservations, once each job has ended.
#[derive(Debug, Default)]
pub(crate) struct PromiseMetrics {
    promises: Family<PromiseLabel, Counter>,
    named: NamedPartitions,
}

impl PromiseMetrics {
    pub(crate) fn registered(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register(
            "promises",
            "Virtual reservations of jobs that have ended, by whether they had their nodes in time",
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

    /// Counts the reservations of jobs that have ended, each of which is told once, with its
    /// partition.
    pub(crate) fn count<'a>(&mut self, ended: impl Iterator<Item = (&'a str, Option<&'a PromiseOutcome>)>) {
        for (partition, promise) in ended {
            let Some(promise) = promise else { continue };
            let partition = self.label(partition);
            let outcome = if promise.is_kept { "kept" } else { "missed" };
            self.promises.get_or_create(&PromiseLabel { partition, outcome }).inc();
        }
    }

    /// What a partition is counted as. Both outcomes are there from then on, so that a share can be
    /// made of them.
    fn label(&mut self, partition: &str) -> String {
        let partition = self.named.label(partition);
        for outcome in ["kept", "missed"] {
            let _at_zero = self.promises.get_or_create(&PromiseLabel { partition: partition.to_owned(), outcome });
        }
        partition.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::named_partitions::MOST_PARTITIONS;
    use job_types::time::Seconds;
    use prometheus_client::encoding::text;

    fn outcome(is_kept: bool) -> PromiseOutcome {
        PromiseOutcome { wanted: 0.9, ahead: Seconds(600), is_kept }
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
        let [kept, missed] = [true, false].map(outcome);
        metrics.count([("batch", Some(&kept)), ("batch", None), ("batch", Some(&kept)), ("long", Some(&missed))].into_iter());
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
    fn partitions_beyond_the_most_are_counted_together() {
        let mut registry = Registry::default();
        let mut metrics = PromiseMetrics::registered(&mut registry);
        let names: Vec<String> = (0..150).map(|number| format!("p{number}")).collect();
        let kept = outcome(true);
        metrics.count(names.iter().chain(&names[..1]).map(|name| (name.as_str(), Some(&kept))));
        let page = served(&registry);
        assert!(page.contains("partition=\"other partitions\",outcome=\"kept\"} 50"), "{page}");
        assert!(page.contains("partition=\"p0\",outcome=\"kept\"} 2"), "{page}");
        assert_eq!(page.matches("outcome=\"kept\"").count(), MOST_PARTITIONS + 1);
    }
}
