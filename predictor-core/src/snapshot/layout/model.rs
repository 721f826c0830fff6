//! Records of what was learnt of waits.

use super::TextRecord;
use crate::forecasts::blend::MEMBERS;
use crate::forecasts::forecast::PERCENTILES;
use crate::forecasts::levels::KNOTS;
use crate::forecasts::reliability::RELIABILITY_LEVELS;
use zerocopy::little_endian::{F32, F64, I64, U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The default predictor of waits, apart from what is in sections of its own.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct ModelRecord {
    /// Weights of the members.
    pub weights: [F32; MEMBERS],
    /// What each forest forecasts before any tree adds to it.
    pub bases: [F64; 2],
    /// How many trees each forest has.
    pub trees: [U32; 2],
    /// How many nodes.
    pub nodes: [U32; 2],
    /// CPUs of the cluster.
    pub cpus: U32,
    /// 1 if the forests are there, 0 if none have been trained.
    pub has_forests: u8,
    /// Unused, zero.
    pub reserved: u8,
    /// How many features the forests were trained on:
    /// [`FEATURES`](crate::forecasts::past::FEATURES). A reader that makes another number does not
    /// use the model.
    pub features: U16,
}

/// Bounds on the wait for a range of point forecasts.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct BoundRowRecord {
    /// Up to which point forecast, as the square root of seconds; the last also for all above.
    pub up_to: F32,
    /// Outcomes that the bounds rest on.
    pub outcomes: U32,
    /// Part of them that did not wait at all.
    pub at_once: F32,
    /// Median of the outcomes in seconds, as corrected.
    pub median_s: U32,
    /// Upper bounds in seconds on the percentiles 1 to 99, ascending.
    pub bounds_s: [U32; PERCENTILES],
}

/// A group of jobs: what they have in common, and the waits of the latest.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct GroupRecord {
    /// What they have in common, 0 to 7: see [`GroupKind`](crate::forecasts::past::GroupKind).
    pub kind: u8,
    /// Unused, zero.
    pub reserved: [u8; 3],
    /// The values.
    pub values: [U32; 3],
    /// The latest wait and the one before, as square roots of seconds.
    pub last: [F32; 2],
    /// Mean over some three waits, as the square root of seconds.
    pub fast: F32,
    /// Mean over some thirty waits, as the square root of seconds.
    pub slow: F32,
    /// Share of those that waited no longer than a minute.
    pub at_once: F32,
    /// How many jobs have started.
    pub starts: F32,
    /// When the latest started in Unix seconds, 0 if none did.
    pub started_at: F64,
    /// When the latest job arrived, in Unix seconds; 0 if none.
    pub arrived_at: F64,
    /// Index of its [`OpenGroupRecord`], [`NO_RECORD`](super::NO_RECORD) if none of its jobs waits
    /// or runs.
    pub open: U32,
}

/// Sums over the jobs of a group that wait, or that run: see [`Sum`](crate::forecasts::past::Sum).
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct SumRecord {
    /// How many jobs.
    pub jobs: F64,
    /// Their CPUs.
    pub cpus: F64,
    /// Their time limits in seconds.
    pub limits_s: F64,
    /// CPUs times time limit.
    pub work: F64,
    /// CPUs times expected run time.
    pub expected_work: F64,
    /// The moments since which they wait or run, in Unix seconds.
    pub since: F64,
    /// CPUs times those moments.
    pub cpus_since: F64,
}

/// The jobs of a group that wait and run.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct OpenGroupRecord {
    /// Sums over the jobs that wait.
    pub waiting: SumRecord,
    /// Sums over the jobs that run.
    pub running: SumRecord,
    /// The time from which on the oldest waiting job of the group has waited, in Unix seconds; 0 if
    /// none waits.
    pub oldest: F64,
}

/// CPUs that are free from a moment on, beyond those that are free now.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct FreedRecord {
    /// The moment in Unix seconds.
    pub at: I64,
    /// CPUs of all jobs that end until then.
    pub cpus: F32,
}

/// A user.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct UserRecord {
    /// Numeric id.
    pub user: U32,
    /// Index of the account of the user's latest job.
    pub account: U32,
    /// Index of its quality of service.
    pub qos: U16,
    /// 1 if there are run times.
    pub has_run_times: u8,
    /// Unused, zero.
    pub reserved: u8,
    /// Run times of the last two jobs that ended, in seconds, the last first.
    pub last_two_s: [F32; 2],
}

/// A name with the index that stands for it.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct NameRecord {
    /// The name.
    pub name: TextRecord,
    /// The index.
    pub index: U32,
}

/// How well the default forecasts have done in a partition: see
/// [`PartitionScore`](crate::forecasts::reliability::PartitionScore).
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct ScoreRecord {
    /// Index of the partition.
    pub partition: U16,
    /// The forecasts that are in force, 0 to 2: none, those of QBETS, the default's.
    pub source: u8,
    /// The reason for that source, 0 to 3: not trained, too few jobs, not calibrated, calibrated.
    pub reason: u8,
    /// Jobs that were forecast and have started.
    pub jobs: U32,
    /// Median absolute error in seconds.
    pub median_error_s: F32,
    /// Mean pinball loss in seconds.
    pub pinball_s: F32,
    /// Part of the jobs that waited at most as long as the bounds at 0.05 to 0.95.
    pub reliability: [F32; RELIABILITY_LEVELS],
}

/// How promises of a class were kept: see
/// [`PromiseLevels`](crate::forecasts::promise::PromiseLevels).
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct PromiseRecord {
    /// Index of the partition.
    pub partition: U16,
    /// Number of the class.
    pub class: u8,
    /// Unused, zero.
    pub reserved: u8,
    /// The level to ask for at each of [`KNOTS`].
    pub levels: [F32; KNOTS.len()],
    /// By how much less often than forecast they were kept, at each of [`KNOTS`].
    pub shortfalls: [F32; KNOTS.len()],
}

/// How many CPUs are reserved from a moment on, until that of the next record.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct ReservedRecord {
    /// 1 for the whole cluster, 0 for one partition.
    pub is_of_cluster: u8,
    /// Unused, zero.
    pub reserved: u8,
    /// Index of the partition.
    pub partition: U16,
    /// The moment in Unix seconds.
    pub at: I64,
    /// The CPUs.
    pub cpus: U64,
}

/// Jobs that were submitted and become eligible until a moment, summed.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct ComingRecord {
    /// 1 for the sum over all partitions, 0 for that of one.
    pub is_of_cluster: u8,
    /// Unused, zero.
    pub reserved: u8,
    /// Index of the partition.
    pub partition: U16,
    /// How many jobs.
    pub jobs: U32,
    /// The moment in Unix seconds.
    pub at: I64,
    /// Their CPUs.
    pub cpus: U64,
    /// Their time limits in seconds.
    pub limits_s: U64,
    /// CPUs times time limit.
    pub work: U64,
}
