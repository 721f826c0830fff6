//! Forecasts held against workload logs, in order of time.

mod log;
mod report;
mod waits;

pub use log::{Workload, read};
pub use report::{ByMethod, PredictionTime, WaitClassReport, WaitReport};
pub use waits::{EvaluationError, WaitOptions, evaluate_waits};
