//! What a snapshot tells of a job that is described, and of the queue.
//!
//! `queuecast predict` and `queue` tell it on the command line, and `queuecastd` by its API: both
//! make the same reports of the same snapshot, whose keys are those of the types here. Nothing is
//! read and nothing is written; the present is an argument.

mod age;
mod filter;
mod forecast;
mod job;
mod plan;
mod prediction;
mod queue;
mod situation;
mod trajectory;

pub use age::{ahead, note_on_age};
pub use filter::{ChangesReport, FilterReport, SubmissionOutcome};
pub use forecast::{ClassReport, DoneReport, RangeReport, RunTimeReport, StartsWithin, WaitReport};
pub use job::JobReport;
pub use plan::{PlanReport, PlannedStart};
pub use prediction::Prediction;
pub use queue::{QueueReport, WaitingJob};
pub use situation::{Situation, UnknownPartition, notes, situation};
pub use trajectory::{CostReport, PointReport, TrajectoryReport};

/// What is to be known where a snapshot is shown without what is other users'.
pub const PRIVACY_NOTE: &str = "users' jobs are private on this cluster: nothing is known here of other users' jobs and of their past";
