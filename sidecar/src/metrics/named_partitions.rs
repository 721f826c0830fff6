//! The partitions that metrics name, so that their number is bounded.

use std::collections::HashSet;

/// The most partitions that are counted by name.
pub(crate) const MOST_PARTITIONS: usize = 100;

/// The label that further partitions share. Slurm takes no partition name with a blank.
const OTHERS: &str = "other partitions";

/// The partitions that are counted by name: the first ones that were met.
#[derive(Debug, Default)]
pub(crate) struct NamedPartitions(HashSet<String>);

impl NamedPartitions {
    /// What a partition is counted as.
    pub(crate) fn label<'a>(&mut self, partition: &'a str) -> &'a str {
        if self.0.contains(partition) {
            return partition;
        }
        if self.0.len() >= MOST_PARTITIONS {
            return OTHERS;
        }
        self.0.insert(partition.to_owned());
        partition
    }
}
