//! What the daemon learns from the cluster's own past, as it happens.
//!
//! A [`Learner`] is told the runs of jobs, those that have ended and those that wait or run now,
//! and keeps one sweep over them in order of time, by the same code as the evaluation on workload
//! logs. It asks the default predictor about each job that arrives, tells it each start, and holds
//! every forecast against the wait that followed. From that follows, partition by partition, which
//! forecasts are in force. The default forecast of run times is told each end, and says what it
//! makes of each size of each user.

pub mod binomial;
pub mod distribution_scores;
pub mod history;
mod learner;
pub mod run_times;
pub mod sweep;
pub mod training;
pub mod waits;

pub use learner::{
    AdmissionOutcome, Asked, Change, Choice, DeadlineLearner, DeadlineOutcome, Learner, LearnerSettings, NamedJob, PromiseOutcome,
    REPLAYED, RecordedForecast, Refreshed, ReservedTimes, Run, RunId, RunTimeLearner, SOURCES, Scores, Trials,
};
