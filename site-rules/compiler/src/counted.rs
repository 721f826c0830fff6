//! What was counted of each rule: sums over restarts of slurmctld and of the daemon, which keeps
//! them in a file.
//!
//! The daemon writes over the file, so that its directory does not change with each count.

use serde::{Deserialize, Serialize};
use site_rules::counts::{COUNTS, RuleCount, RuleCounts};
use std::collections::BTreeMap;

/// The content's length is a multiple of it, so that the file's seldom changes.
const PADDING: usize = 4096;

/// What was counted of each rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedRules {
    /// The time from which on what rules do is counted, in Unix seconds.
    pub since: i64,
    /// The rules with their sums, in the order in which they apply.
    pub rules: Vec<CountedRule>,
    /// The filter that counted last.
    owner: u64,
}

/// What was counted of a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedRule {
    /// The rule's name.
    pub name: String,
    /// The sums, in the order of [`COUNTS`].
    pub sums: RuleCounts,
    /// The filter's own counts when it was read last.
    taken: RuleCounts,
}

impl CountedRule {
    /// The sums over several rules, under a name for all of them.
    #[must_use]
    pub fn sum_of(name: &str, rules: &[CountedRule]) -> Self {
        let mut all = CountedRule { name: name.to_owned(), ..CountedRule::default() };
        for rule in rules {
            for (sum, more) in all.sums.iter_mut().zip(rule.sums) {
                *sum = sum.saturating_add(more);
            }
        }
        all
    }

    /// A sum.
    #[must_use]
    pub fn sum(&self, count: RuleCount) -> u64 {
        self.sums.get(count as usize).copied().unwrap_or(0)
    }

    /// All sums with the names of what they count.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
        COUNTS.iter().zip(self.sums).map(|((_, name, _), sum)| (*name, sum))
    }
}

impl CountedRules {
    /// Nothing was counted yet.
    #[must_use]
    pub fn begun(since: i64) -> Self {
        CountedRules { since, ..CountedRules::default() }
    }

    /// Takes what a page says of a set of rules: who counts there, and what of each of its rules.
    /// Rules that are not among them are forgotten.
    pub fn take(&mut self, owner: u64, names: &[String], counts: &[RuleCounts]) {
        let is_same = owner == self.owner;
        self.owner = owner;
        let mut before: BTreeMap<String, CountedRule> = self.rules.drain(..).map(|rule| (rule.name.clone(), rule)).collect();
        for (name, counts) in names.iter().zip(counts) {
            let known = before.remove(name);
            let CountedRule { mut sums, taken, .. } = known.unwrap_or_default();
            let taken = if is_same { taken } else { RuleCounts::default() };
            for ((sum, count), taken) in sums.iter_mut().zip(counts).zip(taken) {
                *sum = sum.saturating_add(count.saturating_sub(taken));
            }
            self.rules.push(CountedRule { name: name.clone(), sums, taken: *counts });
        }
    }

    /// The content of the file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut json = serde_json::to_vec(self).unwrap_or_default();
        json.resize(json.len().next_multiple_of(PADDING), b' ');
        json
    }

    /// What the content of a file says; `None` where it is of something else.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn counts(asked: u64) -> RuleCounts {
        let mut counts = RuleCounts::default();
        counts[RuleCount::Asked as usize] = asked;
        counts
    }

    fn asked(counted: &CountedRules) -> Vec<(&str, u64)> {
        counted.rules.iter().map(|rule| (rule.name.as_str(), rule.sum(RuleCount::Asked))).collect()
    }

    #[test]
    fn sums_go_on_when_slurmctld_is_started_anew_and_when_rules_change() {
        let mut counted = CountedRules::begun(5);
        counted.take(1, &names(&["a", "b"]), &[counts(3), counts(1)]);
        counted.take(1, &names(&["a", "b"]), &[counts(4), counts(1)]);
        assert_eq!(asked(&counted), [("a", 4), ("b", 1)]);
        // Another slurmctld counts from 0 on.
        counted.take(2, &names(&["a", "b"]), &[counts(2), counts(0)]);
        assert_eq!(asked(&counted), [("a", 6), ("b", 1)]);
        // Other rules are counted by another owner as well.
        counted.take(3, &names(&["c", "a"]), &[counts(7), counts(1)]);
        assert_eq!(asked(&counted), [("c", 7), ("a", 7)]);
        // The counts outlast a restart of the daemon.
        let mut counted = CountedRules::from_bytes(&counted.to_bytes()).unwrap();
        counted.take(3, &names(&["c", "a"]), &[counts(8), counts(1)]);
        assert_eq!((asked(&counted), counted.since), (vec![("c", 8), ("a", 7)], 5));
    }

    #[test]
    fn the_file_keeps_its_length_and_another_content_is_nothing() {
        let mut counted = CountedRules::begun(5);
        counted.take(1, &names(&["a"]), &[counts(3)]);
        let bytes = counted.to_bytes();
        counted.take(1, &names(&["a"]), &[counts(u64::MAX)]);
        assert_eq!(bytes.len(), counted.to_bytes().len());
        assert_eq!(CountedRules::from_bytes(&bytes[..50]), None);
        assert_eq!(CountedRules::from_bytes(b""), None);
    }
}
