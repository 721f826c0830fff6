//! Which nodes a job gets that runs for the first time.

use std::collections::BTreeSet;

/// In which way a job is on its nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It runs there.
    Running,
    /// It is suspended there, and will run there again.
    Suspended,
}

/// How many jobs are on each node. Ordered as jobs take nodes: first by those that run there, then
/// by those that will return there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Load {
    running: u32,
    suspended: u32,
}

impl Load {
    fn of(&mut self, presence: Presence) -> &mut u32 {
        match presence {
            Presence::Running => &mut self.running,
            Presence::Suspended => &mut self.suspended,
        }
    }
}

/// How many jobs are on each node, with the nodes in the order in which jobs take them.
#[derive(Debug, Clone)]
pub struct NodeLoads {
    loads: Vec<Load>,
    in_order: BTreeSet<(Load, u32)>,
}

impl NodeLoads {
    /// Nodes on which nothing is, numbered from 0 on.
    #[must_use]
    pub fn new(nodes: u32) -> Self {
        let loads = vec![Load::default(); nodes as usize];
        Self { loads, in_order: (0..nodes).map(|node| (Load::default(), node)).collect() }
    }

    /// The nodes for a job that runs for the first time: those with the fewest jobs, the lowest
    /// number first (Geweke 2000, 6.2.4.1). Fewer than `count` if there are no more.
    #[must_use]
    pub fn with_fewest(&self, count: u32) -> Box<[u32]> {
        self.in_order.iter().take(count as usize).map(|(_, node)| *node).collect()
    }

    /// A job is on these nodes in another way than before: `None` is not at all.
    pub fn change(&mut self, nodes: &[u32], before: Option<Presence>, after: Option<Presence>) {
        for &node in nodes {
            let Some(load) = self.loads.get_mut(node as usize) else { continue };
            self.in_order.remove(&(*load, node));
            if let Some(presence) = before {
                let jobs = load.of(presence);
                *jobs = jobs.saturating_sub(1);
            }
            if let Some(presence) = after {
                *load.of(presence) += 1;
            }
            self.in_order.insert((*load, node));
        }
    }
}
