//! What a run-time predictor says.

use predictor_core::forecasts::forecast::RunTimeRange;

/// A forecast of one job's run time.
#[derive(Clone, Debug, PartialEq)]
pub struct RunTimePrediction {
    /// Disjoint ascending ranges with their probabilities, which sum to at most 1; empty where the
    /// method gives a point only, or no range.
    pub ranges: Vec<RunTimeRange>,
    /// The point forecast in seconds.
    pub point_s: f64,
}

impl RunTimePrediction {
    /// A point without ranges.
    #[must_use]
    pub fn point(point_s: f64) -> RunTimePrediction {
        RunTimePrediction { ranges: Vec::new(), point_s }
    }

    /// Whether a run time in whole seconds lies in one of the ranges.
    #[must_use]
    pub fn holds(&self, run_time_s: i64) -> bool {
        self.ranges.iter().any(|range| (range.lower().0..=range.upper().0).contains(&run_time_s))
    }

    /// How many whole seconds the ranges hold.
    #[must_use]
    pub fn length_s(&self) -> f64 {
        self.ranges.iter().map(|range| (range.upper().0 - range.lower().0) as f64 + 1.0).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_range_belong_to_it() {
        let prediction = RunTimePrediction { ranges: vec![RunTimeRange::new(10, 19, 0.5), RunTimeRange::new(30, 30, 0.5)], point_s: 22.0 };
        assert_eq!([9, 10, 19, 20, 30].map(|run_time_s| prediction.holds(run_time_s)), [false, true, true, false, true]);
        assert_eq!(prediction.length_s(), 11.0);
    }
}
