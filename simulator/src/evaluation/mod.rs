//! Forecasts held against workload logs, in order of time.

mod averages;
mod log;
mod report;
mod run_times;
mod waits;

pub use log::{Workload, read};
pub use report::{ByMethod, JobForecast, PartReport, PredictionTime, QUANTILES, QueueReport, SizeReport, WaitClassReport, WaitReport};
pub use run_times::{RunTimeClassReport, RunTimeOptions, RunTimeReport, evaluate_run_times};
pub use waits::{EvaluationError, WaitOptions, evaluate_waits};
