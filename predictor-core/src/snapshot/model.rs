//! What the daemon has learnt of waits and run times, as it is handed to the writer of snapshots.

use crate::forecast::WaitSource;
use crate::history::{RunTimeModel, UserSize};
use crate::past::{Group, GroupKey, UserPast};
use crate::trees::Forest;
use crate::waits::blended::{BoundTable, Weights};
use crate::waits::qbets::ClassBounds;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// How many nominal levels a reliability table has.
pub const RELIABILITY_LEVELS: usize = 19;

/// The nominal levels of a reliability table: 0.05 to 0.95 in steps of 0.05.
pub const RELIABILITY: [f64; RELIABILITY_LEVELS] =
    [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95];

/// The default predictor of waits with the state of the cluster that it forecasts from.
///
/// Partitions are known by the indices of [`History::partition_index`](crate::history::History::partition_index), which the jobs of the
/// past must have been given as well.
#[derive(Clone, Debug, Default)]
pub struct WaitModel {
    /// The forests of the root and of the logarithm of the wait; `None` until they are trained.
    pub forests: Option<[Forest; 2]>,
    /// Weights of the members.
    pub weights: Weights,
    /// Bounds by point forecast; empty until there are outcomes.
    pub table: BoundTable,
    /// All groups of jobs, in any order.
    pub groups: Vec<(GroupKey, Group)>,
    /// CPUs of the cluster.
    pub cpus: u32,
    /// When the cluster's running jobs end by their time limits: ascending moments in Unix seconds, with the CPUs freed until then, summed.
    pub ends_by_limit: Vec<(i64, f32)>,
    /// When they end if they run as long as expected, likewise.
    pub ends_expected: Vec<(i64, f32)>,
    /// What is known of each user, in any order.
    pub users: Vec<UserPast>,
    /// Names of the accounts, by their indices.
    pub accounts: Vec<String>,
    /// Names of the qualities of service, by their indices.
    pub qos: Vec<String>,
    /// The classes of QBETS, told once for each of their regions. They go before those of the
    /// history; without any, the history's stand.
    pub classes: Vec<ClassBounds>,
    /// How well the forecasts have done in each partition, and which are in force there; in any order.
    pub scores: Vec<PartitionScore>,
    /// Run times by the default forecast of them. They go before the history's own; sizes that the history does not know are left out.
    pub run_times: BTreeMap<UserSize, Arc<RunTimeModel>>,
}

/// Why a partition's forecasts of waits come from where they do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum WaitSourceReason {
    /// No forests have been trained yet.
    #[default]
    NotTrained,
    /// Too few jobs of the partition have been forecast and have started.
    TooFewJobs,
    /// Its bounds hold too seldom or too often.
    NotCalibrated,
    /// Its bounds hold as often as they should.
    Calibrated,
}

/// How well the default forecasts of waits have done in a partition.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionScore {
    /// Index of the partition.
    pub partition: u16,
    /// Jobs that were forecast on arrival and have started since.
    pub jobs: u32,
    /// Median of the absolute errors of the point forecasts, in seconds.
    pub median_error_s: f32,
    /// Mean pinball loss over the percentiles 1 to 99, in seconds.
    pub pinball_s: f32,
    /// For each level of [`RELIABILITY`], the part of the jobs that waited at most as long as the bound at that level.
    pub reliability: [f32; RELIABILITY_LEVELS],
    /// Which forecasts are in force.
    pub source: WaitSource,
    /// Why those.
    pub reason: WaitSourceReason,
}

impl WaitSource {
    /// How it is written.
    pub(super) fn number(self) -> u8 {
        match self {
            WaitSource::Nothing => 0,
            WaitSource::Qbets => 1,
            WaitSource::Blended => 2,
        }
    }

    /// A number that this version does not know is read as the most careful one.
    pub(super) fn of_number(number: u8) -> WaitSource {
        match number {
            1 => WaitSource::Qbets,
            2 => WaitSource::Blended,
            _ => WaitSource::Nothing,
        }
    }
}

impl WaitSourceReason {
    /// How it is written.
    pub(super) fn number(self) -> u8 {
        match self {
            WaitSourceReason::NotTrained => 0,
            WaitSourceReason::TooFewJobs => 1,
            WaitSourceReason::NotCalibrated => 2,
            WaitSourceReason::Calibrated => 3,
        }
    }

    pub(super) fn of_number(number: u8) -> WaitSourceReason {
        match number {
            1 => WaitSourceReason::TooFewJobs,
            2 => WaitSourceReason::NotCalibrated,
            3 => WaitSourceReason::Calibrated,
            _ => WaitSourceReason::NotTrained,
        }
    }
}

impl fmt::Display for WaitSourceReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WaitSourceReason::NotTrained => "no trees have been trained yet",
            WaitSourceReason::TooFewJobs => "too few jobs of the partition have been forecast and have started",
            WaitSourceReason::NotCalibrated => "the bounds have lately not held as often as they should in the partition",
            WaitSourceReason::Calibrated => "the bounds hold as often as they should in the partition",
        })
    }
}
