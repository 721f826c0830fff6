//! Records of jobs with deadlines.

use crate::forecasts::deadline_history::CLASSES;
use zerocopy::little_endian::{F32, I64, U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// What jobs with deadlines have taught in a partition: see
/// [`DeadlineHistory`](crate::forecasts::deadline_history::DeadlineHistory).
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct DeadlineHistoryRecord {
    /// Index of the partition.
    pub partition: U16,
    /// Unused, zero.
    pub reserved: [u8; 2],
    /// How much more probable than the lowest probability that is admitted a deadline has to be
    /// forecast to be kept as often as that.
    pub shift: F32,
    /// How far below the wanted probability a job is still admitted.
    pub leeway: F32,
    /// Counts of the time to the deadline over the run time.
    pub given: [F32; CLASSES],
    /// Counts of actual over planned waits, of jobs that were planned to start at once.
    pub at_once: [F32; CLASSES],
    /// Counts of actual over planned waits, of jobs that were planned to start later.
    pub later: [F32; CLASSES],
}

/// An admitted job that waits: see [`PromisedJob`](crate::forecasts::promised_job::PromisedJob).
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct PromisedJobRecord {
    /// Index of the job's partition.
    pub partition: U16,
    /// Unused, zero.
    pub reserved: [u8; 2],
    /// How many CPUs the job needs.
    pub cpus: U32,
    /// When the job is to be done, in Unix seconds.
    pub deadline: I64,
    /// When the job is planned to start, in Unix seconds.
    pub start: I64,
    /// When the job is planned to have ended, in Unix seconds.
    pub end: I64,
    /// How much later the job may start, in seconds; less than zero if it is late.
    pub slack_s: I64,
}
