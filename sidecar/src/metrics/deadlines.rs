//! What is counted of the deadlines of admitted jobs.

use std::collections::{BTreeMap, HashSet};

use job_types::promise::PromiseState;
use learning::AdmissionOutcome;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::metrics::named_partitions::NamedPartitions;

/// What becomes of deadlines whose jobs have ended.
const OUTCOMES: [PromiseState; 3] = [PromiseState::Kept, PromiseState::Missed, PromiseState::Withdrawn];

/// What deadlines of jobs in the queue are: to come, or passed.
const STATES: [PromiseState; 2] = [PromiseState::Open, PromiseState::Missed];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabel {
    partition: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabel {
    partition: String,
    state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PartitionLabel {
    partition: String,
}

/// Counts what became of deadlines, once each job has ended, and the admitted jobs in the queue.
#[derive(Debug, Default)]
pub(crate) struct DeadlineMetrics {
    deadlines: Family<OutcomeLabel, Counter>,
    admitted: Family<StateLabel, Gauge>,
    refused: Family<PartitionLabel, Counter>,
    named: NamedPartitions,
    /// The labels that have been counted so far, so that a label without jobs now goes back to
    /// zero.
    shown: HashSet<String>,
}

impl DeadlineMetrics {
    pub(crate) fn registered(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register(
            "deadlines",
            "Deadlines of admitted jobs that have ended, by whether they were done in time",
            metrics.deadlines.clone(),
        );
        registry.register(
            "admitted_jobs",
            "Jobs in the queue that were admitted with deadlines, by whether these have passed",
            metrics.admitted.clone(),
        );
        registry.register("refused_deadlines", "Submissions that were refused because of their deadlines", metrics.refused.clone());
        metrics
    }

    /// Counts the deadlines of jobs that have ended, each of which is told once, with its
    /// partition.
    pub(crate) fn count<'a>(&mut self, ended: impl Iterator<Item = (&'a str, Option<&'a AdmissionOutcome>)>) {
        for (partition, admission) in ended {
            let Some(state) = admission.map(|admission| admission.state).filter(|state| OUTCOMES.contains(state)) else { continue };
            let partition = self.label(partition);
            self.deadlines.get_or_create(&OutcomeLabel { partition, outcome: state.name() }).inc();
        }
    }

    /// Counts submissions that were refused for their deadlines.
    pub(crate) fn refused(&mut self, partition: &str, count: u64) {
        let partition = self.label(partition);
        self.refused.get_or_create(&PartitionLabel { partition }).inc_by(count);
    }

    /// Sets what is in the queue now: the partitions, and the admitted jobs with how many tasks
    /// each stands for.
    pub(crate) fn set<'a>(
        &mut self,
        partitions: impl Iterator<Item = &'a str>,
        jobs: impl Iterator<Item = (&'a str, u32, &'a AdmissionOutcome)>,
    ) {
        for partition in partitions {
            self.label(partition);
        }
        let mut counts: BTreeMap<(String, PromiseState), i64> = BTreeMap::new();
        for (partition, tasks, admission) in jobs {
            *counts.entry((self.label(partition), admission.state)).or_default() += i64::from(tasks);
        }
        for partition in &self.shown {
            for state in STATES {
                let count = counts.get(&(partition.clone(), state)).copied().unwrap_or(0);
                self.admitted.get_or_create(&StateLabel { partition: partition.clone(), state: state_name(state) }).set(count);
            }
        }
    }

    /// What a partition is counted as. All outcomes are there from then on, so that a share can be
    /// made of them.
    fn label(&mut self, partition: &str) -> String {
        let partition = self.named.label(partition);
        if self.shown.insert(partition.to_owned()) {
            let _at_zero = self.refused.get_or_create(&PartitionLabel { partition: partition.to_owned() });
            for outcome in OUTCOMES.map(PromiseState::name) {
                let _at_zero = self.deadlines.get_or_create(&OutcomeLabel { partition: partition.to_owned(), outcome });
            }
        }
        partition.to_owned()
    }
}

/// A job in the queue whose deadline has passed can't be done in time any more.
fn state_name(state: PromiseState) -> &'static str {
    if state == PromiseState::Missed { "late" } else { "open" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::time::UnixTime;
    use prometheus_client::encoding::text;

    fn outcome(state: PromiseState) -> AdmissionOutcome {
        AdmissionOutcome {
            wanted: Some(0.9),
            promised: None,
            planned: UnixTime(1_000),
            given: UnixTime(1_000),
            deadline: UnixTime(2_000),
            state,
        }
    }

    fn served(registry: &Registry) -> String {
        let mut page = String::new();
        text::encode(&mut page, registry).unwrap();
        page
    }

    #[test]
    fn deadlines_of_ended_jobs_are_counted_by_partition_and_what_became_of_them() {
        let mut registry = Registry::default();
        let mut metrics = DeadlineMetrics::registered(&mut registry);
        let [open, kept, missed, withdrawn] = PromiseState::ALL.map(outcome);
        let ended = [("batch", Some(&kept)), ("batch", None), ("batch", Some(&kept)), ("batch", Some(&open))];
        metrics.count(ended.into_iter().chain([("long", Some(&missed)), ("long", Some(&withdrawn))]));
        let page = served(&registry);
        for line in [
            "deadlines_total{partition=\"batch\",outcome=\"kept\"} 2",
            "deadlines_total{partition=\"batch\",outcome=\"missed\"} 0",
            "deadlines_total{partition=\"batch\",outcome=\"withdrawn\"} 0",
            "deadlines_total{partition=\"long\",outcome=\"missed\"} 1",
            "deadlines_total{partition=\"long\",outcome=\"withdrawn\"} 1",
        ] {
            assert!(page.contains(line), "{page}");
        }
        assert!(!page.contains("outcome=\"open\""), "{page}");
    }

    #[test]
    fn admitted_jobs_are_those_in_the_queue_now() {
        let mut registry = Registry::default();
        let mut metrics = DeadlineMetrics::registered(&mut registry);
        let [open, late] = [PromiseState::Open, PromiseState::Missed].map(outcome);
        let partitions = ["batch", "idle"];
        metrics.refused("batch", 3);
        metrics.set(partitions.into_iter(), [("batch", 1, &open), ("batch", 7, &open), ("batch", 1, &late)].into_iter());
        let page = served(&registry);
        for line in [
            "admitted_jobs{partition=\"batch\",state=\"open\"} 8",
            "admitted_jobs{partition=\"batch\",state=\"late\"} 1",
            "admitted_jobs{partition=\"idle\",state=\"open\"} 0",
            "refused_deadlines_total{partition=\"batch\"} 3",
            "refused_deadlines_total{partition=\"idle\"} 0",
        ] {
            assert!(page.contains(line), "{page}");
        }
        metrics.set(partitions.into_iter(), std::iter::empty());
        assert!(served(&registry).contains("admitted_jobs{partition=\"batch\",state=\"open\"} 0"));
    }
}
