//! How far apart start times are.

/// How far simulated start times are from the real ones, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Difference {
    /// How many jobs were compared.
    pub jobs: usize,
    /// Median of the absolute differences.
    pub median_s: f64,
    /// Mean of the absolute differences.
    pub mean_s: f64,
    /// The value that 95 % of the absolute differences do not exceed.
    pub p95_s: f64,
    /// Greatest absolute difference.
    pub max_s: f64,
    /// The mean of what the simulated starts are later.
    pub mean_later_s: f64,
    /// Fraction of the jobs whose start differs by no more than two seconds.
    pub within_2_s: f64,
}

impl Difference {
    /// Compares two lists of start times, job by job.
    #[must_use]
    pub fn of(simulated: &[i64], real: &[i64]) -> Difference {
        let later: Vec<f64> = simulated.iter().zip(real).map(|(simulated, real)| (simulated - real) as f64).collect();
        let mut apart: Vec<f64> = later.iter().map(|later| later.abs()).collect();
        apart.sort_by(f64::total_cmp);
        let jobs = apart.len();
        let count = jobs.max(1) as f64;
        // The smallest value that at least this part of the jobs is not above.
        let quantile = |part: f64| apart.get(((part * jobs as f64).ceil() as usize).saturating_sub(1)).copied().unwrap_or(0.0);
        Difference {
            jobs,
            median_s: quantile(0.5),
            mean_s: apart.iter().sum::<f64>() / count,
            p95_s: quantile(0.95),
            max_s: quantile(1.0),
            mean_later_s: later.iter().sum::<f64>() / count,
            within_2_s: apart.iter().filter(|&&apart| apart <= 2.0).count() as f64 / count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Difference;

    #[test]
    fn differences_are_told_by_their_quantiles() {
        let expected = Difference { jobs: 4, median_s: 1.0, mean_s: 3.0, p95_s: 10.0, max_s: 10.0, mean_later_s: 2.5, within_2_s: 0.75 };
        assert_eq!(Difference::of(&[10, 21, 29, 50], &[10, 20, 30, 40]), expected);
    }
}
