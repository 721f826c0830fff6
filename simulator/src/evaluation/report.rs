//! What an evaluation of forecasts of waits found.

use std::collections::BTreeMap;

use serde::Serialize;

/// The key of what the daemon's rule puts in force: for each job the default's forecast, or
/// QBETS's, or none.
pub const IN_FORCE: &str = "in_force";

/// Values by the name of the method: `zero`, `knn`, `qbets`, `ibl`, `apq`, `best` (the default),
/// the members that the default weighs, and [`IN_FORCE`]. Jobs for which nothing was in force are
/// in no value of that.
pub type ByMethod<T> = BTreeMap<&'static str, T>;

/// Forecasts of waits held against a log, by the protocol of Hariharan et al. 2020 (V). The keys of
/// the first block are a contract.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitReport {
    /// Jobs that were forecast.
    pub test_jobs: usize,
    /// Mean absolute error of the point forecast in hours (table V).
    pub aae_hours: ByMethod<f64>,
    /// Median absolute error of the default in hours.
    pub median_ae_hours: f64,
    /// Part of the jobs with bounds whose randomised probability integral transform under the
    /// default is at most the nominal value that is the key; empty where no job had bounds.
    pub coverage: BTreeMap<&'static str, f64>,
    /// Part of the jobs whose wait the default forecast within a factor of two; waits and forecasts
    /// of less than a minute count as a minute.
    pub within_factor_2: f64,
    /// How long one forecast of the default takes, features not counted.
    pub prediction_us: PredictionTime,

    /// Jobs for which `best`, `qbets` and what was in force had no bounds; they are left out
    /// of all that is said of bounds: coverage, reliability and pinball loss.
    pub jobs_without_bounds: ByMethod<usize>,
    /// First and last job that was forecast, counted from 1 among the jobs that ran.
    pub from: usize,
    /// The last job that was forecast, counted from 1.
    pub to: usize,
    /// Interval that holds the mean absolute error with 95 % by a bootstrap over blocks of jobs, in
    /// hours.
    pub aae_interval_hours: ByMethod<[f64; 2]>,
    /// Mean absolute error divided by the response time of each job (table V).
    pub scaled_aae: ByMethod<f64>,
    /// Median absolute errors in hours.
    pub median_ae_hours_by_method: ByMethod<f64>,
    /// Parts within a factor of two.
    pub within_factor_2_by_method: ByMethod<f64>,
    /// Jobs and mean absolute errors by class of wait (figure 5).
    pub by_wait: Vec<WaitClassReport>,
    /// Coverage in each block of 4,000 jobs, in order, by nominal value.
    pub block_coverage: Vec<BTreeMap<&'static str, f64>>,
    /// Reliability: nominal probabilities 0.05 to 0.95 and the part of the jobs with bounds at
    /// most at it.
    pub reliability: Vec<[f64; 2]>,
    /// Mean pinball loss over the quantiles 0.05 to 0.95 in hours, of `best`, of `qbets` and of
    /// what was in force.
    pub pinball_hours: ByMethod<f64>,
    /// Part of the jobs whose wait was at most QBETS's bound on the quantile that is the key, at 95
    /// % confidence.
    pub qbets_coverage: BTreeMap<&'static str, f64>,
    /// Mean weight of each member of the default over the test part.
    pub member_weights: ByMethod<f64>,
    /// Part of the jobs whose forecasts the rule of the daemon takes from `blended` (the default),
    /// from `qbets`, and from nobody (`nothing`).
    pub in_force: BTreeMap<&'static str, f64>,
    /// Like [`WaitReport::coverage`], of the bounds that were in force.
    pub in_force_coverage: BTreeMap<&'static str, f64>,
    /// Errors and coverage by queue, in the order in which the queues first appear in the log.
    pub by_queue: Vec<QueueReport>,
    /// Errors and coverage by class of size, ascending.
    pub by_size: Vec<SizeReport>,
    /// What methods were left out, and other remarks.
    pub notes: Vec<String>,
    /// The forecasts themselves, in the order of the jobs.
    #[serde(skip)]
    pub forecasts: Vec<JobForecast>,
}

/// Errors and coverage among the jobs of one queue.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueueReport<P = PartReport> {
    /// The queue's name in the log.
    pub queue: String,
    /// The errors and coverage of the queue's jobs.
    #[serde(flatten)]
    pub part: P,
}

/// Errors and coverage among the jobs of one class of size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SizeReport<P = PartReport> {
    /// Fewest processors of its jobs.
    pub at_least_processors: u32,
    /// Most processors; `None` for the last.
    pub at_most_processors: Option<u32>,
    /// The errors and coverage of the class's jobs.
    #[serde(flatten)]
    pub part: P,
}

/// Errors and coverage among some of the jobs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartReport {
    /// The number of jobs of the test part.
    pub jobs: usize,
    /// How many of them the default had no bounds for; they are in no coverage.
    pub jobs_without_bounds: usize,
    /// Like [`WaitReport::aae_hours`], for these jobs.
    pub aae_hours: ByMethod<f64>,
    /// Like [`WaitReport::median_ae_hours_by_method`], for these jobs.
    pub median_ae_hours_by_method: ByMethod<f64>,
    /// Like [`WaitReport::coverage`], for these jobs.
    pub coverage: BTreeMap<&'static str, f64>,
    /// Like [`WaitReport::qbets_coverage`], for these jobs.
    pub qbets_coverage: BTreeMap<&'static str, f64>,
    /// Like [`WaitReport::in_force`], for these jobs.
    pub in_force: BTreeMap<&'static str, f64>,
    /// Like [`WaitReport::in_force_coverage`], for these jobs.
    pub in_force_coverage: BTreeMap<&'static str, f64>,
}

/// The quantiles of [`JobForecast`].
pub const QUANTILES: [f64; 4] = [0.5, 0.75, 0.9, 0.95];

/// What was forecast for one job, and what happened.
#[derive(Debug, Clone, PartialEq)]
pub struct JobForecast {
    /// The job's number, counted from 1 among the jobs that ran, in order of submission.
    pub job: usize,
    /// When the job was submitted or, where the log tells it, became eligible; in Unix seconds, or
    /// since the log's begin where its header does not say when that was.
    pub submit: i64,
    /// The name of the job's queue in the log.
    pub queue: String,
    /// The job's number of processors.
    pub processors: u32,
    /// The job's time limit in seconds.
    pub limit_s: Option<i64>,
    /// The point forecast of the default in seconds.
    pub point_s: f64,
    /// Bounds of the default on [`QUANTILES`] of the wait in seconds.
    pub quantiles_s: Option<[u32; QUANTILES.len()]>,
    /// How long the job waited, in seconds.
    pub wait_s: i64,
    /// The randomised probability integral transform of the wait under the default.
    pub transform: Option<f64>,
    /// Whose forecast would have been in force: `blended`, `qbets` or `nothing`.
    pub in_force: &'static str,
    /// The point forecast that was in force in seconds: of QBETS the median of the class's waits,
    /// as the daemon tells it. `None` where nothing was.
    pub in_force_point_s: Option<f64>,
    /// Bounds of QBETS on [`QUANTILES`] at 95 % confidence, in seconds.
    pub qbets_quantiles_s: Option<[u32; QUANTILES.len()]>,
}

/// Quantiles of the time that one forecast takes, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PredictionTime {
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
}

/// Errors on the jobs of one class of wait.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitClassReport {
    /// Shortest wait of the class in seconds.
    pub at_least_s: u64,
    /// Waits of the class are shorter; `None` for the last.
    pub below_s: Option<u64>,
    /// Jobs of the test part in it.
    pub jobs: usize,
    /// Mean absolute error in hours.
    pub aae_hours: ByMethod<f64>,
}
