//! What a plan needs of the cluster, as slurmctld described it.

use job_types::number::{JobId, UserId};
use std::collections::HashSet;
use std::sync::Arc;

use job_types::record::wait_on_nodes;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use slurm_sys::client::JobState;
use slurm_sys::client::controller::{Node, NodeState, PendingReason, QueuedJob, Reservation};

use crate::known::names::shared;

/// What a plan needs of the cluster. Nodes are known by their places in slurmctld's node table.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// The nodes by their place in slurmctld's table; `None` for a place without a node.
    pub(crate) nodes: Vec<Option<PlanNode>>,
    pub(crate) reservations: Vec<Reservation>,
    pub(crate) jobs: Vec<PlanJob>,
}

/// A node, as far as a plan needs it.
#[derive(Debug, Clone)]
pub(crate) struct PlanNode {
    pub(crate) cpus: u32,
    /// Whether it takes new jobs.
    pub(crate) takes_jobs: bool,
    pub(crate) partitions: Vec<Arc<str>>,
}

/// A job that waits or holds nodes. [`QueuedRun`](super::QueuedRun) is the same job as the learner
/// sees it. This one has what a plan alone asks: all of the job's partitions and nodes. Jobs that
/// are completing have one as well.
#[derive(Debug, Clone)]
pub(crate) struct PlanJob {
    pub(crate) job_id: JobId,
    /// The number of the array whose task or tasks it is.
    pub(crate) array: Option<JobId>,
    pub(crate) user: UserId,
    /// The partitions in which the job runs or may run, in the order in which the job names them.
    pub(crate) partitions: Vec<Arc<str>>,
    pub(crate) size: Size,
    pub(crate) limit: Option<Seconds>,
    pub(crate) reservation: Option<String>,
    pub(crate) phase: Phase,
}

impl PlanJob {
    /// What its time limit leaves for its run, without what it waits on its nodes for.
    pub(crate) fn limit_of_run(&self) -> Option<Seconds> {
        let waits = match self.phase {
            Phase::Running { waits_on_nodes, .. } => waits_on_nodes,
            Phase::Pending { .. } | Phase::Completing { .. } => Seconds::ZERO,
        };
        self.limit.map(|limit| limit - waits)
    }
}

/// How far it has come.
#[derive(Debug, Clone)]
pub(crate) enum Phase {
    /// The job waits.
    Pending {
        tasks: u32,
        exclusive: bool,
        priority: u32,
        reason: PendingReason,
        /// `None` where something else than resources and priority keeps it waiting.
        eligible: Option<UnixTime>,
    },
    /// The job runs.
    Running {
        start: UnixTime,
        /// How many seconds since then the job was suspended.
        suspended: Seconds,
        /// How long the job waits on its nodes for its reserved time, counted from its start.
        waits_on_nodes: Seconds,
        /// The nodes that the job has, as inclusive ranges of indices.
        nodes: Vec<(usize, usize)>,
    },
    /// It has ended, and its nodes are about to be free.
    Completing { nodes: Vec<(usize, usize)> },
}

impl Queue {
    /// Takes from slurmctld's answers what a plan needs.
    pub(crate) fn new(nodes: &[Node], reservations: Vec<Reservation>, queue: &[QueuedJob], names: &mut HashSet<Arc<str>>) -> Self {
        let count = nodes.iter().map(|node| node.index + 1).max().unwrap_or(0);
        let mut places = vec![None; count];
        for node in nodes {
            if let Some(place) = places.get_mut(node.index) {
                *place = Some(PlanNode {
                    cpus: node.cpus,
                    takes_jobs: matches!(node.state, NodeState::Idle | NodeState::Busy),
                    partitions: node.partitions.iter().map(|name| shared(name, names)).collect(),
                });
            }
        }
        Self { nodes: places, reservations, jobs: queue.iter().filter_map(|job| PlanJob::of(job, names)).collect() }
    }
}

impl PlanJob {
    /// `None` for a job that neither waits nor holds nodes. One that is suspended has given its
    /// CPUs back.
    fn of(job: &QueuedJob, names: &mut HashSet<Arc<str>>) -> Option<Self> {
        let limit = job.time_limit_seconds.map(Seconds);
        let phase = match job.state {
            JobState::Pending => Phase::Pending {
                tasks: job.task_count,
                exclusive: job.exclusive,
                priority: job.priority,
                reason: job.reason,
                eligible: job.eligible.map(UnixTime),
            },
            JobState::Running => {
                let start = UnixTime(job.started?);
                let waits_on_nodes = wait_on_nodes(job.admin_comment.as_deref(), start, limit);
                Phase::Running { start, suspended: Seconds(job.suspended_seconds), waits_on_nodes, nodes: job.node_ranges.clone() }
            }
            JobState::Completing => Phase::Completing { nodes: job.node_ranges.clone() },
            _ => return None,
        };
        Some(Self {
            job_id: job.job_id,
            array: job.array_job_id,
            user: job.user_id,
            partitions: job.partition.as_deref()?.split(',').map(|name| shared(name, names)).collect(),
            size: Size { nodes: job.nodes.max(1), cpus: job.cpus.max(1) },
            limit,
            reservation: job.reservation.clone(),
            phase,
        })
    }
}
