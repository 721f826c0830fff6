//! EASY backfilling where blocks take processors for a time.

use super::super::in_order::start_heads;
use super::{Candidates, Cluster};
use queue_plan::Resources;

/// One pass of EASY on a machine with blocks: free processors no longer only grow with time, so
/// that the head and each candidate are placed in the profile of free processors.
pub(super) fn pass(cluster: &mut Cluster, candidates: Candidates) {
    let head = start_heads(cluster);
    let Some(&first) = cluster.waiting().get(head) else { return };
    let now = cluster.now();
    let mut profile = cluster.profile();
    let processors = Resources::of_cpus(first.processors.into());
    if let Some(at) = profile.earliest(now, processors, first.expected) {
        profile.take(at, at + first.expected, processors);
    }
    let mut behind: Vec<usize> = (head + 1..cluster.waiting().len()).collect();
    if candidates == Candidates::ShortestFirst {
        behind.sort_by_key(|&position| cluster.waiting()[position].expected);
    }
    for position in behind {
        let Some(&entry) = cluster.waiting().get(position) else { return };
        let processors = Resources::of_cpus(entry.processors.into());
        if processors.fits_in(profile.free_at(now)) && profile.earliest(now, processors, entry.expected) == Some(now) {
            cluster.start(position);
            profile.take(now, now + entry.expected, processors);
        }
    }
}
