//! How well a forecast distribution did, once the wait was known.

use predictor_core::forecasts::forecast::PERCENTILES;

/// The randomised probability integral transform of a wait in seconds: where it lies in its
/// forecast distribution, given by bounds on the percentiles 1 to 99. `part`, drawn evenly from 0
/// to 1, says where within the bounds that equal the wait it is taken to lie: many jobs do not wait
/// at all, and a bound of 0 seconds would else hold for all of them.
#[must_use]
pub fn transform(bounds_s: &[u32; PERCENTILES], wait_s: f64, part: f64) -> f64 {
    let below = bounds_s.partition_point(|bound_s| f64::from(*bound_s) < wait_s) as f64;
    let up_to = bounds_s.partition_point(|bound_s| f64::from(*bound_s) <= wait_s) as f64 + 1.0;
    (below + part * (up_to - below)) / 100.0
}

/// The levels at which a pinball loss is taken. They are the multiples of a step in percent, below
/// 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Levels {
    /// 1, 2, ..., 99 %: all bounds that are published.
    EveryPercent,
    /// 5, 10, ..., 95 %: those that forecasts on workload logs are compared at.
    EveryFivePercent,
}

/// Mean over levels of the pinball loss of bounds on the percentiles 1 to 99, in seconds.
#[must_use]
pub fn pinball_s(bounds_s: &[u32; PERCENTILES], wait_s: f64, levels: Levels) -> f64 {
    let step = match levels {
        Levels::EveryPercent => 1,
        Levels::EveryFivePercent => 5,
    };
    let loss = |(percent, bound_s): (u32, &u32)| {
        let (level, miss_s) = (f64::from(percent) / 100.0, wait_s - f64::from(*bound_s));
        (level * miss_s).max((level - 1.0) * miss_s)
    };
    let bounds = (1u32..).zip(bounds_s).filter(|(percent, _)| percent % step == 0);
    bounds.map(loss).sum::<f64>() / f64::from(99 / step)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bounds of a wait that is spread evenly over 0 to 100 s.
    fn even() -> [u32; PERCENTILES] {
        std::array::from_fn(|index| index as u32 + 1)
    }

    #[test]
    fn a_wait_lies_between_the_bounds_around_it_or_anywhere_among_equal_ones() {
        assert_eq!([0.0, 1.0].map(|part| transform(&even(), 10.5, part)), [0.10, 0.11]);
        assert_eq!([0.0, 1.0].map(|part| transform(&[0; PERCENTILES], 0.0, part)), [0.0, 1.0]);
        assert_eq!([0.0, 1.0].map(|part| transform(&even(), 1_000.0, part)), [0.99, 1.0]);
    }

    #[test]
    fn the_pinball_loss_by_hand() {
        // All bounds lie 100 s below the wait: the mean level times 100 s. All lie 100 s above: the
        // mean of what the levels leave.
        for levels in [Levels::EveryPercent, Levels::EveryFivePercent] {
            assert!((pinball_s(&[0; PERCENTILES], 100.0, levels) - 50.0).abs() < 1e-9);
            assert!((pinball_s(&[100; PERCENTILES], 0.0, levels) - 50.0).abs() < 1e-9);
        }
        // The even bounds at 5, 10, ..., 95 s are held against a wait of 0 s: 0.95 x 5 + 0.9 x 10 +
        // ... over 19.
        let expected = (1..20).map(|step| f64::from(100 - 5 * step) / 100.0 * f64::from(5 * step)).sum::<f64>() / 19.0;
        assert!((pinball_s(&even(), 0.0, Levels::EveryFivePercent) - expected).abs() < 1e-9);
    }
}
