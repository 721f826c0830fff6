//! The nodes of a partition that nothing has during a slot.

use job_types::time::UnixTime;

use super::super::slot::Slot;
use crate::state::State;

/// When each node of a partition is taken, as slurmctld sees it: by jobs that run until their time
/// limits, and by reservations.
pub(super) struct FreeNodes {
    /// The nodes in the order of slurmctld's table, each with when it is taken.
    nodes: Vec<(u32, Vec<Slot>)>,
}

impl FreeNodes {
    /// The nodes of a partition that take jobs. A reservation of some CPUs of its nodes takes all
    /// of these: which CPUs it has is not known.
    pub(super) fn of(state: &State, partition: u16) -> Self {
        let mut taken: Vec<Vec<Slot>> = vec![Vec::new(); state.nodes.len()];
        let mut take = |nodes: &[u32], slot: Slot| {
            for node in nodes {
                taken.get_mut(*node as usize).into_iter().for_each(|taken| taken.push(slot));
            }
        };
        for job in &state.running {
            take(&job.nodes, Slot { start: UnixTime(i64::MIN), end: state.now + job.remaining.limit });
        }
        for reservation in &state.reservations {
            take(&reservation.nodes, Slot { start: reservation.start, end: reservation.end });
        }
        let mut nodes = state.partitions.get(usize::from(partition)).map(|partition| partition.nodes.clone()).unwrap_or_default();
        nodes.sort_unstable();
        nodes.dedup();
        let takes_jobs = |node: &u32| state.nodes.get(*node as usize).is_some_and(|node| node.takes_jobs);
        let nodes = nodes.into_iter().filter(takes_jobs).map(|node| (node, std::mem::take(&mut taken[node as usize])));
        Self { nodes: nodes.collect() }
    }

    /// The nodes that are free for a whole slot.
    pub(super) fn during(&self, slot: Slot) -> Vec<u32> {
        let is_free = |taken: &[Slot]| taken.iter().all(|taken| taken.end <= slot.start || slot.end <= taken.start);
        self.nodes.iter().filter(|(_, taken)| is_free(taken)).map(|(node, _)| *node).collect()
    }
}
