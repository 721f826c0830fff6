//! What a change of a job does to those who wait, and whether the site allows that.

use super::DerivedInputs;
use crate::forecasts::forecast::Forecaster;
use crate::forecasts::price::{Area, Prices};
use job_types::policy::Others;
use job_types::time::Seconds;
use std::fmt;

/// The part of what a job gains that chance moves: by less than this the others are not said to
/// wait longer.
const CHANCE: f64 = 0.05;

/// What a change of a job gains, and what it does to all others together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighed {
    /// By how much sooner the job is done.
    pub gain: Seconds,
    /// By how many seconds all others together wait longer; below zero where they wait less.
    pub waited_s: f64,
}

impl Weighed {
    /// Weighs a change by which a job that would take an area takes another one.
    #[must_use]
    pub fn new(prices: &Prices<'_>, gain: Seconds, written: Area, other: Area) -> Self {
        Self { gain, waited_s: prices.of(other) - prices.of(written) }
    }

    /// Whether the site allows it.
    #[must_use]
    pub fn is_allowed(&self, others: Others) -> bool {
        let gain_s = self.gain.0 as f64;
        match others {
            Others::Ignore => true,
            Others::Sum => self.waited_s < gain_s,
            Others::NotWorse => self.waited_s <= gain_s * CHANCE,
        }
    }
}

impl fmt::Display for Weighed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waited = Seconds(self.waited_s.max(0.0) as i64);
        write!(f, "would have it done about {} sooner, and others together wait about {waited} longer, which is not wanted here", self.gain)
    }
}

/// What a change does to others in the partition of one submission, where the site asks.
pub(super) struct Scales<'a> {
    others: Others,
    /// `None` where nobody asks, and where nothing says what the machine's time costs.
    prices: Option<Prices<'a>>,
}

impl<'a> Scales<'a> {
    pub(super) fn new<F: Forecaster>(context: &DerivedInputs<'a, F>) -> Self {
        let others = context.policy.others;
        let is_asked = others != Others::Ignore;
        let prices = if is_asked { context.forecasts.prices(context.partition.index) } else { None };
        Self { others, prices }
    }

    /// Whether the site asks, and something says what the machine's time costs.
    pub(super) fn are_asked(&self) -> bool {
        self.prices.is_some()
    }

    /// Why the site forbids a change by which a job that would take an area takes another one;
    /// `None` where it does not. What is not known forbids nothing, and neither does what makes
    /// nobody wait longer.
    pub(super) fn forbid(&self, gain: Seconds, written: Area, other: Area) -> Option<Weighed> {
        let weighed = Weighed::new(self.prices.as_ref()?, gain, written, other);
        (weighed.waited_s > 0.0 && !weighed.is_allowed(self.others)).then_some(weighed)
    }
}

#[cfg(test)]
mod tests {
    use job_types::time::UnixTime;

    use super::*;

    fn allowed(gain_s: i64, waited_s: f64) -> Vec<bool> {
        let weighed = Weighed { gain: Seconds(gain_s), waited_s };
        [Others::Ignore, Others::Sum, Others::NotWorse].map(|others| weighed.is_allowed(others)).to_vec()
    }

    #[test]
    fn what_others_may_wait_for_a_change_is_what_the_site_says() {
        assert_eq!(allowed(1_000, -5.0), [true, true, true]);
        assert_eq!(allowed(1_000, 50.0), [true, true, true]);
        assert_eq!(allowed(1_000, 51.0), [true, true, false]);
        assert_eq!(allowed(1_000, 999.0), [true, true, false]);
        assert_eq!(allowed(1_000, 1_000.0), [true, false, false]);
    }

    #[test]
    fn what_is_not_known_forbids_nothing() {
        let unknown = Scales { others: Others::NotWorse, prices: None };
        let area = Area { start: UnixTime(0), time: Seconds(3_600), cpus: 1 };
        assert_eq!(unknown.forbid(Seconds(1), area, Area { cpus: 1_000, ..area }), None);
    }
}
