//! A cluster and its jobs for tests, as slurmctld would tell them.

use std::collections::HashSet;
use std::sync::Arc;

use job_types::job::{EndedJob, WaitingJob};
use job_types::number::{JobId, UserId};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use learning::{Run, RunId};
use slurm_sys::client::JobState;
use slurm_sys::client::controller::{Access, Node, NodeState, Partition, PendingReason, Priorities, QueuedJob, Reservation, Sharing};

use crate::known::cluster::{Cluster, Ended, Queue};
use crate::known::promised_jobs::PromisedJobs;

pub(crate) const NOW: i64 = 1_800_000_000;

pub(crate) fn node(index: usize, state: NodeState) -> Node {
    Node { name: format!("n{index}"), cpus: 4, state, index, partitions: vec!["main".to_owned()] }
}

/// A job of user 7 that asks for whole nodes.
pub(crate) fn job(job_id: u32, state: JobState, nodes: u32) -> QueuedJob {
    QueuedJob {
        job_id: JobId(job_id),
        array_job_id: None,
        task_count: 1,
        name: None,
        user_id: UserId(7),
        user: None,
        account: None,
        partition: Some("main".to_owned()),
        qos: None,
        state,
        cpus: 4 * nodes,
        nodes,
        requested_cpus: None,
        requested_nodes: None,
        time_limit_seconds: Some(3_600),
        shortest_limit_seconds: None,
        submitted: Some(NOW - 100),
        eligible: Some(NOW - 100),
        started: None,
        ended: None,
        suspended_seconds: 0,
        expected_start: None,
        deadline: None,
        reservation: None,
        admin_comment: None,
        site_factor: 0,
        comment: None,
        mail_of_failure: None,
        priority: 10,
        reason: PendingReason::Resources,
        restarts: 0,
        has_dependency: false,
        exclusive: false,
        node_ranges: Vec::new(),
        required_node_ranges: Vec::new(),
    }
}

pub(crate) fn running(job_id: u32, first: usize, last: usize, since: i64) -> QueuedJob {
    let nodes = u32::try_from(last - first + 1).unwrap();
    QueuedJob { started: Some(NOW - since), node_ranges: vec![(first, last)], ..job(job_id, JobState::Running, nodes) }
}

/// A job of user 7 that waited a minute and ran for another.
pub(crate) fn ended(job_id: u32) -> Ended {
    let submitted = WaitingJob {
        user: UserId(7),
        account: Arc::from("a"),
        partition: Arc::from("main"),
        qos: Arc::from("normal"),
        size: Size { nodes: 1, cpus: 4 },
        limit: Some(Seconds(3_600)),
        eligible: UnixTime(NOW - 200),
    };
    Run {
        id: RunId { submitted: NOW - 200, job: JobId(job_id) },
        array: None,
        tasks: 1,
        is_held: false,
        job: EndedJob { submitted, allocated: None, start: Some(UnixTime(NOW - 140)), end: UnixTime(NOW - 80), suspended: Seconds::ZERO },
        promise: None,
        admission: None,
        recorded_forecast: None,
        is_in_slot: false,
        is_interrupted: false,
    }
}

/// Six nodes, of which the fourth in slurmctld's table is down and the second place is empty.
pub(crate) fn cluster(jobs: &[QueuedJob], reservations: Vec<Reservation>) -> Cluster {
    let nodes: Vec<Node> =
        [0, 2, 3, 4, 5].map(|index| node(index, if index == 3 { NodeState::Unavailable } else { NodeState::Busy })).to_vec();
    let queue = Queue::new(&nodes, reservations, jobs, &mut HashSet::new());
    let size = |job: &QueuedJob| Size { nodes: job.nodes, cpus: job.cpus };
    let PromisedJobs { admitted, .. } = PromisedJobs::new(jobs, size, false);
    let (jobs, ended) = (Vec::new(), Vec::new());
    Cluster {
        shared_nodes: Default::default(),
        read_at: UnixTime(NOW),
        controller_ahead: Some(Seconds::ZERO),
        partitions: vec![main_partition()],
        cpus: 20,
        jobs,
        ended,
        reserved: Vec::new(),
        queue,
        limits: Arc::default(),
        record_key: None,
        partition_limits: Vec::new(),
        admitted,
        slots: Vec::new(),
        submissions: Arc::default(),
        priorities: Arc::new(Priorities { plugin: String::new(), only_grows: false, site_factor_plugin: None, enforces_limits: true }),
    }
}

pub(crate) fn main_partition() -> Partition {
    Partition {
        name: "main".to_owned(),
        total_cpus: 20,
        total_nodes: 5,
        max_time_seconds: Some(86_400),
        default_time_seconds: None,
        max_nodes: None,
        min_nodes: 0,
        max_cpus_per_node: None,
        qos: None,
        is_default: true,
        is_up: true,
        sharing: Sharing::Cpus,
        priority_tier: 1,
        node_ranges: vec![(0, 5)],
        state: "UP",
        access: Access::default(),
        tres: None,
    }
}
