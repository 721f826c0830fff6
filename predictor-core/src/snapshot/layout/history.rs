//! Records of the history: the classes of waits, and the run times of users.

use crate::forecasts::forecast::PERCENTILES;
use zerocopy::little_endian::{I64, U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The waits of one class.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct WaitClassRecord {
    /// Index of the partition.
    pub partition: U16,
    /// Unused, zero.
    pub reserved: [u8; 2],
    /// The number of times that the waits of the class have changed.
    pub changes: U32,
    /// Jobs that the bounds rest on.
    pub jobs: U32,
    /// Median wait in seconds.
    pub median_s: U32,
    /// Upper bounds in seconds on the percentiles 1 to 99, ascending, all bits set where there is
    /// none.
    pub bounds_s: [U32; PERCENTILES],
}

/// A rectangle of sizes and time limits, and the class that its jobs belong to. Those of a
/// partition hold every job once.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct WaitRegionRecord {
    /// Index of the partition.
    pub partition: U16,
    /// Unused, zero.
    pub reserved: [u8; 2],
    /// Place of the class among the [`WaitClassRecord`]s.
    pub class: U32,
    /// Fewest CPUs.
    pub first_cpus: U32,
    /// Most CPUs.
    pub last_cpus: U32,
    /// Shortest time limit in seconds.
    pub first_limit_s: U32,
    /// Longest time limit in seconds; all bits set where it holds jobs without one.
    pub last_limit_s: U32,
}

/// The mark of run times that are one user's.
pub const ONE_USERS: u8 = 1;

/// The mark of run times under one time limit.
pub const OF_ONE_LIMIT: u8 = 2;

/// Stands for whichever size, in the place of a unit.
pub const ANY_SIZE: u8 = 2;

/// The run times of jobs that have something in common: of a user's jobs of one size, or of one
/// time limit, or of everybody's.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct RunTimeModelRecord {
    /// Numeric id of the user; 0 where they are everybody's.
    pub user: U32,
    /// Index of the partition.
    pub partition: U16,
    /// 0 where `count` is nodes, 1 where it is CPUs, [`ANY_SIZE`] where they are of whichever size.
    pub unit: u8,
    /// The sum of [`ONE_USERS`] and [`OF_ONE_LIMIT`], where they are that.
    pub shared: u8,
    /// The size; 0 for whichever.
    pub count: U32,
    /// The time limit in seconds; 0 for whichever.
    pub limit_s: U32,
    /// Jobs that the ranges rest on.
    pub jobs: U32,
    /// Their longest time limit in seconds, [`NONE_S`](super::NONE_S) if one was unlimited.
    pub longest_limit_s: U32,
    /// First of its records among the ranges.
    pub first_range: U32,
    /// How many of these records there are.
    pub ranges: U32,
}

/// When a running job is expected to end.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct ExpectedEndRecord {
    /// Unix seconds.
    pub at: I64,
    /// CPUs that it holds.
    pub cpus: U32,
    /// CPUs of the partition's running jobs that are expected to have ended by then, this one's
    /// among them.
    pub freed: U32,
}
