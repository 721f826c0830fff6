//! What the site allows, as reports show it.

use job_types::options::Mode;
use job_types::policy::Policy;
use serde::Serialize;

/// What the site allows in a partition. Durations in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct PolicyReport {
    pub(crate) mode: Mode,
    pub(crate) mold: &'static str,
    pub(crate) defer: &'static str,
    pub(crate) reserve: &'static str,
    pub(crate) early_start: &'static str,
    pub(crate) if_missed: &'static str,
    pub(crate) success_probability: f64,
    pub(crate) min_gain: f64,
    pub(crate) min_gain_time_s: i64,
    pub(crate) others: &'static str,
    pub(crate) defer_threshold: f64,
    pub(crate) max_defer_s: i64,
    pub(crate) admission: &'static str,
    pub(crate) admission_without_forecast: &'static str,
    pub(crate) deadline_probability: f64,
    pub(crate) molding_held_back: bool,
    pub(crate) deferral_held_back: bool,
}

impl From<&Policy> for PolicyReport {
    fn from(policy: &Policy) -> Self {
        // The pattern makes sure that a new rule is not forgotten here.
        let Policy {
            mode,
            mold,
            defer,
            reserve,
            early_start,
            if_missed,
            success_probability,
            min_gain,
            min_gain_time,
            others,
            defer_threshold,
            max_defer,
            admission,
            admission_without_forecast,
            deadline_probability,
            held_back,
        } = *policy;
        Self {
            mode,
            mold: mold.as_str(),
            defer: defer.as_str(),
            reserve: if reserve { "asked" } else { "never" },
            early_start: early_start.as_str(),
            if_missed: if_missed.as_str(),
            success_probability,
            min_gain,
            min_gain_time_s: min_gain_time.0,
            others: others.as_str(),
            defer_threshold,
            max_defer_s: max_defer.0,
            admission: admission.as_str(),
            admission_without_forecast: admission_without_forecast.as_str(),
            deadline_probability,
            molding_held_back: held_back.molding,
            deferral_held_back: held_back.deferral,
        }
    }
}
