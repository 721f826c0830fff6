//! The losses of two sources of forecasts on the same jobs.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// How many jobs the comparison rests on, the latest: as many as the scores of one source do.
const MOST_JOBS: usize = super::scores::MOST_FORECASTS;

/// Jobs of a block. Waits of jobs that start one after the other are alike, so that the difference
/// of the losses is far less certain than so many jobs would make it; blocks of so many are nearly
/// independent.
const BLOCK_JOBS: usize = 50;

/// The mean pinball losses of both sources over the percentiles 1 to 99 on one job, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Pair {
    default_s: f32,
    qbets_s: f32,
}

/// The losses of the default and of QBETS on the latest jobs that both have forecast and that have
/// started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Comparison {
    latest: VecDeque<Pair>,
}

/// What the latest jobs say of the losses of both sources, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Losses {
    /// Mean loss of the default.
    pub(super) default_s: f64,
    /// Mean loss of QBETS.
    pub(super) qbets_s: f64,
    /// Standard error of the difference of the two means, from the means of blocks of consecutive
    /// jobs; infinite of fewer than two blocks.
    pub(super) error_s: f64,
}

impl Comparison {
    /// A job has started on which the sources had these losses.
    pub(super) fn learn(&mut self, default_s: f32, qbets_s: f32) {
        self.latest.push_back(Pair { default_s, qbets_s });
        if self.latest.len() > MOST_JOBS {
            self.latest.pop_front();
        }
    }

    /// What the latest jobs say.
    pub(super) fn losses(&self) -> Losses {
        let jobs = self.latest.len().max(1) as f64;
        let mean_of = |loss_s: fn(&Pair) -> f32| self.latest.iter().map(|pair| f64::from(loss_s(pair))).sum::<f64>() / jobs;
        // What is left over at the front is the oldest, and in no block.
        let rest = self.latest.len() % BLOCK_JOBS;
        let mut differences = Vec::with_capacity(self.latest.len() / BLOCK_JOBS);
        let mut sum = 0.0;
        for (place, pair) in (1..).zip(self.latest.iter().skip(rest)) {
            sum += f64::from(pair.default_s) - f64::from(pair.qbets_s);
            if place % BLOCK_JOBS == 0 {
                differences.push(sum / BLOCK_JOBS as f64);
                sum = 0.0;
            }
        }
        Losses { default_s: mean_of(|pair| pair.default_s), qbets_s: mean_of(|pair| pair.qbets_s), error_s: standard_error(&differences) }
    }
}

/// The standard error of the mean of independent values; infinite of fewer than two.
fn standard_error(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::INFINITY;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (variance / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_means_and_the_standard_error_by_hand() {
        let mut comparison = Comparison::default();
        assert_eq!(comparison.losses(), Losses { default_s: 0.0, qbets_s: 0.0, error_s: f64::INFINITY });
        // Three blocks in which the default has 1, 2 and 3 s more.
        for job in 0..150u16 {
            comparison.learn(10.0 + f32::from(1 + job / 50), 10.0);
        }
        // The variance of 1, 2 and 3 is 1.
        let losses = comparison.losses();
        assert_eq!((losses.default_s, losses.qbets_s), (12.0, 10.0));
        assert!((losses.error_s - (1.0f64 / 3.0).sqrt()).abs() < 1e-9, "{losses:?}");
    }

    #[test]
    fn jobs_that_are_alike_in_a_row_say_less_than_as_many_that_are_not() {
        let error_s = |alike: u16| {
            let mut comparison = Comparison::default();
            (0..2_000u16).for_each(|job| comparison.learn(f32::from(job / alike % 2), 0.5));
            comparison.losses().error_s
        };
        assert!(error_s(50) > 20.0 * error_s(1).max(0.001), "{} {}", error_s(50), error_s(1));
    }

    #[test]
    fn only_the_latest_jobs_count() {
        let mut comparison = Comparison::default();
        (0..3_000).for_each(|_| comparison.learn(5.0, 1.0));
        (0..2_000).for_each(|_| comparison.learn(1.0, 5.0));
        assert_eq!((comparison.losses().default_s, comparison.losses().qbets_s), (1.0, 5.0));
    }
}
