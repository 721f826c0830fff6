//! What decisions ask about a cluster besides forecasts: its partitions, and what accounting
//! allows.
//!
//! Whoever wants a decision answers these questions from its own state: the snapshot from its
//! records, a simulator from its machine.

use crate::decisions::limits::{Applying, NodeSizes};
use crate::decisions::shared_nodes::SharedNode;
use crate::decisions::slurm_reservations::SlurmReservation;
use job_types::number::{PartitionIndex, UserId};
use job_types::policy::Policy;
use job_types::size::Size;
use job_types::time::Seconds;

/// What a partition allows one job, and what is in demand there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Partition<'a> {
    /// The partition's index.
    pub index: PartitionIndex,
    /// The partition's name.
    pub name: &'a str,
    /// What the site allows in the partition.
    pub policy: Policy,
    /// CPUs of the partition's nodes; 0 where slurmctld does not know the partition.
    pub cpus: u32,
    /// How many nodes the partition has.
    pub nodes: u32,
    /// Whether jobs get whole nodes.
    pub whole_nodes: bool,
    /// Longest time limit (`MaxTime`); `None` is unlimited.
    pub max_time: Option<Seconds>,
    /// Time limit of a job that gives none (`DefaultTime`), where the partition sets one.
    pub own_default_time: Option<Seconds>,
    /// Fewest nodes of a job (`MinNodes`), 0 for no such limit.
    pub least_nodes: u32,
    /// Most nodes of a job (`MaxNodes`).
    pub most_nodes: Option<u32>,
    /// Most CPUs of a job on each node (`MaxCPUsPerNode`).
    pub most_cpus_per_node: Option<u32>,
    /// The number of the partition's nodes that take jobs and the sizes of its nodes, where they
    /// are known.
    pub node_sizes: Option<NodeSizes>,
    /// What Slurm's own reservations take of the partition's nodes, in the order of their groups
    /// and begins.
    pub slurm_reservations: &'a [SlurmReservation],
    /// The partition's nodes that take jobs, where jobs share their CPUs whether they ask for it or
    /// not and are admitted by shares; none elsewhere.
    pub shared_nodes: &'a [SharedNode],
    /// What runs and waits in the partition.
    pub demand: Demand,
}

/// What runs and waits in a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// Running jobs.
    pub running_jobs: u32,
    /// Pending jobs that are eligible.
    pub pending_jobs: u32,
    /// CPUs of the running jobs.
    pub running_cpus: u64,
    /// CPUs of the pending jobs that are eligible.
    pub pending_cpus: u64,
}

impl Partition<'_> {
    /// Time limit of a job that gives none; `None` is unlimited.
    #[must_use]
    pub fn default_time(&self) -> Option<Seconds> {
        self.own_default_time.or(self.max_time)
    }

    /// Whether a job of that size and time limit could run in it when nothing else did.
    #[must_use]
    pub fn could_run(&self, size: Size, limit: Option<Seconds>) -> bool {
        let fits_limit = self.max_time.is_none_or(|most| limit.is_none_or(|limit| limit <= most));
        size.nodes <= self.nodes && size.cpus <= self.cpus && fits_limit
    }
}

/// The partitions of a cluster, and what accounting allows in them.
pub trait Site {
    /// The partition of that name.
    fn partition(&self, name: &str) -> Option<Partition<'_>>;

    /// The partition of jobs that name none.
    fn default_partition(&self) -> Option<Partition<'_>>;

    /// The policy of partitions that are not known.
    fn site_policy(&self) -> Policy;

    /// The limits of accounting that apply to a user's job in the partition of that index.
    ///
    /// A job that names no account or no quality of service has the user's default one.
    fn accounting_limits(&self, user: UserId, account: Option<&str>, qos: Option<&str>, partition: PartitionIndex) -> Applying;
}
