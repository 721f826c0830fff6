//! Which nodes are not yet planned for a pending job, over time.

use job_types::time::{Seconds, UnixTime};

use super::SlurmParameters;
use super::node_set::NodeSet;

/// A time during which the same nodes are planned for pending jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) begin: UnixTime,
    pub(super) end: UnixTime,
    /// Nodes that nothing is planned on; running jobs may be on them.
    pub(super) unplanned: NodeSet,
}

/// Slurm's `node_space` (src/plugins/sched/backfill/backfill.c): what a backfill pass has planned
/// so far. Running jobs are not in it.
#[derive(Debug, Clone)]
pub(super) struct NodeSpace {
    /// The windows of time, one after the other without gaps.
    windows: Vec<Window>,
    resolution: Seconds,
}

/// The nodes on which nothing is planned while a job would run.
#[derive(Debug)]
pub(super) struct Unplanned {
    pub(super) nodes: NodeSet,
    /// The first later time at which the nodes may be others.
    pub(super) changes_at: Option<UnixTime>,
}

impl NodeSpace {
    /// Creates a space in which nothing is planned from now until the end of the backfill window.
    pub(super) fn new(now: UnixTime, parameters: &SlurmParameters, nodes: usize) -> Self {
        let (begin, end) = (parameters.rounded_down(now), parameters.rounded_down(now + parameters.bf_window));
        Self { windows: vec![Window { begin, end, unplanned: NodeSet::all(nodes) }], resolution: parameters.bf_resolution }
    }

    /// The nodes on which nothing is planned from `start` to `end`, both included.
    pub(super) fn unplanned(&self, start: UnixTime, end: UnixTime, all: &NodeSet) -> Unplanned {
        let mut nodes = all.clone();
        let mut changes_at = None;
        for (place, window) in self.windows.iter().enumerate() {
            if window.end <= start {
                continue;
            }
            if let (Some(next), None) = (self.windows.get(place + 1), changes_at) {
                // Nodes that are a part of the present ones need no second look.
                let now_and_before = nodes.shared_with(&window.unplanned);
                if !next.unplanned.is_within(&now_and_before) {
                    changes_at = Some(window.end);
                }
            }
            if window.begin > end {
                break;
            }
            nodes.retain(&window.unplanned);
        }
        Unplanned { nodes, changes_at }
    }

    /// Whether some of the nodes are planned for another job between `start` and `end`.
    pub(super) fn is_planned(&self, nodes: &NodeSet, start: UnixTime, end: UnixTime) -> bool {
        let meanwhile = self.windows.iter().filter(|window| window.end > start && window.begin < end);
        meanwhile.into_iter().any(|window| !nodes.is_within(&window.unplanned))
    }

    /// Plans a job on nodes between `start` and `end`, at least for one step of the resolution.
    pub(super) fn plan(&mut self, nodes: &NodeSet, start: UnixTime, end: UnixTime) {
        let Some(first) = self.windows.first() else { return };
        let start = start.max(first.begin);
        let end = end.max(start + self.resolution);
        self.split_at(start);
        self.split_at(end);
        for window in self.windows.iter_mut().filter(|window| window.begin >= start && window.end <= end) {
            window.unplanned.remove(nodes);
        }
        self.windows.dedup_by(|later, earlier| {
            let same = later.unplanned == earlier.unplanned;
            if same {
                earlier.end = later.end;
            }
            same
        });
    }

    fn split_at(&mut self, time: UnixTime) {
        let Some(place) = self.windows.iter().position(|window| window.begin < time && time < window.end) else { return };
        let mut later = self.windows[place].clone();
        later.begin = time;
        self.windows[place].end = time;
        self.windows.insert(place + 1, later);
    }
}

#[cfg(test)]
mod tests {
    use super::{NodeSet, NodeSpace, Seconds, SlurmParameters, UnixTime};

    fn parameters() -> SlurmParameters {
        SlurmParameters { bf_window: Seconds(1_000), bf_resolution: Seconds(10), ..SlurmParameters::default() }
    }

    fn nodes(which: &[usize]) -> NodeSet {
        let mut set = NodeSet::none(4);
        which.iter().for_each(|&node| set.add(node));
        set
    }

    #[test]
    fn what_is_planned_is_kept_free_while_it_would_run() {
        let mut space = NodeSpace::new(UnixTime(7), &parameters(), 4);
        space.plan(&nodes(&[0, 1]), UnixTime(100), UnixTime(200));
        let all = NodeSet::all(4);
        // The nodes are free until the very second at which the plan begins: `unplanned` includes
        // both ends of its time, the plan does not include its end.
        assert_eq!(space.unplanned(UnixTime(7), UnixTime(99), &all).nodes, all);
        assert_eq!(space.unplanned(UnixTime(7), UnixTime(100), &all).nodes, nodes(&[2, 3]));
        assert_eq!(space.unplanned(UnixTime(200), UnixTime(300), &all).nodes, all);
        assert!(space.is_planned(&nodes(&[1, 2]), UnixTime(199), UnixTime(300)));
        assert!(!space.is_planned(&nodes(&[1, 2]), UnixTime(200), UnixTime(300)));
        assert!(!space.is_planned(&nodes(&[2]), UnixTime(100), UnixTime(200)));
    }

    #[test]
    fn a_later_look_pays_only_where_other_nodes_are_free() {
        let mut space = NodeSpace::new(UnixTime(0), &parameters(), 4);
        space.plan(&nodes(&[0]), UnixTime(100), UnixTime(200));
        let all = NodeSet::all(4);
        // Fewer nodes are free at 100 than before, and more at 200.
        assert_eq!(space.unplanned(UnixTime(0), UnixTime(300), &all).changes_at, Some(UnixTime(200)));
        assert_eq!(space.unplanned(UnixTime(200), UnixTime(300), &all).changes_at, None);
    }
}
