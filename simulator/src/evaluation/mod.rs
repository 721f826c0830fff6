//! Forecasts held against workload logs, in order of time.

mod averages;
mod log;
mod report;
mod run_times;
mod waits;

pub use log::{Workload, read};
pub use report::{
    ByMethod, IN_FORCE, JobForecast, PartReport, PredictionTime, QUANTILES, QueueReport, SizeReport, WaitClassReport, WaitReport,
};
pub use run_times::{RunTimeClassReport, RunTimeOptions, RunTimePartReport, RunTimeReport, evaluate_run_times};
pub use waits::{EvaluationError, WaitOptions, evaluate_waits};

/// Which methods are held against a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Methods {
    /// All of them. The published ones take most of the time, for their parameters are searched.
    #[default]
    All,
    /// The default, and those that cost little beside it. Of waits: k nearest neighbours, QBETS and
    /// the forecast that nobody waits; of run times: the shortest to the longest run time of like
    /// jobs, the mean of the user's last two, and the time limit.
    Inexpensive,
}
