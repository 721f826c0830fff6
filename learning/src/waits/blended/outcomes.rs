//! Forecasts that were made, beside the waits that followed; and the bounds that follow from those.

use predictor_core::forecasts::blend::{BoundTable, MEMBERS};
use predictor_core::forecasts::forecast::PERCENTILES;
use predictor_core::forecasts::levels::Levels;
use serde::{Deserialize, Serialize};

/// A forecast that was made without knowledge of what followed, and what followed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ForecastOutcome {
    /// The blend's forecast, as the square root of seconds.
    pub(super) root: f32,
    /// The members' forecasts, likewise.
    pub(super) members: [f32; MEMBERS],
    /// The wait in seconds.
    pub(super) wait_s: f32,
}

/// The number of parts into which the outcomes are split by what was forecast.
const PARTS: usize = 32;

/// Fewest outcomes in a part.
const FEWEST_OUTCOMES: usize = 40;

/// Bounds from outcomes in any order, at levels as corrected.
pub(super) fn bounds(outcomes: &[ForecastOutcome], levels: &Levels) -> BoundTable {
    let mut sorted: Vec<(f32, f32)> = outcomes.iter().map(|outcome| (outcome.root, outcome.wait_s)).collect();
    sorted.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let parts = (sorted.len() / FEWEST_OUTCOMES).clamp(1, PARTS);
    let corrected: Vec<f64> = (1..=PERCENTILES).map(|percent| levels.corrected(percent as f64 / 100.0)).collect();
    let mut table = BoundTable::default();
    for part in 0..parts {
        let (first, end) = (part * sorted.len() / parts, (part + 1) * sorted.len() / parts);
        // Half a part on either side as well, so that bounds change little from row to row.
        let padding = (end - first) / 2;
        let near = sorted.get(first.saturating_sub(padding)..(end + padding).min(sorted.len())).unwrap_or_default();
        let mut waits: Vec<f32> = near.iter().map(|(_, wait_s)| *wait_s).collect();
        waits.sort_unstable_by(f32::total_cmp);
        let Some((up_to, _)) = end.checked_sub(1).and_then(|last| sorted.get(last)) else { continue };
        table.up_to.push(*up_to);
        table.outcomes.push(waits.len() as u32);
        table.at_once.push(waits.partition_point(|wait_s| *wait_s < 1.0) as f32 / waits.len().max(1) as f32);
        let mut bounds_s = [0; PERCENTILES];
        for (bound_s, level) in bounds_s.iter_mut().zip(&corrected) {
            *bound_s = quantile(&waits, *level).round() as u32;
        }
        table.bounds_s.push(bounds_s);
    }
    table
}

/// The quantile of ascending numbers, between the nearest two; 0 of none.
///
/// Each number stands for the middle of its part of the levels (type 5 of Hyndman and Fan 1996).
/// `statrs` has type 8 alone, which moves the bounds of short parts outwards, and selects from the
/// numbers anew at each of the 99 levels, as `f64`; here they are sorted once.
fn quantile(sorted: &[f32], level: f64) -> f64 {
    let place = level * sorted.len() as f64 - 0.5;
    let at = |index: f64| sorted.get((index.max(0.0) as usize).min(sorted.len().saturating_sub(1))).copied().unwrap_or(0.0);
    let (below, above) = (f64::from(at(place.floor())), f64::from(at(place.floor() + 1.0)));
    if place < 0.0 { f64::from(at(0.0)) } else { below + (above - below) * place.fract() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_the_quantiles_of_the_waits_that_followed_like_forecasts() {
        // Forecasts of root 1 were followed by waits of 0 to 99 s, those of root 9 by waits of
        // 1,000 s.
        let outcome = |root, wait_s| ForecastOutcome { root, members: [0.0; MEMBERS], wait_s };
        let mut outcomes: Vec<ForecastOutcome> = (0..100).map(|wait| outcome(1.0, (wait * 37 % 100) as f32)).collect();
        outcomes.extend((0..100).map(|_| outcome(9.0, 1_000.0)));
        let table = bounds(&outcomes, &Levels::default());
        let first = &table.bounds_s[table.row(0.5)];
        assert!((35..=65).contains(&first[49]), "{}", first[49]);
        assert_eq!(table.bounds_s[table.row(20.0)], [1_000; PERCENTILES]);
        assert!(table.bounds_s.iter().all(|row| row.is_sorted()));
    }

    #[test]
    fn a_quantile_lies_between_the_nearest_two() {
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], 0.5), 2.5);
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], 0.01), 1.0);
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], 0.999), 4.0);
        assert_eq!(quantile(&[], 0.5), 0.0);
    }
}
