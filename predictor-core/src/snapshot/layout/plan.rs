//! Records of a plan of the queue.

use zerocopy::little_endian::{F32, I64, U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// A plan of the queue: see [`QueuePlan`](crate::forecasts::queue_plan::QueuePlan).
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct PlanRecord {
    /// The moment of which the plan is, in Unix seconds.
    pub at: I64,
    /// How many jobs wait.
    pub pending_jobs: U32,
    /// 1 if every job was placed for which there is room at all.
    pub is_complete: u8,
    /// Unused, zero.
    pub reserved: [u8; 3],
}

/// A job that waits, and when it is expected to start.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct PlannedJobRecord {
    /// The job's number.
    pub job: U32,
    /// Numeric id of the job's user.
    pub user: U32,
    /// Index of the job's partition.
    pub partition: U16,
    /// Why no start is expected: the place in
    /// [`PlanObstacle::ALL`](crate::forecasts::queue_plan::PlanObstacle::ALL) counted from 1; 0 if
    /// one is.
    pub obstacle: u8,
    /// Unused, zero.
    pub reserved: u8,
    /// The number of nodes of one task.
    pub nodes: U32,
    /// The number of CPUs of one task.
    pub cpus: U32,
    /// How many tasks of an array the job stands for.
    pub tasks: U32,
    /// The job's time limit in seconds, [`NONE_S`](super::NONE_S) if unlimited.
    pub limit_s: U32,
    /// slurmctld's priority of the job.
    pub priority: U32,
    /// When the job starts if jobs end early, in Unix seconds; 0 if no start is expected.
    pub lower: I64,
    /// When the job is expected to start, in Unix seconds; 0 if no start is expected.
    pub expected: I64,
    /// When the job starts if jobs run to their time limits, in Unix seconds; 0 if no start is
    /// expected.
    pub upper: I64,
}

/// What a plan says of a partition.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct PlannedPartitionRecord {
    /// Index of the partition.
    pub partition: U16,
    /// Unused, zero.
    pub reserved: [u8; 2],
    /// CPUs of a node, on average, rounded up.
    pub cpus_per_node: U32,
    /// First of its records among the free CPUs.
    pub first_free: U32,
    /// How many of these records there are.
    pub free: U32,
    /// First of the sizes of its grid.
    pub first_size: U32,
    /// How many of these records there are.
    pub sizes: U32,
    /// First of the limits of its grid.
    pub first_limit: U32,
    /// How many of these records there are.
    pub limits: U32,
    /// First of the starts of its grid: sizes times limits, those of one size together.
    pub first_start: U32,
}

/// CPUs that are free from a moment on.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct FreeRecord {
    /// The moment in Unix seconds.
    pub at: I64,
    /// How many CPUs.
    pub cpus: U32,
}

/// When a job of the grid would start, in seconds after the plan was made;
/// [`NONE_S`](super::NONE_S) if there is never room.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct StartRecord {
    /// The earliest start, which assumes that jobs end early.
    pub lower_s: U32,
    /// The start if jobs end when they are expected to.
    pub expected_s: U32,
    /// The latest start, which assumes that jobs run to their time limits.
    pub upper_s: U32,
}

/// What a CPU of a partition costs those who wait, up to a time ahead: see
/// [`PriceStep`](crate::forecasts::price::PriceStep).
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct PriceRecord {
    /// Index of the partition.
    pub partition: U16,
    /// Unused, zero.
    pub reserved: [u8; 2],
    /// Until when it holds, in seconds after the prices were made.
    pub until_s: U32,
    /// By how many seconds all others together wait longer for each CPU that is taken for a second.
    pub waited: F32,
    /// When the prices of the partition were made, in Unix seconds.
    pub at: I64,
}
