//! How well forecasts of waits have done in a partition, and which are in force there for that.

use job_types::number::PartitionIndex;
use job_types::record::WaitSource;
use std::fmt;

/// How many nominal levels a reliability table has.
pub const RELIABILITY_LEVELS: usize = 19;

/// The nominal levels of a reliability table: 0.05 to 0.95 in steps of 0.05.
pub const RELIABILITY: [f64; RELIABILITY_LEVELS] =
    [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95];

/// The levels whose coverage is told, which are those that decisions use: names, and places in
/// [`RELIABILITY`].
pub const DECISION_LEVELS: [(&str, usize); 4] = [("0.5", 9), ("0.75", 14), ("0.9", 17), ("0.95", 18)];

/// Why a partition's forecasts of waits come from where they do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum WaitSourceReason {
    /// No forests have been trained yet.
    #[default]
    NotTrained,
    /// Too few jobs of the partition have been forecast and have started.
    TooFewJobs,
    /// The bounds of the default forecasts hold too seldom in the partition.
    NotCalibrated,
    /// The default forecasts have been worse in the partition than those by class of job.
    LargerLoss,
    /// The default forecasts are no worse in the partition, and their bounds hold.
    Calibrated,
}

/// How well the default forecasts of waits have done in a partition.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionScore {
    /// Index of the partition.
    pub partition: PartitionIndex,
    /// Jobs that were forecast on arrival and have started since.
    pub jobs: u32,
    /// Median of the absolute errors of the point forecasts, in seconds.
    pub median_error_s: f32,
    /// Mean pinball loss over the percentiles 1 to 99, in seconds.
    pub pinball_s: f32,
    /// For each level of [`RELIABILITY`], the part of the jobs that waited at most as long as the
    /// bound at that level.
    pub reliability: [f32; RELIABILITY_LEVELS],
    /// The source of the forecasts of waits that are in force.
    pub source: WaitSource,
    /// Why those forecasts are in force.
    pub reason: WaitSourceReason,
}

impl WaitSourceReason {
    /// The name of the reason in reports and logs.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The reason in a few words, for a column of a table.
    #[must_use]
    pub fn in_short(self) -> &'static str {
        match self {
            WaitSourceReason::NotTrained => "too little history to train on",
            WaitSourceReason::TooFewJobs => "too few jobs scored",
            WaitSourceReason::NotCalibrated => "the default's bounds do not hold",
            WaitSourceReason::LargerLoss => "the default has been worse",
            WaitSourceReason::Calibrated => "it is no worse, and its bounds hold",
        }
    }
}

impl fmt::Display for WaitSourceReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WaitSourceReason::NotTrained => "no trees have been trained yet",
            WaitSourceReason::TooFewJobs => "too few jobs of the partition have been forecast and have started",
            WaitSourceReason::NotCalibrated => "the bounds have lately not held as often as they should in the partition",
            WaitSourceReason::LargerLoss => "the default forecasts have lately been worse in the partition than those by class of job",
            WaitSourceReason::Calibrated => "the forecasts are no worse than those by class of job in the partition, and the bounds hold",
        })
    }
}
