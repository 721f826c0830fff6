//! What a snapshot is written of besides what was learnt: the partitions as they are now, and where
//! the snapshot comes from.

use crate::coming::ComingJob;
use crate::reserved::ReservedCpus;
use crate::submissions::SeenSubmissions;
use crate::text::Text;
use job_types::number::UserId;
use job_types::policy::Policy;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::limits::{AccountingLimits, PartitionLimits};
use predictor_core::decisions::shared_nodes::{SharedNode, SharingJob};
use predictor_core::decisions::slurm_reservations::SlurmReservation;
use std::sync::Arc;

/// A partition as slurmctld describes it now.
#[derive(Clone, Debug)]
pub struct PartitionState {
    /// The partition's name.
    pub name: String,
    /// What the site allows in the partition.
    pub policy: Policy,
    /// Whether jobs that name no partition go to this one.
    pub is_default: bool,
    /// Whether jobs get whole nodes.
    pub whole_nodes: bool,
    /// CPUs of the partition's nodes.
    pub cpus: u32,
    /// How many nodes the partition has.
    pub nodes: u32,
    /// Longest time limit; `None` is unlimited.
    pub max_time: Option<Seconds>,
    /// Time limit of a job that gives none; `None` is `max_time`.
    pub default_time: Option<Seconds>,
    /// The jobs that run in the partition.
    pub running: Vec<RunningJob>,
    /// How many of the partition's pending jobs are eligible.
    pub pending_jobs: u32,
    /// CPUs that these eligible jobs ask for.
    pub pending_cpus: u64,
    /// Jobs that were submitted for the partition and become eligible later, in any order.
    pub coming: Vec<ComingJob>,
    /// What the partition's jobs with virtual reservations take, in any order.
    pub reserved: Vec<ReservedCpus>,
    /// What the partition allows one job besides.
    pub limits: PartitionLimits,
    /// What Slurm's own reservations take of the partition's nodes, in any order; of more than
    /// `MOST_SLURM_RESERVATIONS` those that begin first are kept.
    pub slurm_reservations: Vec<SlurmReservation>,
    /// The partition's nodes whose CPUs jobs share, where jobs are admitted to the partition by
    /// shares.
    pub shared_nodes: Vec<SharedNodeState>,
}

/// A node whose CPUs jobs share, and that takes jobs.
#[derive(Clone, Debug)]
pub struct SharedNodeState {
    /// The node's name.
    pub name: String,
    /// How many CPUs the node has.
    pub cpus: u32,
    /// How many jobs may share each of the node's CPUs.
    pub jobs_to_a_cpu: u16,
    /// The jobs that the node has, and those that will have it.
    pub jobs: Vec<SharingJob>,
}

impl SharedNodeState {
    pub(super) fn record(&self, text: &mut Text) -> SharedNode {
        let name = text.add(&self.name);
        let mut record = SharedNode::idle(self.cpus, self.jobs_to_a_cpu, (name.offset.get(), name.length.get()));
        self.jobs.iter().for_each(|job| record.add(*job));
        record
    }
}

/// A running job, as far as its end is to be expected. A snapshot keeps no more of it: not the
/// account, the quality of service and the moment of eligibility of `job_types::job::RunningJob`.
#[derive(Clone, Copy, Debug)]
pub struct RunningJob {
    /// Numeric id of the user.
    pub user: UserId,
    /// Nodes and CPUs.
    pub size: Size,
    /// When it started.
    pub start: UnixTime,
    /// How long it waits on its nodes for a reserved time from then on, before it runs.
    pub waits_on_nodes: Seconds,
    /// When its time limit ends it; `None` is never.
    pub limit_end: Option<UnixTime>,
}

/// Where a snapshot comes from: the cluster, the daemon's clock and its configuration.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// Name of the cluster.
    pub cluster: String,
    /// What is wrong with the configuration file, empty if nothing.
    pub configuration_error: String,
    /// Number of this snapshot.
    pub generation: u64,
    /// When it is published.
    pub published_at: UnixTime,
    /// Age beyond which it is not to be used.
    pub maximum_age: Seconds,
    /// Confidence with which the history was fitted.
    pub confidence: f64,
    /// Policy of partitions that are not among those given.
    pub site_policy: Policy,
    /// When slurmdbd was last read; `None` if never.
    pub accounting_read_at: Option<UnixTime>,
    /// When slurmctld was last read; `None` if never.
    pub controller_read_at: Option<UnixTime>,
    /// By how many seconds slurmctld's clock was ahead of the daemon's at that time; 0 if that is
    /// not known.
    pub controller_ahead: Seconds,
    /// When the configuration in force was loaded.
    pub configuration_loaded_at: UnixTime,
    /// What accounting allows jobs.
    pub limits: Arc<AccountingLimits>,
    /// Which submissions have become jobs lately.
    pub submissions: Arc<SeenSubmissions>,
}
