//! Forecasts that were made, beside the waits that followed; and the bounds that follow from those.

use super::bags::{BagNumber, parts};
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
    /// The bag of tasks that the job belongs to.
    pub(super) bag: BagNumber,
}

/// The number of parts into which the outcomes are split by what was forecast.
const PARTS: usize = 32;

/// Fewest outcomes in a part, by their effective number.
const FEWEST_OUTCOMES: f64 = 40.0;

/// An outcome as far as the bounds are concerned.
#[derive(Clone, Copy)]
struct Weighed {
    root: f32,
    wait_s: f32,
    /// The part for which it counts.
    part: f64,
}

/// Bounds from outcomes in any order, at levels as corrected. Of the outcomes of a bag of tasks n
/// count as the root of n.
pub(super) fn bounds(outcomes: &[ForecastOutcome], levels: &Levels) -> BoundTable {
    let counted = outcomes.iter().zip(parts(outcomes.iter().map(|outcome| outcome.bag)));
    let mut sorted: Vec<Weighed> = counted.map(|(outcome, part)| Weighed { root: outcome.root, wait_s: outcome.wait_s, part }).collect();
    sorted.sort_unstable_by(|one, other| one.root.total_cmp(&other.root));
    let mut effective = 0.0;
    let up_to: Vec<f64> = sorted
        .iter()
        .map(|outcome| {
            effective += outcome.part;
            effective
        })
        .collect();
    let rows = ((effective / FEWEST_OUTCOMES) as usize).clamp(1, PARTS);
    // How many of the outcomes come to so many rows. Sums are as exact as rounding lets them be.
    let place = |rows_before: f64| {
        let wanted = rows_before * effective / rows as f64 - 1e-6;
        if wanted <= 0.0 { 0 } else { (up_to.partition_point(|sum| *sum < wanted) + 1).min(sorted.len()) }
    };
    let corrected: Vec<f64> = (1..=PERCENTILES).map(|percent| levels.corrected(percent as f64 / 100.0)).collect();
    let mut table = BoundTable::default();
    for row in 0..rows {
        let row = row as f64;
        // Half a row on either side as well, so that bounds change little from row to row.
        let (from, to) = (place(row - 0.5), place(row + 1.5));
        let mut near = sorted.get(from..to).unwrap_or_default().to_vec();
        near.sort_unstable_by(|one, other| one.wait_s.total_cmp(&other.wait_s));
        let Some(last) = place(row + 1.0).checked_sub(1).and_then(|last| sorted.get(last)) else { continue };
        let waits = middles(&near);
        table.up_to.push(last.root);
        table.outcomes.push(near.len() as u32);
        table.at_once.push(at_once(&near));
        let mut bounds_s = [0; PERCENTILES];
        for (bound_s, level) in bounds_s.iter_mut().zip(&corrected) {
            *bound_s = quantile(&waits, *level).round() as u32;
        }
        table.bounds_s.push(bounds_s);
    }
    table
}

/// The share of the outcomes that did not wait at all.
fn at_once(outcomes: &[Weighed]) -> f32 {
    let sum = |least_s: f32| outcomes.iter().filter(|outcome| outcome.wait_s < least_s).map(|outcome| outcome.part).sum::<f64>();
    let all = sum(f32::INFINITY);
    if all > 0.0 { (sum(1.0) / all) as f32 } else { 0.0 }
}

/// Ascending waits in seconds, each with the level that it stands for: the middle of its part of
/// the levels.
fn middles(ascending: &[Weighed]) -> Vec<(f64, f64)> {
    let all: f64 = ascending.iter().map(|outcome| outcome.part).sum();
    let mut before = 0.0;
    let middle = |outcome: &Weighed| {
        let level = (before + outcome.part / 2.0) / all;
        before += outcome.part;
        (f64::from(outcome.wait_s), level)
    };
    ascending.iter().map(middle).collect()
}

/// The quantile of ascending numbers that stand for ascending levels, between the nearest two; 0 of
/// none.
///
/// Where all count alike it is of type 5 of Hyndman and Fan 1996. `statrs` has type 8 alone, which
/// moves the bounds of short parts outwards, knows no weights, and selects from the numbers anew at
/// each of the 99 levels; here they are sorted once.
fn quantile(ascending: &[(f64, f64)], level: f64) -> f64 {
    let above = ascending.partition_point(|(_, middle)| *middle < level);
    let below = above.checked_sub(1).and_then(|below| ascending.get(below));
    match (below, ascending.get(above)) {
        (Some((below, at)), Some((above, next))) => below + (above - below) * (level - at) / (next - at).max(f64::MIN_POSITIVE),
        (Some((number, _)), None) | (None, Some((number, _))) => *number,
        (None, None) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(root: f32, wait_s: f32, bag: u32) -> ForecastOutcome {
        ForecastOutcome { root, members: [0.0; MEMBERS], wait_s, bag: BagNumber(bag) }
    }

    #[test]
    fn bounds_are_the_quantiles_of_the_waits_that_followed_like_forecasts() {
        // Forecasts of root 1 were followed by waits of 0 to 99 s, those of root 9 by waits of
        // 1,000 s.
        let mut outcomes: Vec<ForecastOutcome> = (0..100).map(|job| outcome(1.0, (job * 37 % 100) as f32, job)).collect();
        outcomes.extend((100..200).map(|job| outcome(9.0, 1_000.0, job)));
        let table = bounds(&outcomes, &Levels::default());
        let first = &table.bounds_s[table.row(0.5)];
        assert!((35..=65).contains(&first[49]), "{}", first[49]);
        assert_eq!(table.bounds_s[table.row(20.0)], [1_000; PERCENTILES]);
        assert!(table.bounds_s.iter().all(|row| row.is_sorted()));
    }

    #[test]
    fn a_bag_counts_in_the_bounds_for_the_root_of_its_jobs() {
        // Thirty jobs of as many users did not wait, the 100 tasks of one user waited for 1,000 s.
        let mut outcomes: Vec<ForecastOutcome> = (0..30).map(|job| outcome(1.0, 0.0, job)).collect();
        outcomes.extend((0..100).map(|_| outcome(1.0, 1_000.0, 30)));
        let table = bounds(&outcomes, &Levels::default());
        assert_eq!((table.bounds_s.len(), table.at_once[0]), (1, 0.75));
        assert_eq!([69, 79].map(|percent: usize| table.bounds_s[0][percent - 1]), [0, 1_000]);
        let apart: Vec<ForecastOutcome> =
            (0..).zip(outcomes).map(|(job, outcome)| ForecastOutcome { bag: BagNumber(job), ..outcome }).collect();
        assert!(bounds(&apart, &Levels::default()).at_once[0] < 0.5, "all of one user each");
    }

    #[test]
    fn a_quantile_lies_between_the_nearest_two() {
        let waited = [1.0, 2.0, 3.0, 4.0].map(|wait_s| Weighed { root: 0.0, wait_s, part: 0.5 });
        let four = middles(&waited);
        assert_eq!(quantile(&four, 0.5), 2.5);
        assert_eq!(quantile(&four, 0.01), 1.0);
        assert_eq!(quantile(&four, 0.999), 4.0);
        assert_eq!(quantile(&[], 0.5), 0.0);
    }
}
