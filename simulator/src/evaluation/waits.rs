//! Forecasts of waits held against a log, by the protocol of the end-to-end paper (V).
//!
//! All methods go through the same events in the same order: at a job's arrival each is asked, at its start each is told. What was known at
//! the arrival comes from one sweep that all share.

mod jobs;
mod measures;
mod methods;
#[cfg(test)]
mod tests;

use predictor_core::forecast::WaitSource;
use predictor_core::past::{Arrivals, Event, Happening, Sweep, events};

use self::methods::Method;
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
    /// Parameters could not be chosen, or trees not be trained.
    #[error("{method} cannot be evaluated: {why}")]
    Method {
        /// The method's name.
        method: &'static str,
        /// What is wrong.
        why: String,
    },
}

/// Bins of the distributions of the state; the methods that use distributions choose how many of these they put together.
const BINS: usize = 50;

/// The past that is replayed, and which part of it is the test.
struct Replay {
    past: Arrivals,
    events: Vec<Event>,
    /// Rows of the test part.
    test: std::ops::Range<usize>,
    seed: u64,
}

impl Replay {
    /// Calls `arrive` for each job that arrives and `start` for each that starts, in order of time, until the test part has arrived.
    fn run<T>(&self, state: &mut T, mut arrive: impl FnMut(&mut T, usize), mut start: impl FnMut(&mut T, usize)) {
        for event in &self.events {
            let row = event.job as usize;
            match event.happening {
                Happening::Arrival if row >= self.test.end => return,
                Happening::Arrival => arrive(state, row),
                Happening::Start => start(state, row),
                Happening::End | Happening::EndAtOnce => {}
            }
        }
    }
}

/// Forecasts the waits of the jobs `from` to `to` in order of time, each from what was known when it arrived. `progress` is told how much of the
/// work is done, of how much.
///
/// # Errors
///
/// [`EvaluationError`] where the log has not got the jobs, or a method cannot be fitted.
pub fn evaluate_waits(
    workload: &Workload,
    options: &WaitOptions,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<WaitReport, EvaluationError> {
    let found = workload.jobs.len();
    let first = options.from.saturating_sub(1);
    let end = options.to.min(found);
    if first >= end {
        return Err(EvaluationError::TooFewJobs { found, wanted: options.from });
    }
    let jobs = workload.jobs.get(..end).unwrap_or_default();
    let past = Sweep::over(jobs, workload.processors, BINS);
    let replay = Replay { events: events(jobs), past, test: first..end, seed: options.seed };
    let forecasts = methods::forecast_all(&replay, progress)?;
    Ok(measures::report(&replay, &workload.queues, options, forecasts))
}

/// What one method forecast for the test part, in the order of its jobs.
struct Forecasts {
    method: Method,
    /// Point forecasts in seconds.
    points_s: Vec<f64>,
    /// The default's and QBETS's distributions.
    bounds: Vec<Option<methods::Bounds>>,
    /// The default's members' forecasts in seconds, by name.
    members: Vec<(&'static str, Vec<f64>)>,
    /// Mean weights of the default's members.
    weights: Vec<(&'static str, f64)>,
    /// Whose forecast the daemon's rule would have put in force for each job, where that was decided.
    in_force: Vec<WaitSource>,
    /// Seconds that each forecast took.
    durations_s: Vec<f64>,
    notes: Vec<String>,
}
