//! Jobs of the past, and what was known when each of them arrived.
//!
//! A job *arrives* when it becomes eligible, it *starts*, and it *ends*. Its wait is known from its start on and its run time from its end on:
//! nothing here tells them earlier, to the evaluation on workload logs or to the daemon.

mod arrivals;
mod distributions;
mod event;
mod group;
mod job;
mod picture;
mod sweep;

pub use arrivals::{Arrivals, DISTRIBUTIONS, TABLE_FEATURES};
pub use event::{Event, Happening, PUBLISHED_FOR, events, rounds};
pub use group::{Group, GroupKey, Kinship, Recent, Sum};
pub use job::PastJob;
pub use picture::{Ends, FEATURES, LONGEST_SINCE, Picture, RecentFeatures, expected_run_time_s, recent_features};
pub use sweep::{Sweep, UserPast};
