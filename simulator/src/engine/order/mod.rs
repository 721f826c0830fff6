//! The order of the queue.

mod first_come;
mod multifactor;
mod shortest;

pub use first_come::FirstCome;
pub use multifactor::{AssociationIndex, Associations, FairShare, Multifactor, PrioritySettings, SettingsError};
pub use shortest::ShortestFirst;

use job_types::time::{Seconds, UnixTime};

use super::{Job, Record, Waiting};

/// The order of the queue.
pub trait Order: Send {
    /// The place of a job that comes into the queue now: lower comes first, equals in the order in
    /// which they came.
    fn key(&mut self, job: &Job, expected: Seconds, now: UnixTime) -> i64;

    /// Is called before a pass and puts the queue in order anew if places change with time. Returns
    /// whether the order may have changed. `jobs` are all jobs of the workload; `waiting` holds
    /// indices into them.
    fn reorder(&mut self, _now: UnixTime, _jobs: &[Job], _waiting: &mut [Waiting]) -> bool {
        false
    }

    /// A job has started.
    fn started(&mut self, _job: &Job, _record: &Record) {}

    /// A job has ended.
    fn ended(&mut self, _job: &Job, _record: &Record) {}
}
