//! Levels of quantiles, corrected on line so that bounds hold as often as they should.
//!
//! Gibbs and Candès, Adaptive Conformal Inference Under Distribution Shift (NeurIPS 2021): after
//! each outcome the level of a bound that held is lowered a little and that of a bound that did not
//! is raised, so that in the long run it holds as often as it should, whatever the waits do.

use serde::{Deserialize, Serialize};

/// The nominal levels that are corrected; between them the correction is linear.
pub const KNOTS: [f64; 9] = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99];

/// The level to take in the place of each nominal one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Levels {
    corrected: [f64; KNOTS.len()],
}

impl Default for Levels {
    fn default() -> Levels {
        Levels { corrected: KNOTS }
    }
}

/// The corrected levels, one for each knot, as a snapshot has them.
impl From<[f64; KNOTS.len()]> for Levels {
    fn from(corrected: [f64; KNOTS.len()]) -> Self {
        Levels { corrected }
    }
}

impl Levels {
    /// A bound at `KNOTS[knot]` held (1) or did not (0), or held with that probability where it was
    /// a tie. One outcome moves the level of the median by half of `step`.
    pub fn observe(&mut self, knot: usize, held: f64, step: f64) {
        if let (Some(level), Some(nominal)) = (self.corrected.get_mut(knot), KNOTS.get(knot)) {
            // The step is in proportion to what a level can be off, so that the outer levels are
            // not thrown about.
            let step = step * (4.0 * nominal * (1.0 - nominal)).sqrt();
            *level = (*level + step * (nominal - held)).clamp(0.0, 1.0);
        }
    }

    /// The levels, to be published.
    #[must_use]
    pub fn published(&self) -> [f64; KNOTS.len()] {
        self.corrected
    }

    /// Moves all levels towards what they are named by, by that part of the way (0 to 1), and none
    /// below it.
    pub fn relax(&mut self, part: f64) {
        for (level, nominal) in self.corrected.iter_mut().zip(KNOTS) {
            *level = (*level - (*level - nominal) * part.clamp(0.0, 1.0)).max(nominal);
        }
    }

    /// The level at which a bound is taken for it to hold with `nominal`.
    #[must_use]
    pub fn corrected(&self, nominal: f64) -> f64 {
        let (mut below, mut level_below) = (0.0, 0.0);
        let mut highest = 0.0f64;
        for (knot, level) in KNOTS.into_iter().zip(self.corrected) {
            // Levels that have crossed are as the higher one.
            highest = highest.max(level);
            if nominal <= knot {
                // Rounding may not lift it above the next level.
                return (level_below + (highest - level_below) * (nominal - below) / (knot - below)).min(highest);
            }
            (below, level_below) = (knot, highest);
        }
        level_below + (1.0 - level_below) * (nominal - below) / (1.0 - below)
    }
}

/// The place of the knot that is nearest to a level.
#[must_use]
pub fn nearest_knot(nominal: f64) -> usize {
    let distance = |knot: &f64| (knot - nominal).abs();
    let nearest = KNOTS.iter().enumerate().min_by(|(_, one), (_, other)| distance(one).total_cmp(&distance(other)));
    nearest.map_or(0, |(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn levels_begin_as_they_are_named() {
        let levels = Levels::default();
        for percent in 1..100 {
            let nominal = f64::from(percent) / 100.0;
            assert!((levels.corrected(nominal) - nominal).abs() < 1e-12);
        }
    }

    #[test]
    fn a_bound_that_fails_too_often_is_raised_until_it_holds() {
        // The true distribution is uniform on 0 to 1 to the power of one half: a level a is only
        // held with probability a^2.
        let mut levels = Levels::default();
        for index in 0..20_000 {
            let wait = ((f64::from(index) * 0.618_033_988_749_895).fract()).sqrt();
            let bound = levels.corrected(0.75);
            levels.observe(5, if wait <= bound { 1.0 } else { 0.0 }, 0.005);
        }
        assert!((levels.corrected(0.75) - 0.75f64.sqrt()).abs() < 0.02);
    }

    proptest! {
        #[test]
        fn corrected_levels_never_fall(held in prop::collection::vec((0usize..9, 0.0f64..=1.0), 0..500)) {
            let mut levels = Levels::default();
            for (knot, held) in held {
                levels.observe(knot, held, 0.005);
            }
            let corrected: Vec<f64> = (0..=100).map(|percent| levels.corrected(f64::from(percent) / 100.0)).collect();
            prop_assert!(corrected.is_sorted() && corrected[0] == 0.0 && corrected[100] <= 1.0 + 1e-12);
        }
    }
}
