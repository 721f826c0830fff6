//! The jobs of a workload log.
//!
//! Each record is read once, as a [`LoggedJob`] that knows what the record does not say ([`Lack`]).
//! Replays take from it the jobs of the engine, by explicit [`Rules`] for what no scheduler can run
//! as it stands; forecasts take from it the jobs that waited and ran
//! ([`evaluation::read`](crate::evaluation::read)).

mod logged;
mod read;
mod rules;

pub use logged::{FOR_FORECAST, FOR_REPLAY, IN_QUEUE, Lack, LoggedJob};
pub use read::{Unusable, Workload, machine, of_records, read};
pub use rules::{BadRecords, Overruns, Rules, UnknownRequests};
