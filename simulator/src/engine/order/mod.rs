//! The order of the queue.

mod first_come;
mod multifactor;
mod shortest;

pub use first_come::FirstCome;
pub use multifactor::{AssociationIndex, Associations, FairShare, Multifactor, PrioritySettings, SettingsError};
pub use shortest::ShortestFirst;

use super::{Job, Record, Waiting};

/// The order of the queue.
pub trait Order: Send {
    /// The place of a job that comes into the queue now: lower comes first, equals in the order in
    /// which they came.
    fn key(&mut self, job: &Job, expected_seconds: i64, now_seconds: i64) -> i64;

    /// Before a pass: puts the queue in order anew where places change with time. Returns whether
    /// it may have changed. `jobs` are all of the workload, by the indices in `waiting`.
    fn reorder(&mut self, _now_seconds: i64, _jobs: &[Job], _waiting: &mut [Waiting]) -> bool {
        false
    }

    /// A job has started.
    fn started(&mut self, _job: &Job, _record: &Record) {}

    /// A job has ended.
    fn ended(&mut self, _job: &Job, _record: &Record) {}
}
