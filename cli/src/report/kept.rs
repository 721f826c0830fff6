//! How often promises were kept, beside the probability that was promised.

use std::collections::BTreeMap;

use comfy_table::Table;
use command_parts::output::{BAD, GOOD, count, table};
use serde::Serialize;

use super::class::{Class, rounded};
use super::interval::Interval;

/// A promise of which it is certain whether it was kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct DecidedPromise<'a> {
    pub(super) partition: &'a str,
    /// The probability that was promised.
    pub(super) promised: f64,
    pub(super) is_kept: bool,
}

/// How often promises were kept that were made with about the same probability.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct KeptPromises {
    /// The partition of their jobs; `None` where all partitions are counted together.
    pub(super) partition: Option<String>,
    #[serde(flatten)]
    pub(super) class: Class,
    /// How many promises there were. Each report has its own name for them.
    #[serde(skip)]
    pub(super) promises: u64,
    /// The mean of the probabilities that were promised.
    pub(super) promised: f64,
    pub(super) kept: u64,
    pub(super) kept_part: f64,
    /// The interval of `kept_part`.
    #[serde(flatten)]
    pub(super) interval: Interval,
}

impl KeptPromises {
    fn of(partition: Option<String>, class: Class, decided: &[DecidedPromise<'_>]) -> Self {
        let promises = decided.len() as u64;
        let kept = decided.iter().filter(|promise| promise.is_kept).count() as u64;
        let per_promise = |sum: f64| rounded(sum / promises.max(1) as f64);
        Self {
            partition,
            class,
            promises,
            promised: per_promise(decided.iter().map(|promise| promise.promised).sum()),
            kept,
            kept_part: per_promise(kept as f64),
            interval: Interval::of(kept, promises),
        }
    }

    /// The partition as tables name it.
    pub(super) fn partition_name(&self) -> String {
        self.partition.clone().unwrap_or_else(|| "(all)".to_owned())
    }

    /// Whether so few were kept that chance does not explain it.
    pub(super) fn is_broken(&self) -> bool {
        self.interval.is_below(self.promised)
    }
}

/// What is counted together: whether it is all partitions, which sort behind the single ones; the
/// partition; the number of the class.
type Group<'a> = (bool, &'a str, usize);

/// Counts promises by partition and class of probability. Behind these come all partitions
/// together, by class. Each count has with it what stood beside its promises.
pub(super) fn by_partition_and_class<'a, T: Copy>(
    promises: impl Iterator<Item = (DecidedPromise<'a>, T)>,
) -> impl Iterator<Item = (KeptPromises, Vec<T>)> {
    let mut groups: BTreeMap<Group<'_>, (Vec<DecidedPromise<'_>>, Vec<T>)> = BTreeMap::new();
    for (promise, beside) in promises {
        let class = Class::index(promise.promised);
        for key in [(false, promise.partition, class), (true, "", class)] {
            let (decided, all_beside) = groups.entry(key).or_default();
            decided.push(promise);
            all_beside.push(beside);
        }
    }
    groups.into_iter().map(|((is_of_all, partition, class), (decided, beside))| {
        (KeptPromises::of((!is_of_all).then(|| partition.to_owned()), Class::of(class), &decided), beside)
    })
}

/// A table of what was promised and kept; `promises` names what was promised.
pub(super) fn promised_and_kept<'a>(promises: &str, rows: impl Iterator<Item = &'a KeptPromises>) -> Table {
    let header = ["partition", "probability", "promised", "kept", "between", promises, ""];
    let mut table = table(&header, &["promised", "kept", promises]);
    for row in rows {
        table.add_row([
            row.partition_name(),
            row.class.name(),
            format!("{:.3}", row.promised),
            format!("{:.3}", row.kept_part),
            row.interval.ends(),
            count(row.promises),
            verdict(row.is_broken()),
        ]);
    }
    table
}

/// A word for whether so many were kept as was promised.
pub(super) fn verdict(is_broken: bool) -> String {
    if is_broken { format!("{BAD}kept too seldom{BAD:#}") } else { format!("{GOOD}as promised{GOOD:#}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn promise(partition: &str, promised: f64, is_kept: bool) -> (DecidedPromise<'_>, ()) {
        (DecidedPromise { partition, promised, is_kept }, ())
    }

    #[test]
    fn promises_are_counted_by_partition_and_probability_and_then_of_all() {
        let all = [promise("b", 0.96, true), promise("a", 0.5, false), promise("b", 0.98, false), promise("a", 0.99, true)];
        let rows: Vec<KeptPromises> = by_partition_and_class(all.into_iter()).map(|(kept, _)| kept).collect();
        let found: Vec<_> = rows.iter().map(|row| (row.partition.as_deref(), row.class.from, row.promises, row.kept)).collect();
        assert_eq!(
            found,
            [(Some("a"), 0.5, 1, 0), (Some("a"), 0.95, 1, 1), (Some("b"), 0.95, 2, 1), (None, 0.5, 1, 0), (None, 0.95, 3, 2)]
        );
        assert_eq!((rows[2].promised, rows[2].kept_part), (0.97, 0.5));
    }

    #[test]
    fn only_what_chance_does_not_explain_is_called_broken() {
        let is_broken = |kept: usize, count: usize| {
            let mut rows = by_partition_and_class((0..count).map(|number| promise("a", 0.95, number < kept)));
            rows.next().unwrap().0.is_broken()
        };
        assert_eq!((is_broken(9, 10), is_broken(900, 1_000), is_broken(0, 1)), (false, true, false));
    }
}
