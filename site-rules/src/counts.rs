//! What is counted of each rule, and where it stands in the page of numbers that the plugin shows
//! to the daemon.
//!
//! The page is memory that the daemon makes and hands over (`slurm_sys::memory::CountsPage`). In
//! front of its numbers is who counts there, and that changes with each set of rules that is taken
//! up and with each slurmctld, so that all numbers behind it begin at 0 again. The first of them is
//! the number of the set of rules ([`crate::file::number`]); then come the counts of its first rule
//! in the order of [`COUNTS`], those of the second, and so on. A page has room for as many rules as
//! a set may have.

use crate::rules::{MOST_RULES, RuleNumber};

/// Something that is counted of each rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum RuleCount {
    /// Submissions and modifications for which the rule was asked.
    Asked,
    /// Submissions and modifications that the rule matched.
    Matched,
    /// Submissions and modifications for which the rule could not be evaluated.
    Failed,
    /// Submissions and modifications that the rule refused.
    Refused,
    /// Submissions and modifications about which the rule warned the user.
    Warned,
    /// Submissions and modifications that the rule would have changed, warned about or refused if
    /// it were not observed only.
    Observed,
    /// Steps that the rule took.
    Steps,
    /// Time that the rule took, in nanoseconds.
    Nanoseconds,
}

/// All counts of a rule with their names and what they count, in the order of the page.
pub const COUNTS: [(RuleCount, &str, &str); 8] = [
    (RuleCount::Asked, "asked", "submissions and modifications for which it was asked"),
    (RuleCount::Matched, "matched", "those that it matched"),
    (RuleCount::Failed, "failed", "those for which it could not be evaluated"),
    (RuleCount::Refused, "refused", "those that it refused"),
    (RuleCount::Warned, "warned", "those about which it warned the user"),
    (RuleCount::Observed, "observed", "those that it would have changed, warned about or refused, were it not observed only"),
    (RuleCount::Steps, "steps", "steps that it took"),
    (RuleCount::Nanoseconds, "nanoseconds", "time that it took, in nanoseconds"),
];

/// How many numbers a page has.
pub const PAGE: usize = 1 + MOST_RULES * COUNTS.len();

/// The place of the number of the set of rules in the page.
pub const RULE_SET: usize = 0;

/// The counts of one rule, in the order of [`COUNTS`].
pub type RuleCounts = [u64; COUNTS.len()];

/// Returns the place of a count of a rule in the page.
#[must_use]
pub fn place(rule: RuleNumber, count: RuleCount) -> usize {
    1 + usize::from(rule.0) * COUNTS.len() + count as usize
}

/// What the numbers of a page say: the number of the set of rules, and the counts of its first
/// `rules` rules. `None` where the page is shorter, or nobody has counted in it.
#[must_use]
pub fn read(numbers: &[u64], rules: usize) -> Option<(u64, &[RuleCounts])> {
    let (rule_set, counts) = numbers.split_first()?;
    Some((*rule_set, counts.as_chunks().0.get(..rules)?)).filter(|_| *rule_set != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_count_of_each_rule_has_a_place_of_its_own_where_it_is_read() {
        let mut numbers: Vec<u64> = vec![0; PAGE];
        assert!(read(&numbers, 1).is_none(), "nobody has counted");
        numbers[RULE_SET] = 77;
        for (rule, (count, _, _)) in (0..3).flat_map(|rule| COUNTS.iter().map(move |count| (rule, count))) {
            numbers[place(RuleNumber(rule), *count)] = u64::from(rule) * 10 + *count as u64 + 1;
        }
        let of = |first: u64| std::array::from_fn(|place| first + place as u64);
        assert_eq!(read(&numbers, 3), Some((77, &[of(1), of(11), of(21)][..])));
        assert_eq!(read(&numbers, MOST_RULES).map(|(_, rules)| rules.len()), Some(MOST_RULES));
        assert!(read(&numbers, MOST_RULES + 1).is_none());
        assert!(read(&[], 0).is_none());
    }
}
