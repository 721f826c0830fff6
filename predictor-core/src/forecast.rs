//! What a forecast is, apart from who makes it.
//!
//! The decisions ask through [`WaitForecaster`] and [`RunTimeForecaster`]; the snapshot answers with what the daemon fitted.

use crate::binomial::PERCENTILES;
use crate::class::ClassKey;
use crate::size::{Size, Unit};
use crate::time::Seconds;
use std::ops::RangeInclusive;
use zerocopy::little_endian::{F32, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The value that stands for "no bound": there is too little history for one.
pub const UNBOUNDED_S: u32 = u32::MAX;

/// Who forecasts the waits of a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitSource {
    /// Nobody: there is no history.
    #[default]
    Nothing,
    /// The bounds of QBETS on the waits of the job's class.
    Qbets,
    /// The default: a blend of trees and recent waits, with bounds from what followed forecasts like it.
    Blended,
}

/// What a forecast of a wait needs to know of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobShape {
    /// Index of the partition in the snapshot's table of partitions.
    pub partition: u16,
    /// Nodes and CPUs.
    pub size: Size,
    /// Time limit; `None` is unlimited.
    pub limit: Option<Seconds>,
}

/// A forecast of the time between a job's eligibility and its start.
#[derive(Clone, Debug)]
pub struct WaitForecast<'a> {
    /// The class whose history it rests on.
    pub class: ClassKey,
    /// How many past jobs of that class.
    pub jobs: u32,
    /// The point forecast: the median of their waits.
    pub median: Seconds,
    /// Upper bounds in seconds on the percentiles 1 to 99, ascending, [`UNBOUNDED_S`] where there is none.
    pub bounds: &'a [U32; PERCENTILES],
    /// The time limits of the same job for which the forecast is this one.
    pub limits: RangeInclusive<Seconds>,
}

impl WaitForecast<'_> {
    /// An upper bound on the wait that holds with `probability` (0 to 1, rounded up to a percent), at the confidence of the fit.
    #[must_use]
    pub fn bound(&self, probability: f64) -> Option<Seconds> {
        let percent = (probability * 100.0 - 1e-9).ceil().max(1.0);
        let bound = self.bounds.get(percent as usize - 1)?.get();
        (bound != UNBOUNDED_S).then_some(Seconds(i64::from(bound)))
    }

    /// The probability of starting within `duration`, in whole percent: the inverse of [`WaitForecast::bound`] (VARQ paper, 2.3).
    #[must_use]
    pub fn probability_within(&self, duration: Seconds) -> f64 {
        if duration.0 < 0 {
            return 0.0;
        }
        let held = self.bounds.partition_point(|bound| bound.get() != UNBOUNDED_S && i64::from(bound.get()) <= duration.0);
        held as f64 / 100.0
    }
}

/// One range of run times, in seconds, with the probability that the run time lies in it.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct RunTimeRange {
    lower_s: U32,
    upper_s: U32,
    probability: F32,
}

impl RunTimeRange {
    /// A range from `lower` to `upper`, both included.
    #[must_use]
    pub fn new(lower_s: u32, upper_s: u32, probability: f32) -> RunTimeRange {
        RunTimeRange { lower_s: lower_s.into(), upper_s: upper_s.into(), probability: probability.into() }
    }

    /// Shortest run time in the range.
    #[must_use]
    pub fn lower(&self) -> Seconds {
        Seconds(i64::from(self.lower_s.get()))
    }

    /// Longest run time in the range.
    #[must_use]
    pub fn upper(&self) -> Seconds {
        Seconds(i64::from(self.upper_s.get()))
    }

    /// The middle of the range.
    #[must_use]
    pub fn middle(&self) -> Seconds {
        Seconds((i64::from(self.lower_s.get()) + i64::from(self.upper_s.get())) / 2)
    }

    /// Probability of this range, 0 to 1.
    #[must_use]
    pub fn probability(&self) -> f64 {
        f64::from(self.probability.get())
    }
}

/// A forecast of a run time: disjoint ascending ranges whose probabilities sum to 1, or none where nothing is known.
#[derive(Clone, Copy, Debug)]
pub struct RunTimeForecast<'a> {
    /// How many past jobs of the user at that size it rests on.
    pub jobs: u32,
    /// The longest time limit that the user asked for at that size; `None` where one was unlimited.
    pub longest_limit: Option<Seconds>,
    /// The ranges.
    pub ranges: &'a [RunTimeRange],
}

impl RunTimeForecast<'_> {
    /// The point forecast: the middles of the ranges weighted by their probabilities (end-to-end paper, IV.B).
    #[must_use]
    pub fn point(&self) -> Seconds {
        let weighted: f64 = self.ranges.iter().map(|range| range.middle().0 as f64 * range.probability()).sum();
        Seconds(weighted.round() as i64)
    }
}

/// Forecasts waits.
pub trait WaitForecaster {
    /// The forecast for a job, at the given pressure of its partition or, with `None`, whatever the pressure; `None` where there is no history at all.
    fn wait(&self, job: &JobShape, pressure: Option<f64>) -> Option<WaitForecast<'_>>;
}

/// Forecasts run times from a user's own past.
pub trait RunTimeForecaster {
    /// The forecast for a user's job of `count` nodes or CPUs in a partition; `None` where the user never ran one.
    fn run_time(&self, user: u32, partition: u16, unit: Unit, count: u32) -> Option<RunTimeForecast<'_>>;

    /// The sizes that the user has run in a partition, ascending.
    fn past_sizes(&self, user: u32, partition: u16, unit: Unit) -> impl Iterator<Item = u32> + '_;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forecast(bounds: &[U32; PERCENTILES]) -> WaitForecast<'_> {
        let class = ClassKey { partition: 0, size: 0, limit: 0, pressure: 0 };
        WaitForecast { class, jobs: 100, median: Seconds(50), bounds, limits: Seconds(0)..=Seconds(900) }
    }

    #[test]
    fn the_probability_within_a_bound_is_the_bounds_own() {
        let bounds = std::array::from_fn(|index| U32::new(index as u32 * 10));
        let forecast = forecast(&bounds);
        for percent in 1..=99 {
            let probability = f64::from(percent) / 100.0;
            let bound = forecast.bound(probability).unwrap();
            assert_eq!(forecast.probability_within(bound), probability);
        }
    }

    #[test]
    fn no_bound_is_no_probability() {
        let mut bounds = [U32::new(UNBOUNDED_S); PERCENTILES];
        bounds[0] = U32::new(5);
        let forecast = forecast(&bounds);
        assert_eq!(forecast.bound(0.5), None);
        assert_eq!(forecast.probability_within(Seconds(i64::MAX)), 0.01);
        assert_eq!(forecast.probability_within(Seconds(-1)), 0.0);
    }

    #[test]
    fn the_point_of_a_run_time_weighs_the_middles() {
        let ranges = [RunTimeRange::new(80, 120, 0.75), RunTimeRange::new(400, 600, 0.25)];
        let forecast = RunTimeForecast { jobs: 4, longest_limit: None, ranges: &ranges };
        assert_eq!(forecast.point(), Seconds(200));
    }
}
