//! The gain of response-time ranges (Hariharan et al. 2020, IV.A).

use crate::forecasts::forecast::RunTimeRange;
use job_types::time::Seconds;

/// The gain of response-time ranges (IV.A, equation 5): the area under f(t) = 1 - t over the
/// ranges, with t as a part of the longest response of all sizes, over the length of the ranges. A
/// set of ranges without length counts as its points.
#[must_use]
pub fn gain(ranges: &[RunTimeRange], wait: Seconds, longest: Seconds) -> f64 {
    let part = |seconds: Seconds| (wait + seconds).0 as f64 / longest.0 as f64;
    let (mut area, mut length) = (0.0, 0.0);
    for range in ranges {
        let (lower, upper) = (part(range.lower()), part(range.upper()));
        area += (upper - lower) * (1.0 - (upper + lower) / 2.0);
        length += upper - lower;
    }
    if length > 0.0 {
        return area / length;
    }
    let points = ranges.iter().map(|range| 1.0 - part(range.middle())).sum::<f64>();
    points / ranges.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gain_is_the_mean_of_one_minus_t_over_the_ranges() {
        // Ranges 0.2..0.4 and 0.6..0.8: areas 0.2 * 0.7 and 0.2 * 0.3, over a length of 0.4.
        let ranges = [RunTimeRange::new(20, 40, 0.5), RunTimeRange::new(60, 80, 0.5)];
        assert!((gain(&ranges, Seconds(0), Seconds(100)) - 0.5).abs() < 1e-9);
        // A wait of 10 s, a tenth of the longest response, comes before the same run times.
        assert!((gain(&ranges, Seconds(10), Seconds(100)) - 0.4).abs() < 1e-9);
        let point = [RunTimeRange::new(25, 25, 1.0)];
        assert!((gain(&point, Seconds(0), Seconds(100)) - 0.75).abs() < 1e-9);
    }
}
