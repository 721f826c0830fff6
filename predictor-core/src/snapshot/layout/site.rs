//! Records of the site and of its partitions.

use super::TextRecord;
use zerocopy::little_endian::{F32, I64, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// What the site allows in a partition.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct PolicyRecord {
    /// Mode, 0 to 3: off, observe, advise, enforce.
    pub mode: u8,
    /// When jobs are molded, 0 to 2: never, where asked, always.
    pub mold: u8,
    /// When jobs are deferred, 0 to 2: never, where asked, always.
    pub defer: u8,
    /// Whether virtual reservations are given, 0 or 1.
    pub reserve: u8,
    /// Default of an early start, 0 or 1: wait, run.
    pub early_start: u8,
    /// What becomes of a job that has not started by its reserved time, 0 or 1: it runs, it is
    /// cancelled.
    pub if_missed: u8,
    /// The rule by which jobs with deadlines are admitted, 0 to 4: none, earliest deadline first,
    /// Libra, LibraRisk, probability.
    pub admission: u8,
    /// What becomes of jobs with deadlines without a forecast, 0 or 1: they pass, they are refused.
    pub admission_without_forecast: u8,
    /// Default probability of a virtual reservation.
    pub success_probability: F32,
    /// Probability with which admitted jobs are to be done by their deadlines.
    pub deadline_probability: F32,
    /// The part of its response time that a job must at least gain to be molded or deferred.
    pub min_gain: F32,
    /// The time in seconds that it must at least gain as well.
    pub min_gain_time_s: U32,
    /// The part of its response by which a job must be done sooner to be deferred.
    pub defer_threshold: F32,
    /// Longest deferral in seconds.
    pub max_defer_s: U32,
    /// What the guard holds back: 1 for molding, 2 for deferral, 3 for both.
    pub held_back: u8,
    /// What a change of a job may do to others, 0 to 2: anything, as much as it gains, nothing.
    pub others: u8,
    /// Unused, zero.
    pub reserved: [u8; 2],
}

/// The site as a whole, and where the snapshot comes from.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct SiteRecord {
    /// Policy of partitions that the snapshot does not know.
    pub policy: PolicyRecord,
    /// Age in seconds beyond which the snapshot is not to be used.
    pub maximum_age_s: U32,
    /// Confidence of the bounds.
    pub confidence: F32,
    /// Name of the cluster.
    pub cluster: TextRecord,
    /// What is wrong with the configuration file, empty if nothing.
    pub configuration_error: TextRecord,
    /// Ended jobs in the history.
    pub ended_jobs: U64,
    /// End of the first of them in Unix seconds, 0 if none.
    pub oldest_end: I64,
    /// End of the last of them.
    pub newest_end: I64,
    /// When slurmdbd was last read in Unix seconds, 0 if never.
    pub accounting_read_at: I64,
    /// When slurmctld was last read.
    pub controller_read_at: I64,
    /// How many seconds slurmctld's clock was ahead of the daemon's when slurmctld was last read, 0
    /// if that is not known.
    pub controller_ahead_s: I64,
    /// When the configuration in force was loaded.
    pub configuration_loaded_at: I64,
    /// The time from which on all submissions that became jobs are among the [`SubmissionRecord`]s,
    /// in Unix seconds, 0 if that is not known.
    pub submissions_since: I64,
}

/// A submission that became a job.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct SubmissionRecord {
    /// When the submission became a job, in Unix seconds.
    pub submitted_at: I64,
    /// The user whose job it is.
    pub user: U32,
    /// Nodes that it asked for.
    pub nodes: U32,
    /// CPUs that it asked for.
    pub cpus: U32,
}

/// A partition.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct PartitionRecord {
    /// The partition's name.
    pub name: TextRecord,
    /// What the site allows in the partition.
    pub policy: PolicyRecord,
    /// 1 if jobs that name no partition go there.
    pub is_default: u8,
    /// 1 if jobs get whole nodes.
    pub whole_nodes: u8,
    /// Unused, zero.
    pub reserved: [u8; 2],
    /// How many CPUs the partition's nodes have, 0 if slurmctld does not know the partition.
    pub cpus: U32,
    /// How many nodes the partition has.
    pub nodes: U32,
    /// Longest time limit in seconds, [`NONE_S`](super::NONE_S) if unlimited.
    pub max_time_s: U32,
    /// Time limit of a job that gives none, [`NONE_S`](super::NONE_S) if it is `max_time_s`.
    pub default_time_s: U32,
    /// How many jobs run in the partition.
    pub running_jobs: U32,
    /// How many of the partition's pending jobs are eligible.
    pub pending_jobs: U32,
    /// CPUs of the running jobs.
    pub running_cpus: U64,
    /// CPUs of the pending jobs that are eligible.
    pub pending_cpus: U64,
    /// First of the partition's records among the expected ends.
    pub first_end: U32,
    /// How many of these records there are.
    pub ends: U32,
    /// Fewest nodes of a job, 0 for no such limit.
    pub least_nodes: U32,
    /// Most nodes of a job, [`NONE_S`](super::NONE_S) for no such limit.
    pub most_nodes: U32,
    /// Most CPUs of a job on each node, [`NONE_S`](super::NONE_S) for no such limit.
    pub most_cpus_per_node: U32,
    /// Index of the partition's quality of service, [`NO_RECORD`](super::NO_RECORD) if it has none.
    pub qos: U32,
    /// How many of the partition's nodes take jobs now, [`NONE_S`](super::NONE_S) where nothing is
    /// known of the nodes.
    pub usable_nodes: U32,
    /// CPUs of the smallest node that takes jobs now.
    pub least_node_cpus: U32,
    /// CPUs of the largest of all the partition's nodes.
    pub most_node_cpus: U32,
    /// First of the partition's records among those of Slurm's own reservations.
    pub first_slurm_reservation: U32,
    /// How many of these records there are.
    pub slurm_reservations: U32,
    /// First of the partition's records among the nodes whose CPUs jobs share.
    pub first_shared_node: U32,
    /// How many of these records there are.
    pub shared_nodes: U32,
}
