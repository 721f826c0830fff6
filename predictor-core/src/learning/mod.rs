//! What the daemon learns from the cluster's own past, as it happens.
//!
//! A [`Learner`] is told the runs of jobs, those that have ended and those that wait or run now, and keeps one sweep over them in order of
//! time, by the same code as the evaluation on workload logs. It asks the default predictor about each job that arrives, tells it each
//! start, and holds every forecast against the wait that followed. From that follows, partition by partition, which forecasts are in force.
//! The default forecast of run times is told each end, and says what it makes of each size of each user.

mod fill;
mod kept;
mod learner;
mod record;
mod recorded_forecast;
mod run;
mod run_times;
mod scores;
mod source;
mod tracker;
mod trials;

#[cfg(test)]
mod tests;

pub use fill::REPLAYED;
pub use kept::SOURCES;
pub use learner::{Learner, LearnerSettings, Refreshed};
pub use recorded_forecast::RecordedForecast;
pub use run::{Run, RunId};
pub use scores::Scores;
pub use source::{Change, Choice};
pub use trials::Trials;
