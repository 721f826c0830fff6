//! Correction of the levels of forecasts from how often earlier run times lay below them.

use serde::{Deserialize, Serialize};

/// Steps in which the levels are kept.
const STEPS: usize = 100;
/// A job loses a part of its weight with every later one: after some 3,300 jobs it weighs `1/e`.
const FADING: f64 = 0.999_7;
/// The number of jobs that count as having been right at each step before any job was seen.
const PRIOR_JOBS: f64 = 1.0;
/// The number of jobs after which the correction is renewed.
const RENEWAL: u32 = 20;

/// Counts of the levels at which run times lay. They map a level of the uncorrected distribution to
/// the part of run times that lay below it.
#[serde_with::serde_as]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Levels {
    #[serde_as(as = "[_; STEPS]")]
    jobs: [f64; STEPS],
    #[serde_as(as = "[_; STEPS + 1]")]
    corrected: [f64; STEPS + 1],
    since_renewal: u32,
}

impl Levels {
    /// Levels before any run time was seen, all equal to their nominal values.
    pub(super) fn new() -> Levels {
        // The counts weigh as much as those of a long history of jobs that lay evenly, so that the
        // first jobs do not change everything.
        Levels { jobs: [20.0; STEPS], corrected: std::array::from_fn(|step| step as f64 / STEPS as f64), since_renewal: 0 }
    }

    /// A run time lay between two levels, evenly as far as is known: the probabilities that were
    /// given to less, and to no more.
    pub(super) fn learn(&mut self, less: f64, up_to: f64) {
        let (less, up_to) = (less.clamp(0.0, 1.0), up_to.clamp(less.clamp(0.0, 1.0), 1.0));
        let length = up_to - less;
        for (step, jobs) in self.jobs.iter_mut().enumerate() {
            *jobs *= FADING;
            let (low, high) = (step as f64 / STEPS as f64, (step + 1) as f64 / STEPS as f64);
            let shared = up_to.min(high) - less.max(low);
            if length > 1e-9 {
                *jobs += shared.max(0.0) / length;
            } else if (low..high).contains(&less) || (step + 1 == STEPS && less >= high) {
                *jobs += 1.0;
            }
        }
        self.since_renewal += 1;
        if self.since_renewal >= RENEWAL {
            self.since_renewal = 0;
            let total: f64 = self.jobs.iter().map(|jobs| jobs + PRIOR_JOBS).sum();
            let mut below = 0.0;
            for (corrected, jobs) in self.corrected.iter_mut().skip(1).zip(&self.jobs) {
                below += jobs + PRIOR_JOBS;
                *corrected = below / total;
            }
        }
    }

    /// The corrected level.
    pub(super) fn corrected(&self, level: f64) -> f64 {
        let place = (level.clamp(0.0, 1.0) * STEPS as f64).min(STEPS as f64 - 1e-9);
        let at = |step: usize| self.corrected.get(step).copied().unwrap_or(1.0);
        let step = place as usize;
        at(step) + (at(step + 1) - at(step)) * (place - step as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_follow_what_happened() {
        let mut levels = Levels::new();
        assert!((levels.corrected(0.37) - 0.37).abs() < 1e-9);
        // All run times lie evenly in the lower half of their distributions: the median held all of
        // them.
        for _ in 0..20_000 {
            levels.learn(0.0, 0.5);
        }
        assert!(levels.corrected(0.5) > 0.95);
        assert!((levels.corrected(0.25) - 0.5 * levels.corrected(0.5)).abs() < 1e-6);
        assert!((levels.corrected(1.0) - 1.0).abs() < 1e-9);
    }
}
