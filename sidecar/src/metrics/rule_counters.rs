//! Keeps what was counted of each rule.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use job_types::time::UnixTime;
use rules_compiler::counted::CountedRules;
use site_rules::counts;
use slurm_conf::envelope::Envelope;
use slurm_conf::state_directory::RULE_COUNTERS_ENVELOPE;

use crate::known::rule_load_report::RuleNames;
use crate::metrics::kept_sums::{KeptSums, Sums};

/// How many sets of rules are known by their numbers: slurmctld takes up the last one at the next
/// submission.
const KNOWN_SETS: usize = 4;

/// The sums by rule, and the sets of rules that are known.
#[derive(Debug)]
pub(crate) struct RuleCounters {
    kept: KeptSums<CountedRules>,
    sets: VecDeque<Arc<RuleNames>>,
}

impl Sums for CountedRules {
    const ENVELOPE: Envelope = RULE_COUNTERS_ENVELOPE;
    const NOT_WRITTEN: &'static str = "what was counted of rules is not written; it is kept in memory";

    fn begun(now: UnixTime) -> Self {
        CountedRules::begun(now.0)
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        CountedRules::from_bytes(bytes)
    }

    fn to_bytes(&self) -> Vec<u8> {
        CountedRules::to_bytes(self)
    }
}

impl RuleCounters {
    /// Goes on where the file ends.
    pub(crate) fn load(path: PathBuf) -> Self {
        Self { kept: KeptSums::load(path), sets: VecDeque::new() }
    }

    /// Knows the rules that are in force.
    pub(crate) fn know(&mut self, rules: &Arc<RuleNames>) {
        if self.sets.iter().all(|known| known.number != rules.number) {
            self.sets.push_front(Arc::clone(rules));
            self.sets.truncate(KNOWN_SETS);
        }
    }

    /// Adds what the page tells of rules that are known.
    pub(crate) fn refresh(&mut self, page: Option<(u64, Vec<u64>)>) {
        let Some((owner, numbers)) = page else { return };
        let Some((number, _)) = counts::read(&numbers, 0) else { return };
        let Some(rules) = self.sets.iter().find(|rules| rules.number == number) else { return };
        let Some((_, counts)) = counts::read(&numbers, rules.names.len()) else { return };
        self.kept.refresh(|counted| counted.take(owner, &rules.names, counts));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::kept_sums::read;
    use site_rules::counts::{PAGE, RULE_SET, RuleCount, place};
    use site_rules::rules::RuleNumber;
    use std::path::Path;

    fn page(set: u64, matched: u64) -> Vec<u64> {
        let mut numbers = vec![0; PAGE];
        numbers[RULE_SET] = set;
        numbers[place(RuleNumber(1), RuleCount::Matched)] = matched;
        numbers
    }

    fn rules(number: u64, names: &[&str]) -> Arc<RuleNames> {
        Arc::new(RuleNames { number, names: names.iter().map(|name| (*name).to_owned()).collect() })
    }

    fn matched(path: &Path) -> Option<Vec<(String, u64)>> {
        read::<CountedRules>(path)
            .map(|counted| counted.rules.iter().map(|rule| (rule.name.clone(), rule.sum(RuleCount::Matched))).collect())
    }

    #[test]
    fn counts_are_those_of_the_rules_that_slurmctld_has_taken_up() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rule-counters");
        let mut counters = RuleCounters::load(path.clone());
        counters.refresh(Some((9, page(77, 3))));
        assert_eq!(matched(&path), None, "nothing is known of these rules yet");
        counters.know(&rules(77, &["a", "b"]));
        counters.refresh(Some((9, page(77, 3))));
        let expected = |sums: &[(&str, u64)]| Some(sums.iter().map(|(name, sum)| ((*name).to_owned(), *sum)).collect::<Vec<_>>());
        assert_eq!(matched(&path), expected(&[("a", 0), ("b", 3)]));
        // Other rules are in force, and slurmctld has not seen a submission since.
        counters.know(&rules(88, &["b", "c"]));
        counters.refresh(Some((9, page(77, 5))));
        assert_eq!(matched(&path), expected(&[("a", 0), ("b", 5)]));
        counters.refresh(Some((10, page(88, 1))));
        assert_eq!(matched(&path), expected(&[("b", 5), ("c", 1)]));
        let mut counters = RuleCounters::load(path.clone());
        counters.know(&rules(88, &["b", "c"]));
        counters.refresh(Some((10, page(88, 4))));
        assert_eq!(matched(&path), expected(&[("b", 5), ("c", 4)]));
    }
}
