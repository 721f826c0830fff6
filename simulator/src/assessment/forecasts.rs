//! How well the latest jobs' waits and run times would have been forecast.

use serde::Serialize;

use super::names::QueueNames;
use super::{AssessmentError, Options, Progress, Stage};
use crate::evaluation::{Methods, RunTimeOptions, RunTimeReport, WaitOptions, WaitReport, Workload, evaluate_run_times, evaluate_waits};

/// Forecasts of the latest jobs held against what happened, each made from what was known when the
/// job was submitted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forecasts {
    /// Jobs that were only learnt from.
    pub history_jobs: usize,
    /// Jobs that were forecast, behind those.
    pub jobs: usize,
    /// Forecasts of waits.
    pub waits: WaitReport,
    /// Forecasts of run times.
    pub run_times: RunTimeReport,
}

/// Forecasts of the latest jobs' run times held against what happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunTimeForecasts {
    /// Jobs that were only learnt from.
    pub history_jobs: usize,
    /// Jobs that were forecast, behind those.
    pub jobs: usize,
    /// Forecasts of run times.
    pub run_times: RunTimeReport,
}

/// Makes forecasts of run times alone.
pub(super) fn run_times(
    workload: &Workload,
    names: &QueueNames,
    options: &Options,
    progress: Progress<'_>,
) -> Result<RunTimeForecasts, AssessmentError> {
    let latest = workload.last_jobs(options.most.forecast_jobs);
    let history_jobs = latest.jobs.len() / 3;
    let shown = |done: usize, all: usize| progress(Stage::RunTimes, done, all);
    let options = RunTimeOptions { from: history_jobs + 1, to: latest.jobs.len(), seed: options.seed, methods: Methods::Inexpensive };
    let mut run_times = evaluate_run_times(&latest, &options, &shown)?;
    run_times.by_queue.iter_mut().for_each(|queue| queue.queue = names.name(&queue.queue));
    Ok(RunTimeForecasts { history_jobs, jobs: run_times.test_jobs, run_times })
}

/// Makes the forecasts.
pub(super) fn forecasts(
    workload: &Workload,
    names: &QueueNames,
    options: &Options,
    progress: Progress<'_>,
) -> Result<Forecasts, AssessmentError> {
    let latest = workload.last_jobs(options.most.forecast_jobs);
    let history_jobs = latest.jobs.len() / 3;
    let (from, to, seed, methods) = (history_jobs + 1, latest.jobs.len(), options.seed, Methods::Inexpensive);
    let (waits, run_times) = rayon::join(
        || {
            let shown = |done: usize, all: usize| progress(Stage::Waits, done, all);
            evaluate_waits(&latest, &WaitOptions { from, to, seed, methods }, &shown)
        },
        || {
            let shown = |done: usize, all: usize| progress(Stage::RunTimes, done, all);
            evaluate_run_times(&latest, &RunTimeOptions { from, to, seed, methods }, &shown)
        },
    );
    let (mut waits, mut run_times) = (waits?, run_times?);
    waits.by_queue.iter_mut().for_each(|queue| queue.queue = names.name(&queue.queue));
    run_times.by_queue.iter_mut().for_each(|queue| queue.queue = names.name(&queue.queue));
    // No report shows the forecasts of the single jobs.
    waits.forecasts = Vec::new();
    Ok(Forecasts { history_jobs, jobs: waits.test_jobs, waits, run_times })
}
