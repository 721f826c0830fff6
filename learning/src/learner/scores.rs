//! Forecasts held against what followed.

use predictor_core::forecasts::forecast::PERCENTILES;
use predictor_core::forecasts::reliability::{RELIABILITY, RELIABILITY_LEVELS};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use crate::distribution_scores::{Levels, pinball_s, transform};

/// How many forecasts the scores rest on, the latest: enough for an observed share to be sure
/// within 0.02, and few enough to be of the present.
pub(super) const MOST_FORECASTS: usize = 2_000;

/// How one forecast did, once the wait was known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Score {
    /// The randomised probability integral transform of the wait.
    transform: f32,
    /// Error of the point and pinball loss; `None` of a job that left before it started.
    errors_s: Option<Errors>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Errors {
    point_s: f32,
    pinball_s: f32,
}

/// How well the latest forecasts did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    latest: VecDeque<Score>,
}

impl Scores {
    /// A job whose wait was forecast by a point and by bounds on the percentiles 1 to 99, in
    /// seconds, has waited. `part` is drawn evenly from 0 to 1 ([`transform`]). Returns the pinball
    /// loss of the bounds, in seconds.
    pub(super) fn learn(&mut self, point_s: f64, bounds_s: &[u32; PERCENTILES], wait_s: i64, part: f64) -> f32 {
        let wait_s = wait_s as f64;
        let pinball_s = pinball_s(bounds_s, wait_s, Levels::EveryPercent) as f32;
        let errors_s = Some(Errors { point_s: (point_s - wait_s).abs() as f32, pinball_s });
        self.latest.push_back(Score { transform: transform(bounds_s, wait_s, part) as f32, errors_s });
        self.let_go();
        pinball_s
    }

    /// A job whose wait was forecast by these bounds has left the queue after so long without
    /// having started: an observation that is censored.
    ///
    /// The bounds that it outwaited did not hold. Of the others it is not known whether they would
    /// have: the wait is taken to lie, as `part` from 0 to 1 says, evenly over the probability that
    /// the forecast leaves beyond (Efron's redistribution to the right), which is what keeps bounds
    /// that are right from seeming wrong. Point errors are counted of jobs that started only, and a
    /// job that outwaited no bound tells nothing and is not counted at all.
    pub(super) fn leave(&mut self, bounds_s: &[u32; PERCENTILES], waited_s: i64, part: f64) {
        let missed = bounds_s.partition_point(|bound_s| i64::from(*bound_s) < waited_s);
        if missed == 0 {
            return;
        }
        let passed = missed as f64 / 100.0;
        self.latest.push_back(Score { transform: (passed + part * (1.0 - passed)) as f32, errors_s: None });
        self.let_go();
    }

    fn let_go(&mut self) {
        if self.latest.len() > MOST_FORECASTS {
            self.latest.pop_front();
        }
    }

    fn errors(&self) -> impl Iterator<Item = Errors> + '_ {
        self.latest.iter().filter_map(|score| score.errors_s)
    }

    /// How many forecasts they rest on.
    #[must_use]
    pub fn jobs(&self) -> u32 {
        self.latest.len() as u32
    }

    /// The share of jobs that waited at most as long as the bound at a level.
    #[must_use]
    pub fn coverage(&self, level: f64) -> f64 {
        f64::from(self.held(level)) / self.latest.len().max(1) as f64
    }

    /// How many jobs waited at most as long as the bound at a level.
    #[must_use]
    pub fn held(&self, level: f64) -> u32 {
        self.latest.iter().filter(|score| f64::from(score.transform) <= level).count() as u32
    }

    /// The share of waits within the bound, at each level of [`RELIABILITY`].
    #[must_use]
    pub fn reliability(&self) -> [f32; RELIABILITY_LEVELS] {
        RELIABILITY.map(|level| self.coverage(level) as f32)
    }

    /// Median of the absolute errors of the point forecasts in seconds; 0 of none.
    #[must_use]
    pub fn median_error_s(&self) -> f32 {
        let mut errors: Vec<f32> = self.errors().map(|errors| errors.point_s).collect();
        let middle = errors.len() / 2;
        if errors.is_empty() { 0.0 } else { *errors.select_nth_unstable_by(middle, f32::total_cmp).1 }
    }

    /// Mean pinball loss over the percentiles, in seconds; 0 of none.
    #[must_use]
    pub fn pinball_s(&self) -> f32 {
        let (sum, jobs) = self.errors().fold((0.0, 0u32), |(sum, jobs), errors| (sum + f64::from(errors.pinball_s), jobs + 1));
        (sum / f64::from(jobs.max(1))) as f32
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
        // Computed by hand: a wait of 600 s misses the eighty bounds of 0 s by 600 s; (1 + ... +
        // 80) / 100 x 600 / 99, of every fifth job. The others lie below the nineteen bounds of 600
        // s: (0.19 + ... + 0.01) x 600 / 99.
        let expected = (0.2 * 32.4 + 0.8 * 1.9) * 600.0 / 99.0;
        assert!((f64::from(scores.pinball_s()) - expected).abs() < 0.01, "{} {expected}", scores.pinball_s());
    }

    #[test]
    fn bounds_that_hold_still_do_where_jobs_are_cancelled_while_they_wait() {
        // Waits evenly over 0 to 100 s; every second job gives up after a time that is spread as
        // evenly.
        let (mut scores, mut without) = (Scores::default(), Scores::default());
        for job in 0..2_000u32 {
            let [wait_s, patience_s, part] =
                [0.618_033_988_7, 0.754_877_666_2, 0.569_840_290_9].map(|step: f64| (f64::from(job) * step).fract());
            let (wait_s, patience_s) = ((wait_s * 100.0) as i64, (patience_s * 100.0) as i64);
            if job % 2 == 0 && patience_s < wait_s {
                scores.leave(&even(), patience_s, part);
            } else {
                scores.learn(50.0, &even(), wait_s, part);
                without.learn(50.0, &even(), wait_s, part);
            }
        }
        for level in [0.5, 0.75, 0.9, 0.95] {
            assert!((scores.coverage(level) - level).abs() < 0.02, "{level}: {}", scores.coverage(level));
        }
        assert!(without.coverage(0.5) > 0.55, "leaving them out makes bounds look better than they are: {}", without.coverage(0.5));
    }

    #[test]
    fn who_leaves_has_outwaited_the_bounds_below_and_has_no_error() {
        let mut scores = Scores::default();
        scores.leave(&even(), 1, 0.0);
        assert_eq!(scores.jobs(), 0, "no bound is shorter");
        scores.leave(&even(), 81, 0.0);
        scores.leave(&even(), 81, 0.999);
        assert_eq!([0.5, 0.75, 0.79, 0.81, 0.999].map(|level| scores.coverage(level)), [0.0, 0.0, 0.0, 0.5, 0.5]);
        assert_eq!((scores.jobs(), scores.median_error_s(), scores.pinball_s()), (2, 0.0, 0.0));
    }

    #[test]
    fn only_the_latest_forecasts_count() {
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
