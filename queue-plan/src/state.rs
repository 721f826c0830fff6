//! What a plan is made from: the cluster as it is now.

use crate::resources::Resources;
use crate::run_time::RunTimes;
use job_types::number::JobId;
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::queue_plan::PlanObstacle;

/// The cluster as it is now. Nodes, partitions and reservations are known by their places in the
/// lists here.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The present.
    pub now: UnixTime,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The partitions.
    pub partitions: Vec<Partition>,
    /// The reservations that have not ended.
    pub reservations: Vec<Reservation>,
    /// The jobs that hold nodes.
    pub running: Vec<RunningJob>,
    /// The jobs that wait, in any order.
    pub pending: Vec<PendingJob>,
}

/// A node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// What jobs may use of it, with the node itself; nothing where there is none at this place.
    pub offers: Resources,
    /// Whether it takes new jobs. Of one that is down or drained nothing is expected; when it will
    /// return is not known.
    pub takes_jobs: bool,
}

/// A partition.
#[derive(Clone, Debug, Default)]
pub struct Partition {
    /// The partition's nodes, by their places in [`State::nodes`].
    pub nodes: Vec<u32>,
    /// Whether jobs start in the partition.
    pub is_up: bool,
    /// The partition's longest time limit; `None` is unlimited.
    pub longest_limit: Option<Seconds>,
    /// The most nodes for one job; `None` is all of the partition's.
    pub most_nodes: Option<u32>,
    /// Whether every job gets whole nodes.
    pub whole_nodes: bool,
    /// Jobs of a partition with a higher tier come before all of those with a lower one
    /// (`PriorityTier` of slurm.conf).
    pub tier: u32,
}

/// Nodes, or a part of them, kept for some during a time.
#[derive(Clone, Debug, Default)]
pub struct Reservation {
    /// When it begins.
    pub start: UnixTime,
    /// When it ends.
    pub end: UnixTime,
    /// The nodes.
    pub nodes: Vec<u32>,
    /// The resources of its nodes that the reservation keeps; `None` means all of them.
    pub keeps: Option<Resources>,
}

/// A job that holds nodes. Of a running job (`job_types::job::RunningJob`) a plan needs neither
/// whose it is nor when it started, but its nodes and how much longer it holds them; and one that
/// is completing, which runs no more, holds nodes as well.
#[derive(Clone, Debug, Default)]
pub struct RunningJob {
    /// The nodes.
    pub nodes: Vec<u32>,
    /// What it holds, which is taken to be spread evenly over them.
    pub holds: Resources,
    /// The reservation that it runs in.
    pub reservation: Option<u32>,
    /// How much longer it runs.
    pub remaining: RunTimes,
}

/// A job that waits, or the waiting tasks of an array: what places it in the queue and on nodes.
/// `job_types::job::WaitingJob` says whose job it is and what it is charged to, which a plan does
/// not ask, and knows one partition, by an index that means something outside of the plan.
#[derive(Clone, Debug, Default)]
pub struct PendingJob {
    /// The job's number.
    pub id: JobId,
    /// The partitions in which the job may run.
    pub partitions: Vec<u16>,
    /// What one task asks for.
    pub asks: Resources,
    /// How many tasks the job stands for, 1 where it is no array.
    pub tasks: u32,
    /// Whether the job wants its nodes to itself.
    pub whole_nodes: bool,
    /// slurmctld's priority of the job; the higher comes first.
    pub priority: u32,
    /// When the job may start at the earliest.
    pub eligible: UnixTime,
    /// The job's time limit; `None` is unlimited.
    pub limit: Option<Seconds>,
    /// How long the job runs.
    pub run_time: RunTimes,
    /// The reservation that the job waits for.
    pub reservation: Option<u32>,
    /// What keeps the job from starting at a time that can be foreseen.
    pub obstacle: Option<PlanObstacle>,
}
