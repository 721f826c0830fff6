//! The jobs of one category.

use super::template::Estimate;
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::collections::VecDeque;

/// Confidence of the intervals that are compared.
const CONFIDENCE: f64 = 0.9;
/// Beyond so many degrees of freedom the quantile of Student's t distribution is taken for that of
/// the normal one.
const MOST_DEGREES: usize = 200;

/// Quantiles of Student's t distribution by degrees of freedom, from 1 on.
#[derive(Clone, Debug)]
pub(super) struct Students(Vec<f64>);

impl Students {
    pub(super) fn new() -> Students {
        let quantile = |degrees: usize| {
            StudentsT::new(0.0, 1.0, degrees as f64).map_or(f64::INFINITY, |students| students.inverse_cdf((1.0 + CONFIDENCE) / 2.0))
        };
        Students((1..=MOST_DEGREES).map(quantile).collect())
    }

    fn quantile(&self, degrees: usize) -> f64 {
        self.0.get(degrees.clamp(1, MOST_DEGREES) - 1).copied().unwrap_or(f64::INFINITY)
    }
}

/// Run times in seconds, or as parts of the limit, and numbers of CPUs, with their sums.
#[derive(Clone, Debug, Default)]
pub(super) struct Category {
    /// Kept only where the oldest must make room.
    jobs: VecDeque<(f64, f64)>,
    count: usize,
    sum_x: f64,
    sum_y: f64,
    sum_xx: f64,
    sum_xy: f64,
    sum_yy: f64,
}

impl Category {
    /// Adds a job, and removes the oldest where there are more than `most_jobs`.
    pub(super) fn push(&mut self, cpus: f64, run_time: f64, most_jobs: Option<u32>) {
        self.add(cpus, run_time, 1.0);
        self.count += 1;
        let Some(most_jobs) = most_jobs else { return };
        self.jobs.push_back((cpus, run_time));
        while self.jobs.len() > most_jobs.max(2) as usize {
            if let Some((cpus, run_time)) = self.jobs.pop_front() {
                self.add(cpus, run_time, -1.0);
                self.count -= 1;
            }
        }
    }

    fn add(&mut self, x: f64, y: f64, sign: f64) {
        self.sum_x += sign * x;
        self.sum_y += sign * y;
        self.sum_xx += sign * x * x;
        self.sum_xy += sign * x * y;
        self.sum_yy += sign * y * y;
    }

    /// The estimate for a job of so many CPUs and half the length of its interval, in which one
    /// further run time lies with [`CONFIDENCE`]. `None` with fewer than two jobs for a mean, three
    /// of different sizes for a line.
    pub(super) fn estimate(&self, estimate: Estimate, cpus: f64, students: &Students) -> Option<(f64, f64)> {
        let count = self.count as f64;
        let (mean_x, mean_y) = (self.sum_x / count, self.sum_y / count);
        let square_y = (self.sum_yy - count * mean_y * mean_y).max(0.0);
        match estimate {
            Estimate::Mean if self.count >= 2 => {
                let deviation = (square_y / (count - 1.0)).sqrt();
                Some((mean_y, students.quantile(self.count - 1) * deviation * (1.0 + 1.0 / count).sqrt()))
            }
            Estimate::Linear if self.count >= 3 => {
                let square_x = self.sum_xx - count * mean_x * mean_x;
                if square_x <= 1e-6 * count {
                    return None;
                }
                let slope = (self.sum_xy - count * mean_x * mean_y) / square_x;
                let residual = (square_y - slope * slope * square_x).max(0.0);
                let deviation = (residual / (count - 2.0)).sqrt();
                let reach = (1.0 + 1.0 / count + (cpus - mean_x).powi(2) / square_x).sqrt();
                Some((mean_y + slope * (cpus - mean_x), students.quantile(self.count - 2) * deviation * reach))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_mean_is_students() {
        let mut category = Category::default();
        for run_time in [10.0, 20.0, 30.0] {
            category.push(1.0, run_time, None);
        }
        let (mean, half) = category.estimate(Estimate::Mean, 1.0, &Students::new()).unwrap();
        assert_eq!(mean, 20.0);
        // t of 0.95 with 2 degrees of freedom is 2.919986, in every table; the deviation is 10.
        assert!((half - 2.919_986 * 10.0 * (4.0f64 / 3.0).sqrt()).abs() < 1e-4);
    }

    #[test]
    fn a_line_goes_through_run_times_by_size() {
        let mut category = Category::default();
        for cpus in [1.0, 2.0, 4.0] {
            category.push(cpus, 100.0 * cpus + 5.0, None);
        }
        let (run_time, half) = category.estimate(Estimate::Linear, 8.0, &Students::new()).unwrap();
        assert!((run_time - 805.0).abs() < 1e-6 && half < 1e-3);
    }

    #[test]
    fn a_full_category_forgets_its_oldest_job() {
        let mut category = Category::default();
        for run_time in [1_000.0, 10.0, 10.0, 10.0] {
            category.push(1.0, run_time, Some(2));
        }
        assert_eq!(category.estimate(Estimate::Mean, 1.0, &Students::new()).map(|(mean, _)| mean.round()), Some(10.0));
    }
}
