//! What an evaluation of forecasts of run times found.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::evaluation::{ByMethod, QueueReport, SizeReport};

/// Forecasts of run times held against a log, by the protocol of Hariharan et al. 2020 (V). Methods
/// are `baseline`, `range_sets` (Hariharan et al.'s), `smith`, `li`, `last_two`, `requested` and
/// `best` (the default). The keys of the first block are a contract.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunTimeReport {
    /// Jobs that were forecast.
    pub test_jobs: usize,
    /// Part of the jobs, 0 to 1, whose run time lies in the forecast's ranges (table VI). A job
    /// that ran into its own limit succeeds as well where the limit lies in them: it is then ended
    /// by the system, seconds or minutes later.
    pub success_rate: ByMethod<f64>,
    /// Summed length of the ranges in percent of the summed length of the baseline's, over the jobs
    /// that the baseline has a range for (table VI). The length of a range is the number of whole
    /// seconds in it, so that no baseline's is 0.
    pub coverage_percent: ByMethod<f64>,
    /// Mean absolute error of the point forecast in minutes (table VII). A job about which a method
    /// says nothing counts with its limit as the forecast, or with the mean run time so far where
    /// there is none.
    pub aae_minutes: ByMethod<f64>,
    /// Part of the jobs whose randomised probability integral transform under the default is at
    /// most the nominal value that is the key. Run times are cut at the job's limit, where the
    /// forecast ends.
    pub pit_coverage: BTreeMap<&'static str, f64>,

    /// The first job that was forecast, counted from 1 among the jobs that ran.
    pub from: usize,
    /// The last job that was forecast, counted from 1.
    pub to: usize,
    /// [`RunTimeReport::success_rate`] where a job that ran a second beyond its limit fails
    /// although the limit lies in the ranges.
    pub success_rate_beyond_limit: ByMethod<f64>,
    /// [`RunTimeReport::coverage_percent`] where the ranges of jobs without a like job in the
    /// history count as well, with nothing on the baseline's side.
    pub coverage_with_new_percent: ByMethod<f64>,
    /// Median over the jobs of the length of the ranges in percent of the baseline's.
    pub median_coverage_percent: ByMethod<f64>,
    /// Part of the jobs that the method gave a range for.
    pub with_range: ByMethod<f64>,
    /// Median absolute error of the point forecast in minutes.
    pub median_ae_minutes: ByMethod<f64>,
    /// Errors and coverage by queue, in the order in which the queues first appear in the log.
    pub by_queue: Vec<QueueReport<RunTimePartReport>>,
    /// Errors and coverage by class of size, ascending.
    pub by_size: Vec<SizeReport<RunTimePartReport>>,
    /// Jobs and mean absolute errors by class of run time.
    pub by_run_time: Vec<RunTimeClassReport>,
    /// Reliability of the default: nominal probabilities 0.05 to 0.95 and the part of the jobs
    /// whose transform is at most that.
    pub reliability: Vec<[f64; 2]>,
    /// Coverage of the default in each block of 4,000 jobs, in order, by nominal value.
    pub block_pit_coverage: Vec<BTreeMap<&'static str, f64>>,
    /// What methods were left out, what was chosen on the validation part, and other remarks.
    pub notes: Vec<String>,
}

/// Errors and coverage among some of the jobs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunTimePartReport {
    /// The number of jobs of the test part.
    pub jobs: usize,
    /// Like [`RunTimeReport::aae_minutes`], for these jobs.
    pub aae_minutes: ByMethod<f64>,
    /// Like [`RunTimeReport::median_ae_minutes`], for these jobs.
    pub median_ae_minutes: ByMethod<f64>,
    /// Like [`RunTimeReport::pit_coverage`], for these jobs.
    pub pit_coverage: BTreeMap<&'static str, f64>,
}

/// The jobs of one class of run time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunTimeClassReport {
    /// The shortest run time of the class, in seconds.
    pub from_s: u32,
    /// Below this many seconds; `None` for the last class.
    pub below_s: Option<u32>,
    /// The number of jobs in the class.
    pub jobs: usize,
    /// Mean absolute error in minutes.
    pub aae_minutes: ByMethod<f64>,
}
