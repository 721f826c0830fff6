//! What a job sees of the cluster when it arrives.
//!
//! A job *arrives* when it becomes eligible, it *starts*, and it *ends*. Its wait is known from its
//! start on and its run time from its end on.

mod features;
mod group;

pub use features::{Ends, FEATURES, FeatureInputs, LONGEST_SINCE, RecentFeatures, expected_run_time_s, let_running_end, recent_features};
pub use group::{Group, GroupKey, GroupKind, Recent, Sum, UserPast};
