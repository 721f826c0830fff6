//! Workloads for the engine: from a log, by explicit rules for what no scheduler can run as it
//! stands.

mod read;
mod rules;

pub use read::{Unusable, Workload, read};
pub use rules::{BadRecords, Overruns, Rules, UnknownRequests};
