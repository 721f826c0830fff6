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
    /// The distribution of these values; all zero where there are none. A quantile at `p` is the
    /// smallest value that the part `p` of all values do not exceed.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        if values.is_empty() {
            return Self::default();
        }
        let (count, sum) = (values.len(), values.iter().sum::<f64>());
        let maximum = values.iter().copied().fold(f64::MIN, f64::max);
        // Quantiles are selected from the highest on, because values above one do not matter to the
        // lower ones. Selecting costs less than sorting.
        let mut rest = values.as_mut_slice();
        let [p99, p95, p90, p75, median] = [0.99, 0.95, 0.9, 0.75, 0.5].map(|part| {
            let place = ((part * count as f64).ceil() as usize).clamp(1, count) - 1;
            let place = place.min(rest.len() - 1);
            let (_, &mut value, _) = rest.select_nth_unstable_by(place, f64::total_cmp);
            let all = std::mem::take(&mut rest);
            rest = &mut all[..=place];
            value
        });
        Self { mean: sum / count as f64, median, p75, p90, p95, p99, maximum }
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
