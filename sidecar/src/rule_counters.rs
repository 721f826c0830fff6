//! Keeps what was counted of each rule, over the ends of slurmctld and of this process.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rules_compiler::counted::{CountedRules, LARGEST};
use site_rules::counts;
use slurm_sys::memory::{open_trusted, read_start};

use crate::accounting::now;
use crate::filter_counters::store;
use crate::looked_at_rules::RuleNames;

/// How many sets of rules are known by their numbers: slurmctld takes up the last one at the next
/// submission.
const KNOWN_SETS: usize = 4;

/// The sums, and their file.
#[derive(Debug)]
pub(crate) struct RuleCounters {
    path: PathBuf,
    counted: CountedRules,
    /// What the file holds; `None` where that is not known.
    stored: Option<CountedRules>,
    sets: VecDeque<Arc<RuleNames>>,
    /// Whether the log says that the file can't be written.
    is_told: bool,
}

impl RuleCounters {
    /// Goes on where the file ends; from 0 where there is none, or another one.
    pub(crate) fn load(path: PathBuf) -> Self {
        let stored = read(&path);
        let counted = stored.clone().unwrap_or_else(|| CountedRules::begun(now()));
        Self { path, counted, stored, sets: VecDeque::new(), is_told: false }
    }

    /// Knows the rules that are in force.
    pub(crate) fn know(&mut self, rules: &Arc<RuleNames>) {
        if self.sets.iter().all(|known| known.number != rules.number) {
            self.sets.push_front(Arc::clone(rules));
            self.sets.truncate(KNOWN_SETS);
        }
    }

    /// Adds what the page tells, and writes the file if anything has changed.
    pub(crate) fn refresh(&mut self, page: Option<(u64, Vec<u64>)>) {
        let Some((owner, numbers)) = page else { return };
        let Some((number, _)) = counts::read(&numbers, 0) else { return };
        let Some(rules) = self.sets.iter().find(|rules| rules.number == number) else { return };
        let Some((_, counts)) = counts::read(&numbers, rules.names.len()) else { return };
        self.counted.take(owner, &rules.names, counts);
        if self.stored.as_ref() == Some(&self.counted) {
            return;
        }
        match store(&self.path, &self.counted.to_bytes()) {
            Ok(()) => {
                self.stored = Some(self.counted.clone());
                self.is_told = false;
            }
            Err(error) if !self.is_told => {
                self.is_told = true;
                tracing::warn!(path = %self.path.display(), %error, "what was counted of rules is not written; it is kept in memory");
            }
            Err(_) => {}
        }
    }
}

/// What the file holds; `None` where that is not known.
pub(crate) fn read(path: &Path) -> Option<CountedRules> {
    CountedRules::read(|| read_start(&open_trusted(path)?.0, LARGEST)).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use site_rules::counts::{PAGE, RULE_SET, RuleCount, place};
    use site_rules::rules::RuleNumber;

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
        read(path).map(|counted| counted.rules.iter().map(|rule| (rule.name.clone(), rule.sum(RuleCount::Matched))).collect())
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
        // Others are in force, and slurmctld has not seen a submission since.
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
