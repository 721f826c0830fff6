//! What the filter inside slurmctld does, as the pages show it that it shares with this daemon.

use std::sync::Arc;
use std::time::Instant;

use crate::known::cluster::Cluster;
use crate::known::rule_load_report::RuleNames;
use crate::metrics::Metrics;
use crate::metrics::filter_counters::FilterCounters;
use crate::metrics::rule_counters::RuleCounters;
use crate::publish::publisher::Publisher;
use crate::publish::refusals::KeptRefusals;
use crate::publish::state_directory::StateDirectory;

/// A page: which filter counts in it, and the numbers.
type Page = (u64, Vec<u64>);

/// What was seen of the filter, each part with a file of its own in the state directory.
pub(super) struct FilterWatch {
    counters: FilterCounters,
    rule_counters: RuleCounters,
    refusals: KeptRefusals,
}

impl FilterWatch {
    /// Goes on where the files in the directory end.
    pub(super) fn load(directory: &StateDirectory) -> Self {
        Self {
            counters: FilterCounters::load(directory.counters()),
            rule_counters: RuleCounters::load(directory.rule_counters()),
            refusals: KeptRefusals::load(directory),
        }
    }

    /// When the pages are to be looked at next.
    pub(super) fn due(&self) -> Instant {
        self.counters.due()
    }

    /// Knows the rules that are in force, of which the filter counts by their places.
    pub(super) fn know(&mut self, rules: &Arc<RuleNames>) {
        self.rule_counters.know(rules);
    }

    /// Takes what the filter has counted and noted since the last look.
    pub(super) fn look(&mut self, publisher: &Publisher, metrics: &mut Metrics) {
        self.take(publisher.counted(), publisher.counted_by_rule(), publisher.cluster().as_deref(), metrics);
    }

    fn take(&mut self, counted: Option<Page>, by_rule: Option<Page>, cluster: Option<&Cluster>, metrics: &mut Metrics) {
        self.refusals.take(counted.as_ref(), cluster, |partition, count| metrics.refused(partition, count));
        self.counters.refresh(counted);
        self.rule_counters.refresh(by_rule);
    }

    /// Writes the refusals, which are written less often than they are taken.
    pub(super) fn store(&mut self, directory: &StateDirectory) {
        self.refusals.store(directory);
    }

    /// Looks whether the file of the counters is still what was written.
    pub(super) fn check(&mut self) {
        self.counters.check();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::made_up::{NOW, cluster};
    use crate::known::privacy::Privacy;
    use crate::metrics::kept_sums;
    use job_types::number::UserId;
    use job_types::policy::Admission;
    use job_types::time::UnixTime;
    use predictor_core::decisions::counters::{Counted, Counter};
    use predictor_core::decisions::refusals::{NotedRefusal, Refusals, SHOWN};
    use slurm_conf::state_directory::REFUSALS_ENVELOPE;
    use slurm_sys::client::PrivateData;
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    /// The page of a filter that has refused so many submissions to the partition `main`.
    fn page(refused: u64) -> Option<Page> {
        let mut numbers = vec![0; SHOWN];
        numbers[Counter::Submissions.index()] = 10;
        numbers[Counter::NotAdmitted.index()] = refused;
        for ordinal in 1..=refused {
            let refusal = NotedRefusal::new(UnixTime(NOW), UserId(7), "main", Admission::ALL[0]);
            for (place, number) in refusal.numbers(ordinal) {
                numbers[place] = number;
            }
        }
        Some((1, numbers))
    }

    /// How many refusals the file has; `None` where there is no file.
    fn stored(directory: &StateDirectory) -> Option<u64> {
        let content = REFUSALS_ENVELOPE.read(&directory.refusals()).ok()??;
        Refusals::from_bytes(&content).map(|refusals| refusals.taken().1)
    }

    #[test]
    fn counters_are_written_at_once_and_refusals_with_a_snapshot_once_the_partitions_are_known() {
        let parent = tempfile::tempdir().unwrap();
        let own_user = fs::metadata("/proc/self").unwrap().uid();
        let directory = StateDirectory::open(&parent.path().join("state"), own_user, Privacy::new(PrivateData::default())).unwrap();
        let (mut metrics, _registry) = Metrics::new(directory.counters(), directory.rule_counters());
        let mut watch = FilterWatch::load(&directory);
        assert!(watch.due() <= Instant::now());
        watch.take(page(2), None, None, &mut metrics);
        assert!(watch.due() > Instant::now());
        let submissions = || kept_sums::read::<Counted>(&directory.counters()).map(|counted| counted.sum(Counter::Submissions));
        assert_eq!(submissions(), Some(10));
        watch.store(&directory);
        assert_eq!(stored(&directory), Some(0), "nobody knows of which partition they are: the filter keeps them");

        let cluster = cluster(&[], Vec::new());
        watch.take(page(2), None, Some(&cluster), &mut metrics);
        assert_eq!(stored(&directory), Some(0));
        watch.store(&directory);
        assert_eq!(stored(&directory), Some(2));
        // The next daemon finds them in the file, and takes only what is new.
        let mut watch = FilterWatch::load(&directory);
        watch.take(page(3), None, Some(&cluster), &mut metrics);
        watch.store(&directory);
        assert_eq!(stored(&directory), Some(3));
    }
}
