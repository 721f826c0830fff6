//! Jobs of the past, and what was known when each of them arrived.
//!
//! A job *arrives* when it becomes eligible, it *starts*, and it *ends*. Its wait is known from its start on and its run time from its end on:
//! nothing here tells them earlier, to the evaluation on workload logs or to the daemon.

mod arrivals;
mod distributions;
mod event;
mod features;
mod group;
mod job;
mod sweep;

pub use arrivals::{Arrivals, DISTRIBUTIONS, TABLE_FEATURES};
pub use event::{Event, EventKind, PUBLISHED_FOR, events, rounds};
pub use features::{Ends, FEATURES, FeatureInputs, LONGEST_SINCE, RecentFeatures, expected_run_time_s, recent_features};
pub use group::{Group, GroupKey, GroupKind, Recent, Sum};
pub use job::PastJob;
pub use sweep::{Sweep, UserPast};
