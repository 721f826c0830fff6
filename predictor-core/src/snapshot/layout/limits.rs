//! Records of the limits of accounting.

use super::TextRecord;
use zerocopy::little_endian::{F32, U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Stands for "all partitions" in an association's record.
pub const ALL_PARTITIONS: u16 = u16::MAX;

/// Caps on a job: see [`Caps`](crate::decisions::limits::Caps).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct CapsRecord {
    /// Longest time limit in seconds, [`NONE_S`](super::NONE_S) for no such cap.
    pub wall_s: U32,
    /// Most CPUs, [`NONE_S`](super::NONE_S) for no such cap.
    pub cpus: U32,
    /// Most nodes, [`NONE_S`](super::NONE_S) for no such cap.
    pub nodes: U32,
    /// Most CPUs on each node, [`NONE_S`](super::NONE_S) for no such cap.
    pub cpus_per_node: U32,
    /// Most CPUs times minutes of time limit, all bits set for no such cap.
    pub cpu_minutes: U64,
    /// 1 if another resource is capped.
    pub other: u8,
    /// 1 if another resource times minutes is.
    pub other_minutes: u8,
    /// Unused, zero.
    pub reserved: [u8; 2],
}

/// Limits on a job: see [`JobLimits`](crate::decisions::limits::JobLimits).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct LimitsRecord {
    /// Caps on each job.
    pub job: CapsRecord,
    /// Caps on all jobs together.
    pub group: CapsRecord,
    /// Caps on all jobs of a user or of an account.
    pub member: CapsRecord,
}

/// A quality of service: see [`Qos`](crate::decisions::limits::Qos).
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct QosRecord {
    /// The name of the quality of service.
    pub name: TextRecord,
    /// Slurm's number of the quality of service.
    pub id: U32,
    /// Index of the limits of the quality of service.
    pub limits: U32,
    /// Fewest CPUs of a job, 0 for no such limit.
    pub least_cpus: U32,
    /// Fewest nodes of a job, 0 for no such limit.
    pub least_nodes: U32,
    /// The factor by which an association's caps are multiplied.
    pub limit_factor: F32,
    /// Bits, from the lowest: the quality of service goes before the partition's; the partition's
    /// longest time limit, most nodes and fewest nodes do not hold; another resource has a least
    /// amount.
    pub flags: u8,
    /// Unused, zero.
    pub reserved: [u8; 3],
}

/// An association: see [`AssociationLimits`](crate::decisions::limits::AssociationLimits).
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct AssociationRecord {
    /// Numeric id of the user, [`NO_RECORD`](super::NO_RECORD) for that of an account itself.
    pub user: U32,
    /// The account.
    pub account: TextRecord,
    /// Index of the partition that it is about, all bits set if it is about all.
    pub partition: U16,
    /// 1 if it is that of the user's jobs that name no account.
    pub is_default: u8,
    /// Unused, zero.
    pub reserved: u8,
    /// Number of the quality of service of jobs that name none, [`NO_RECORD`](super::NO_RECORD) if
    /// there is none.
    pub default_qos: U32,
    /// Index of its limits.
    pub limits: U32,
}
