//! Mean and quantiles.

/// Mean and quantiles of a figure over jobs.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Distribution {
    /// The mean.
    pub mean: f64,
    /// Half are at most this.
    pub median: f64,
    /// Three quarters are at most this.
    pub p75: f64,
    /// 90 % are at most this.
    pub p90: f64,
    /// 95 % are at most this.
    pub p95: f64,
    /// 99 % are at most this.
    pub p99: f64,
    /// The largest.
    pub maximum: f64,
}

impl Distribution {
    /// Of these values; all zero of none. A quantile is the smallest value that so large a part of all is at most.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let Some(&maximum) = sorted.last() else { return Self::default() };
        let quantile = |part: f64| {
            let place = (part * sorted.len() as f64).ceil() as usize;
            sorted[place.clamp(1, sorted.len()) - 1]
        };
        Self {
            mean: sorted.iter().sum::<f64>() / sorted.len() as f64,
            median: quantile(0.5),
            p75: quantile(0.75),
            p90: quantile(0.9),
            p95: quantile(0.95),
            p99: quantile(0.99),
            maximum,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Distribution;

    #[test]
    fn a_quantile_is_a_value_that_was_seen() {
        let found = Distribution::of((1..=100).rev().map(f64::from));
        assert_eq!((found.mean, found.median, found.p75, found.p90), (50.5, 50.0, 75.0, 90.0));
        assert_eq!((found.p95, found.p99, found.maximum), (95.0, 99.0, 100.0));
    }

    #[test]
    fn of_nothing_everything_is_zero() {
        assert_eq!(Distribution::of([]), Distribution::default());
    }
}
