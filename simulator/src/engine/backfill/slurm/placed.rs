//! Planning with named nodes, as Slurm does it.

use std::collections::BTreeMap;

use job_types::time::{Seconds, UnixTime};

use super::super::super::{Cluster, JobIndex, Running};
use super::node_set::NodeSet;
use super::node_space::NodeSpace;
use super::{Planned, SlurmParameters};

/// The places where jobs run and where pending jobs are planned, node by node. Jobs have whole
/// nodes.
#[derive(Debug)]
pub(super) struct Placed {
    processors_per_node: u32,
    all: NodeSet,
    idle: NodeSet,
    of_running: BTreeMap<JobIndex, NodeSet>,
}

/// When and where a job could start.
struct Start {
    at: UnixTime,
    nodes: NodeSet,
}

impl Placed {
    /// All nodes of a machine, idle. Processors that fill no node are left out.
    pub(super) fn new(processors: u32, processors_per_node: u32) -> Self {
        let nodes = (processors / processors_per_node.max(1)) as usize;
        let all = NodeSet::all(nodes);
        Self { processors_per_node: processors_per_node.max(1), idle: all.clone(), all, of_running: BTreeMap::new() }
    }

    pub(super) fn ended(&mut self, job: JobIndex) {
        if let Some(nodes) = self.of_running.remove(&job) {
            self.idle.extend(&nodes);
        }
    }

    /// Starts a job on idle nodes, whatever is planned on them: the main scheduler. False if too
    /// few are idle.
    pub(super) fn start(&mut self, job: JobIndex, processors: u32) -> bool {
        let chosen = self.idle.choose(self.nodes_for(processors));
        let starts = chosen.is_some();
        if let Some(nodes) = chosen {
            self.occupy(job, nodes);
        }
        starts
    }

    pub(super) fn space(&self, now: UnixTime, parameters: &SlurmParameters) -> NodeSpace {
        NodeSpace::new(now, parameters, self.all.count())
    }

    /// Starts or plans one job of a backfill pass (`_attempt_backfill`). `may_plan`: whether nodes
    /// may be kept for it.
    pub(super) fn plan(
        &mut self,
        space: &mut NodeSpace,
        cluster: &Cluster,
        position: usize,
        parameters: &SlurmParameters,
        may_plan: bool,
    ) -> Planned {
        let Some(&entry) = cluster.waiting().get(position) else { return Planned::Nothing };
        let now = cluster.now();
        let wanted = self.nodes_for(entry.processors);
        let down = |time| parameters.rounded_down(time);
        let mut not_before = now;
        let mut outcome = Planned::Nothing;
        loop {
            let unplanned = space.unplanned(not_before, not_before + entry.expected, &self.all);
            let later = unplanned.changes_at.filter(|_| may_plan);
            let mut start = None;
            if unplanned.nodes.count() >= wanted {
                outcome = Planned::Tried;
                start = self.earliest(&unplanned.nodes, wanted, cluster.running(), now);
            }
            let Some(start) = start else {
                let Some(later) = later else { return outcome };
                not_before = later;
                continue;
            };
            let at = start.at.max(not_before);
            if at <= now {
                self.occupy(entry.job, start.nodes);
                return Planned::Started;
            }
            if !may_plan {
                return outcome;
            }
            if let Some(later) = later.filter(|&later| at > later) {
                not_before = later;
                continue;
            }
            if at > now + parameters.bf_window {
                return outcome;
            }
            let (from, until) = (down(at), down(at + entry.expected));
            if at > not_before && space.is_planned(&start.nodes, from, until) {
                not_before = at;
                continue;
            }
            space.plan(&start.nodes, from, until);
            return outcome;
        }
    }

    /// When and on which of `nodes` so many are idle first, as running jobs reach their limits
    /// (`_will_run_test` in src/plugins/select/cons_common/job_test.c): ends that are close to one
    /// another count as one, and what is close grows from half a minute on.
    fn earliest(&self, nodes: &NodeSet, wanted: usize, running: &Running, now: UnixTime) -> Option<Start> {
        let mut free = self.idle.shared_with(nodes);
        if let Some(nodes) = free.choose(wanted) {
            return Some(Start { at: now, nodes });
        }
        let ends: Vec<(UnixTime, &NodeSet)> =
            running.by_expected_end().filter_map(|(end, _, job)| Some((end, self.of_running.get(&job)?))).collect();
        let mut close = Seconds(30);
        let mut first_end = None;
        let mut rest = ends.iter().enumerate();
        loop {
            let mut last_end = None;
            let mut next_end = None;
            for (place, &(end, of_job)) in rest.by_ref() {
                if !of_job.overlaps(nodes) {
                    continue;
                }
                let barrier = *first_end.get_or_insert(UnixTime(end.0 + 30 - end.0.rem_euclid(30)));
                free.extend(&of_job.shared_with(nodes));
                last_end = Some(end);
                next_end = ends.get(place + 1).map(|&(end, _)| end);
                if next_end.is_some_and(|next| next > barrier + close) {
                    break;
                }
            }
            let (last_end, barrier) = (last_end?, first_end?);
            loop {
                close = close + close;
                if next_end.is_none_or(|next| next <= barrier + close) {
                    break;
                }
            }
            if let Some(nodes) = free.choose(wanted) {
                return Some(Start { at: last_end.max(now + Seconds(1)), nodes });
            }
        }
    }

    fn nodes_for(&self, processors: u32) -> usize {
        processors.div_ceil(self.processors_per_node) as usize
    }

    fn occupy(&mut self, job: JobIndex, nodes: NodeSet) {
        self.idle.remove(&nodes);
        self.of_running.insert(job, nodes);
    }
}
