//! What a change of a job does to those who wait, and whether the site allows that.

use super::DerivedInputs;
use crate::forecasts::forecast::Forecaster;
use crate::forecasts::price::{Area, Prices};
use job_types::policy::Others;
use job_types::time::Seconds;
use std::fmt;

/// The part of what a job gains that chance moves: by less than this the others are not said to
/// wait longer.
pub const CHANCE: f64 = 0.05;

/// What a change of a job gains, and what it does to all others together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighed {
    /// By how much sooner the job is done.
    pub gain: Seconds,
    /// By how many seconds all others together wait longer; below zero where they wait less. `None`
    /// where nothing says what the machine's time costs.
    pub waited: Option<f64>,
}

impl Weighed {
    /// Weighs a change by which a job that would take an area takes another one.
    #[must_use]
    pub fn new(prices: Option<&Prices<'_>>, gain: Seconds, written: Area, other: Area) -> Self {
        Self { gain, waited: prices.map(|prices| prices.of(other) - prices.of(written)) }
    }

    /// Whether the site allows it. What is not known forbids nothing.
    #[must_use]
    pub fn is_allowed(&self, others: Others) -> bool {
        let gain = self.gain.0 as f64;
        self.waited.is_none_or(|waited| match others {
            Others::Ignore => true,
            Others::Sum => waited < gain,
            Others::NotWorse => waited <= gain * CHANCE,
        })
    }
}

impl fmt::Display for Weighed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waited = Seconds(self.waited.unwrap_or_default().max(0.0) as i64);
        write!(f, "would have it done about {} sooner, and others together wait about {waited} longer, which is not wanted here", self.gain)
    }
}

/// Weighs a change of a job by the prices of its partition, where the site asks what others wait.
pub(super) fn weigh<F: Forecaster>(context: &DerivedInputs<'_, F>, gain: Seconds, written: Area, other: Area) -> Weighed {
    let is_asked = context.policy.others != Others::Ignore;
    let prices = if is_asked { context.forecasts.prices(context.partition.index) } else { None };
    Weighed::new(prices.as_ref(), gain, written, other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(gain_s: i64, waited: Option<f64>) -> Vec<bool> {
        let weighed = Weighed { gain: Seconds(gain_s), waited };
        [Others::Ignore, Others::Sum, Others::NotWorse].map(|others| weighed.is_allowed(others)).to_vec()
    }

    #[test]
    fn what_others_may_wait_for_a_change_is_what_the_site_says() {
        assert_eq!(allowed(1_000, Some(-5.0)), [true, true, true]);
        assert_eq!(allowed(1_000, Some(50.0)), [true, true, true]);
        assert_eq!(allowed(1_000, Some(51.0)), [true, true, false]);
        assert_eq!(allowed(1_000, Some(999.0)), [true, true, false]);
        assert_eq!(allowed(1_000, Some(1_000.0)), [true, false, false]);
    }

    #[test]
    fn what_is_not_known_forbids_nothing() {
        assert_eq!(allowed(1, None), [true, true, true]);
    }
}
