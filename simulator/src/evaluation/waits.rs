//! Forecasts of waits held against a log, by the protocol of Hariharan et al. 2020 (V).
//!
//! All methods go through the same events in the same order: at a job's arrival each is asked, at
//! its start each is told. What was known at the arrival comes from one sweep that all share.

mod coverage;
mod jobs;
mod measures;
mod methods;
#[cfg(test)]
mod tests;

use std::ops::Range;

use job_types::job::EndedJob;
use job_types::record::WaitSource;
use job_types::time::UnixTime;
use learning::sweep::{Arrivals, Event, EventKind, Sweep, events};

use self::methods::Method;
use super::log::ran;
use super::{Methods, WaitReport, Workload};

/// Which jobs of a log to forecast, and the seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitOptions {
    /// First job to forecast, counted from 1 among the jobs that ran.
    pub from: usize,
    /// Last job to forecast; the last of the log where that has fewer.
    pub to: usize,
    /// Seed of all that is random.
    pub seed: u64,
    /// Which methods are asked.
    pub methods: Methods,
}

impl Default for WaitOptions {
    /// Hariharan et al.'s test part: jobs 20,001 to 60,000 (V).
    fn default() -> Self {
        Self { from: 20_001, to: 60_000, seed: 1, methods: Methods::All }
    }
}

/// Why a log cannot be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationError {
    /// Too few jobs.
    #[error("the log has {found} jobs that ran, job {wanted} is asked for; choose a smaller --from")]
    TooFewJobs {
        /// The number of jobs that ran.
        found: usize,
        /// The first that was asked for.
        wanted: usize,
    },
    /// Parameters could not be chosen, or trees not be trained.
    #[error("{method} cannot be evaluated: {why}")]
    Method {
        /// The method's name.
        method: &'static str,
        /// Why the method failed.
        why: String,
    },
}

/// Bins of the distributions of the state; the methods that use distributions choose how many of
/// these they put together.
const BINS: usize = 50;

/// The past that is replayed, and which part of it is the test.
struct Replay {
    past: Arrivals,
    events: Vec<Event>,
    /// The rows of the jobs that ran, in order.
    ran: Vec<usize>,
    /// Which of those are the test part.
    test: Range<usize>,
    seed: u64,
}

impl Replay {
    /// A replay of all that was in the queue; `test` counts among the jobs that ran.
    fn new(queue: &[EndedJob], processors: u32, test: Range<usize>, seed: u64) -> Self {
        let ran: Vec<usize> = queue.iter().enumerate().filter(|(_, job)| ran(job)).map(|(row, _)| row).collect();
        // No forecast is made after the last job of the test part, and what comes later could not
        // have been known.
        let rows = test.end.checked_sub(1).and_then(|last| ran.get(last)).map_or(queue.len(), |row| row + 1);
        let queue = queue.get(..rows).unwrap_or_default();
        Self { past: Sweep::over(queue, processors, BINS), events: events(queue), ran, test, seed }
    }

    /// Rows that arrive until the test part has.
    fn rows(&self) -> usize {
        self.past.len()
    }

    /// The rows of the test part, in order.
    fn test_rows(&self) -> &[usize] {
        self.ran.get(self.test.clone()).unwrap_or_default()
    }

    /// Whether a row is of the test part.
    fn is_test(&self, row: usize) -> bool {
        self.test_rows().binary_search(&row).is_ok()
    }

    /// The rows from one of the jobs that ran to before another of them, with what else was in the
    /// queue in between.
    fn rows_of(&self, jobs: Range<usize>) -> Range<usize> {
        let row = |job: usize| self.ran.get(job).copied().unwrap_or(self.rows()).min(self.rows());
        row(jobs.start)..row(jobs.end)
    }

    /// Calls `arrive` for each job that arrives, `start` for each that starts and `leave` for each
    /// that is cancelled while it waits, in order of time, until the test part has arrived.
    fn run<T>(
        &self,
        state: &mut T,
        mut arrive: impl FnMut(&mut T, usize),
        mut start: impl FnMut(&mut T, usize),
        mut leave: impl FnMut(&mut T, usize, UnixTime),
    ) {
        for event in &self.events {
            let row = event.job as usize;
            match event.kind {
                EventKind::Arrival => {
                    arrive(state, row);
                    if row + 1 == self.rows() {
                        return;
                    }
                }
                EventKind::Start => start(state, row),
                EventKind::End | EventKind::EndAtOnce => {
                    if self.past.job(row).is_some_and(|job| job.start().is_none()) {
                        leave(state, row, event.at);
                    }
                }
            }
        }
    }
}

/// Forecasts the waits of the jobs `from` to `to` in order of time, each from what was known when
/// it arrived. `progress` is told how much of the work is done, of how much.
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
    let replay = Replay::new(&workload.queue, workload.processors, first..end, options.seed);
    let forecasts = methods::forecast_all(options.methods, &replay, progress)?;
    let mut report = measures::report(&replay, &workload.queues, options, forecasts);
    let did_not_run = workload.queue.len() - workload.jobs.len();
    if did_not_run + workload.left_out > 0 {
        let left_out = workload.left_out;
        report.notes.push(format!("queue: {did_not_run} records that did not run were in it, {left_out} could not be placed there"));
    }
    Ok(report)
}

/// The forecast that was in force for a job.
struct InForce {
    source: WaitSource,
    /// The point in seconds as it is shown: the default's own, or the median of the class's waits.
    point_s: Option<f64>,
    bounds: Option<methods::Bounds>,
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
    /// The forecast that the daemon's rule would have put in force for each job, where that was
    /// decided.
    in_force: Vec<InForce>,
    /// Seconds that each forecast took.
    durations_s: Vec<f64>,
    notes: Vec<String>,
}
