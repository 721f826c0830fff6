//! A mean over seeds, with its interval.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean over seeds with an interval that has the true mean with a probability of 0.95, by
/// Student's t distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The lower end of the interval; the mean itself with one seed.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
}

impl Spread {
    /// Returns the spread of values, one for each seed; `None` if there are none.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = values.len() as f64;
        let mean = (!values.is_empty()).then(|| values.iter().sum::<f64>() / count)?;
        let half = if values.len() < 2 {
            0.0
        } else {
            let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (count - 1.0);
            let t = StudentsT::new(0.0, 1.0, count - 1.0).map_or(f64::NAN, |student| student.inverse_cdf(0.975));
            t * (variance / count).sqrt()
        };
        Some(Self { mean, lower: mean - half, upper: mean + half })
    }

    /// The part of the interval on each side of the mean.
    #[must_use]
    pub fn half(&self) -> f64 {
        self.upper - self.mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 0.975 quantile of Student's t distribution with 3 degrees of freedom is 3.182; the
    /// values have a variance of 5/3, and its root over 2 is 0.6455.
    #[test]
    fn the_interval_is_that_of_students_t_distribution() {
        let spread = Spread::of(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!(spread.mean, 2.5);
        assert!((spread.half() - 3.1824 * 0.645_497).abs() < 1e-3, "{spread:?}");
        assert_eq!(Spread::of(&[2.0]).unwrap().half(), 0.0);
        assert_eq!(Spread::of(&[]), None);
    }
}
