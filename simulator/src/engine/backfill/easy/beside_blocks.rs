//! EASY backfilling where blocks take processors for a time.

use super::super::in_order::start_heads;
use super::{Candidates, Cluster};

/// One pass of EASY on a machine with blocks: free processors no longer only grow with time, so
/// that the head and each candidate are placed in the profile of free processors.
pub(super) fn pass(cluster: &mut Cluster, candidates: Candidates) {
    let head = start_heads(cluster);
    let Some(&first) = cluster.waiting().get(head) else { return };
    let now = cluster.now();
    let mut profile = cluster.profile();
    if let Some(at) = profile.earliest(now, i64::from(first.processors), first.expected) {
        profile.take(at, at + first.expected, i64::from(first.processors));
    }
    let mut behind: Vec<usize> = (head + 1..cluster.waiting().len()).collect();
    if candidates == Candidates::ShortestFirst {
        behind.sort_by_key(|&position| cluster.waiting()[position].expected);
    }
    for position in behind {
        let Some(&entry) = cluster.waiting().get(position) else { return };
        let processors = i64::from(entry.processors);
        if processors <= profile.free_at(now) && profile.earliest(now, processors, entry.expected) == Some(now) {
            cluster.start(position);
            profile.take(now, now + entry.expected, processors);
        }
    }
}
