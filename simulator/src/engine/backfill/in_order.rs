//! No backfilling.

use super::{Backfill, Cluster, Event};
use queue_plan::Resources;

/// No backfilling: nobody starts before those in front have.
#[derive(Debug, Clone, Copy, Default)]
pub struct InOrder;

impl Backfill for InOrder {
    fn pass(&mut self, event: Event, cluster: &mut Cluster) {
        // A job behind another one has to wait at least until that starts.
        if matches!(event, Event::Queued { position, .. } if position > 0) && cluster.ending_now() == 0 {
            return;
        }
        start_heads(cluster);
    }
}

/// Starts jobs from the head of the queue on while they fit. Returns how many.
pub(super) fn start_heads(cluster: &mut Cluster) -> usize {
    let mut position = 0;
    let mut free = cluster.free();
    let has_blocks = !cluster.machine().blocks.is_empty();
    while let Some(&head) = cluster.waiting().get(position) {
        let processors = i64::from(head.processors);
        let fits = processors <= free
            && (!has_blocks
                || cluster.profile().earliest(cluster.now(), Resources::of_cpus(processors), head.expected) == Some(cluster.now()));
        if !fits {
            break;
        }
        cluster.start(position);
        free -= processors;
        position += 1;
    }
    position
}
