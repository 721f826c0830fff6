//! Forecasts held against what followed.

use crate::binomial::PERCENTILES;
use crate::snapshot::{RELIABILITY, RELIABILITY_LEVELS};
use std::collections::VecDeque;

/// Outcomes that scores rest on, the latest: enough for an observed share to be sure within 0.02, and few enough to be of the present.
const MOST_OUTCOMES: usize = 2_000;

/// What a forecast came to.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Outcome {
    /// The randomised probability integral transform of the wait.
    transform: f32,
    error_s: f32,
    pinball_s: f32,
}

/// How well the latest forecasts did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    outcomes: VecDeque<Outcome>,
}

impl Scores {
    /// A job whose wait was forecast by a point and by bounds on the percentiles 1 to 99, in seconds, has waited. `part`, drawn evenly from 0 to
    /// 1, says where within the bounds that equal the wait it is taken to lie: many jobs do not wait at all, and a bound of 0 seconds would else
    /// hold for all of them.
    pub(super) fn learn(&mut self, point_s: f64, bounds_s: &[u32; PERCENTILES], wait_s: i64, part: f64) {
        let below = bounds_s.partition_point(|bound_s| i64::from(*bound_s) < wait_s) as f64;
        let up_to = bounds_s.partition_point(|bound_s| i64::from(*bound_s) <= wait_s) as f64 + 1.0;
        let pinball = (1u32..).zip(bounds_s).map(|(percent, bound_s)| {
            let (level, miss_s) = (f64::from(percent) / 100.0, wait_s as f64 - f64::from(*bound_s));
            (level * miss_s).max((level - 1.0) * miss_s)
        });
        self.outcomes.push_back(Outcome {
            transform: ((below + part * (up_to - below)) / 100.0) as f32,
            error_s: (point_s - wait_s as f64).abs() as f32,
            pinball_s: (pinball.sum::<f64>() / PERCENTILES as f64) as f32,
        });
        if self.outcomes.len() > MOST_OUTCOMES {
            self.outcomes.pop_front();
        }
    }

    /// How many outcomes they rest on.
    #[must_use]
    pub fn jobs(&self) -> u32 {
        self.outcomes.len() as u32
    }

    /// The share of jobs that waited at most as long as the bound at a level.
    #[must_use]
    pub fn coverage(&self, level: f64) -> f64 {
        f64::from(self.held(level)) / self.outcomes.len().max(1) as f64
    }

    /// How many jobs waited at most as long as the bound at a level.
    #[must_use]
    pub fn held(&self, level: f64) -> u32 {
        self.outcomes.iter().filter(|outcome| f64::from(outcome.transform) <= level).count() as u32
    }

    /// That share at each level of [`RELIABILITY`].
    #[must_use]
    pub fn reliability(&self) -> [f32; RELIABILITY_LEVELS] {
        RELIABILITY.map(|level| self.coverage(level) as f32)
    }

    /// Median of the absolute errors of the point forecasts in seconds; 0 of none.
    #[must_use]
    pub fn median_error_s(&self) -> f32 {
        let mut errors: Vec<f32> = self.outcomes.iter().map(|outcome| outcome.error_s).collect();
        let middle = errors.len() / 2;
        if errors.is_empty() { 0.0 } else { *errors.select_nth_unstable_by(middle, f32::total_cmp).1 }
    }

    /// Mean pinball loss over the percentiles, in seconds; 0 of none.
    #[must_use]
    pub fn pinball_s(&self) -> f32 {
        let sum: f64 = self.outcomes.iter().map(|outcome| f64::from(outcome.pinball_s)).sum();
        (sum / self.outcomes.len().max(1) as f64) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bounds of a wait that is spread evenly over 0 to 100 s.
    fn even() -> [u32; PERCENTILES] {
        std::array::from_fn(|index| index as u32 + 1)
    }

    #[test]
    fn bounds_that_hold_as_often_as_they_say_are_covered_at_every_level() {
        let mut scores = Scores::default();
        for wait_s in 0..100 {
            scores.learn(50.0, &even(), wait_s, 0.5);
        }
        for (level, share) in RELIABILITY.into_iter().zip(scores.reliability()) {
            assert!((f64::from(share) - level).abs() <= 0.011, "{level}: {share}");
        }
        assert_eq!((scores.jobs(), scores.median_error_s()), (100, 25.0));
    }

    #[test]
    fn jobs_that_do_not_wait_are_spread_over_the_bounds_of_0_seconds() {
        let mut bounds_s = [0; PERCENTILES];
        bounds_s[80..].fill(600);
        let mut scores = Scores::default();
        for part in 0..80 {
            scores.learn(0.0, &bounds_s, 0, (f64::from(part) + 0.5) / 80.0);
        }
        for _ in 0..20 {
            scores.learn(0.0, &bounds_s, 600, 0.5);
        }
        assert!((scores.coverage(0.5) - 0.5).abs() < 0.02, "{}", scores.coverage(0.5));
        // By hand: a wait of 600 s misses the eighty bounds of 0 s by 600 s; (1 + ... + 80) / 100 x 600 / 99, of every fifth job. The others lie
        // below the nineteen bounds of 600 s: (0.19 + ... + 0.01) x 600 / 99.
        let expected = (0.2 * 32.4 + 0.8 * 1.9) * 600.0 / 99.0;
        assert!((f64::from(scores.pinball_s()) - expected).abs() < 0.01, "{} {expected}", scores.pinball_s());
    }

    #[test]
    fn only_the_latest_outcomes_count() {
        let mut scores = Scores::default();
        for _ in 0..3_000 {
            scores.learn(0.0, &even(), 1_000, 0.5);
        }
        assert_eq!((scores.jobs(), scores.coverage(0.95)), (2_000, 0.0));
        for wait_s in 0..2_000 {
            scores.learn(0.0, &even(), wait_s % 100, 0.5);
        }
        assert!((scores.coverage(0.95) - 0.95).abs() < 0.011);
    }
}
