//! Names of partitions, accounts and qualities of service, of which thousands of jobs share a few.

use job_types::number::PartitionIndex;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Indices of partitions by their names.
pub(crate) type PartitionIndices = HashMap<Arc<str>, PartitionIndex>;

/// A job that never started may name several partitions; it counts in the first.
pub(crate) fn first_partition(partitions: &str) -> &str {
    partitions.split_once(',').map_or(partitions, |(first, _rest)| first)
}

/// Returns the one copy of a name that everybody shares, and adds it if it is new.
pub(crate) fn shared(name: &str, names: &mut HashSet<Arc<str>>) -> Arc<str> {
    if let Some(name) = names.get(name) {
        return Arc::clone(name);
    }
    let name: Arc<str> = name.into();
    names.insert(Arc::clone(&name));
    name
}
