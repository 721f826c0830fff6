//! The waits of one class of jobs in order of their starts, and bounds on the quantiles of the next
//! one.

use super::rare_runs::{LEVELS, rare_run};
use crate::binomial::{percentile_ranks, upper_bound_rank};
use predictor_core::forecasts::forecast::PERCENTILES;
use serde::{Deserialize, Serialize};
use statrs::distribution::{Beta, ContinuousCDF};
use std::collections::{HashMap, VecDeque};

/// The confidence of the bounds at which changes are looked for.
pub(super) const CHANGE_CONFIDENCE: f64 = 0.95;

/// The weight of the latest wait in the running estimate of the autocorrelation, once there are
/// many.
const LATEST_WEIGHT: f64 = 1.0 / 1_000.0;

/// Ranks of the bounds at [`LEVELS`], worked out once for each number of observations.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranks {
    by_level: [Vec<Option<usize>>; LEVELS.len()],
}

impl Ranks {
    fn rank(&mut self, level: usize, observations: usize) -> Option<usize> {
        let (ranks, quantile) = (self.by_level.get_mut(level)?, *LEVELS.get(level)?);
        while ranks.len() <= observations {
            ranks.push(upper_bound_rank(ranks.len(), quantile, CHANGE_CONFIDENCE));
        }
        ranks.get(observations).copied().flatten()
    }
}

/// Ranks of the bounds on the percentiles 1 to 99 at one confidence, worked out once for each
/// number of observations.
#[derive(Clone, Debug)]
pub(super) struct PercentileRanks {
    confidence: f64,
    by_count: HashMap<usize, [Option<usize>; PERCENTILES]>,
}

/// Numbers of observations whose ranks are kept, 2 KiB each.
const MOST_COUNTS: usize = 4_096;

impl Default for PercentileRanks {
    fn default() -> PercentileRanks {
        PercentileRanks::new(super::CONFIDENCE)
    }
}

impl PercentileRanks {
    pub(super) fn new(confidence: f64) -> PercentileRanks {
        PercentileRanks { confidence, by_count: HashMap::new() }
    }

    pub(super) fn confidence(&self) -> f64 {
        self.confidence
    }

    fn of(&mut self, observations: usize) -> &[Option<usize>; PERCENTILES] {
        if self.by_count.len() >= MOST_COUNTS && !self.by_count.contains_key(&observations) {
            self.by_count.clear();
        }
        self.by_count.entry(observations).or_insert_with(|| percentile_ranks(observations, self.confidence))
    }
}

/// How many observations a bound on the quantile at the confidence needs: the largest of n is one
/// from 1 - q^n >= C on.
pub(super) fn fewest_observations(quantile: f64, confidence: f64) -> usize {
    let fewest = ((1.0 - confidence).ln() / quantile.ln()).ceil().max(1.0) as usize;
    // If q^n comes out at 1 - C but for rounding, the exact rank decides.
    if upper_bound_rank(fewest, quantile, confidence).is_some() { fewest } else { fewest + 1 }
}

/// The first autocorrelation of the logarithms, with weights that fade into the past.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Autocorrelation {
    seen: u32,
    mean: f64,
    variance: f64,
    covariance: f64,
    latest: f64,
}

impl Autocorrelation {
    fn push(&mut self, wait_s: u32) {
        let value = (1.0 + f64::from(wait_s)).ln();
        self.seen = self.seen.saturating_add(1);
        let weight = (1.0 / f64::from(self.seen)).max(LATEST_WEIGHT);
        let (before, latest) = (value - self.mean, self.latest - self.mean);
        self.mean += weight * before;
        self.variance = (1.0 - weight) * (self.variance + weight * before * before);
        self.covariance += weight * (before * latest - self.covariance);
        self.latest = value;
    }

    fn value(&self) -> f64 {
        if self.variance > 0.0 { (self.covariance / self.variance).clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// The latest waits since the last change at one of [`LEVELS`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Window {
    ascending: Vec<u32>,
    /// Observations above the bound since one was not.
    above: u16,
    /// The number of observations in a row above the bound from which on they are a rare event, by
    /// what was known before the first of them: the change itself would look like autocorrelation.
    rare: u16,
    /// The number of oldest observations that are from before the change. They leave as others
    /// come, so that the window is no longer than a bound needs until all are from after it.
    outdated: usize,
}

impl Window {
    fn insert(&mut self, wait_s: u32) {
        let place = self.ascending.partition_point(|other| *other <= wait_s);
        self.ascending.insert(place, wait_s);
    }

    fn remove(&mut self, wait_s: u32) {
        if let Ok(place) = self.ascending.binary_search(&wait_s) {
            self.ascending.remove(place);
        }
    }
}

/// The waits of one class.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Series {
    most: usize,
    /// The waits in seconds, in order of start.
    waits_s: VecDeque<u32>,
    windows: [Window; LEVELS.len()],
    autocorrelation: Autocorrelation,
    changes: u32,
    /// Confidence and bounds on the percentiles, as they were worked out since the last wait.
    #[serde(skip)]
    fitted: Option<(f64, [Option<u32>; PERCENTILES])>,
}

impl Series {
    /// No waits; `most` of the latest are to be kept.
    pub(super) fn new(most: usize) -> Series {
        Series {
            most: most.max(1),
            waits_s: VecDeque::new(),
            windows: Default::default(),
            autocorrelation: Autocorrelation::default(),
            changes: 0,
            fitted: None,
        }
    }

    /// Adds a wait in seconds, and forgets what lies before a change.
    pub(super) fn push(&mut self, wait_s: u32, ranks: &mut Ranks) {
        self.fitted = None;
        let autocorrelation = self.autocorrelation.value();
        self.autocorrelation.push(wait_s);
        if self.waits_s.len() == self.most
            && let Some(oldest) = self.waits_s.pop_front()
        {
            for window in &mut self.windows {
                // A window that reaches back as far as the series does loses its oldest.
                if window.ascending.len() > self.waits_s.len() {
                    window.remove(oldest);
                }
            }
        }
        self.waits_s.push_back(wait_s);
        for (level, window) in self.windows.iter_mut().enumerate() {
            let bound = ranks.rank(level, window.ascending.len()).and_then(|rank| window.ascending.get(rank - 1)).copied();
            window.insert(wait_s);
            if window.outdated > 0
                && let Some(oldest) = self.waits_s.iter().rev().nth(window.ascending.len() - 1).copied()
            {
                window.remove(oldest);
                window.outdated -= 1;
            }
            window.above = if bound.is_some_and(|bound| wait_s > bound) { window.above.saturating_add(1) } else { 0 };
            if window.above <= 1 {
                window.rare = rare_run(level, autocorrelation);
            }
            if window.above >= window.rare {
                let kept = LEVELS.get(level).map_or(0, |quantile| fewest_observations(*quantile, CHANGE_CONFIDENCE));
                window.ascending.clear();
                window.ascending.extend(self.waits_s.iter().rev().take(kept));
                window.ascending.sort_unstable();
                window.outdated = window.ascending.len().saturating_sub(usize::from(window.above));
                window.above = 0;
                self.changes += 1;
            }
        }
    }

    /// How many waits there are.
    pub(super) fn len(&self) -> usize {
        self.waits_s.len()
    }

    /// How many changes were found.
    pub(super) fn changes(&self) -> u32 {
        self.changes
    }

    /// The first autocorrelation of the logarithms of the waits, at least 0.
    pub(super) fn autocorrelation(&self) -> f64 {
        self.autocorrelation.value()
    }

    /// The median of the waits since the last change of the median's bound.
    pub(super) fn median_s(&self) -> Option<u32> {
        let ascending = &self.windows.first()?.ascending;
        ascending.get(ascending.len().saturating_sub(1) / 2).copied()
    }

    /// An upper bound in seconds on a quantile of the next wait, at the confidence; `None` while
    /// the waits are too few.
    ///
    /// Changes are looked for at three quantiles: a bound comes from the waits since the last
    /// change at the next larger of them, and is no smaller than the bounds on the smaller ones.
    pub(super) fn bound_s(&self, quantile: f64, confidence: f64) -> Option<u32> {
        let rank = |observations: usize, quantile: f64| upper_bound_rank(observations, quantile, confidence);
        let mut bound = None;
        for (window, level) in self.windows.iter().zip(LEVELS) {
            let is_last = quantile <= level;
            let quantile = if is_last { quantile } else { level };
            let here = self.window_bound_s(window, rank(window.ascending.len(), quantile), quantile, confidence);
            bound = bound.max(here);
            if is_last {
                return here.and(bound);
            }
        }
        let window = self.windows.last()?;
        let here = self.window_bound_s(window, rank(window.ascending.len(), quantile), quantile, confidence);
        here.and_then(|here| bound.max(Some(here)))
    }

    /// [`Series::bound_s`] of the percentiles 1 to 99, at the confidence of the ranks. They are
    /// kept until the next wait.
    pub(super) fn percentile_bounds_s(&mut self, ranks: &mut PercentileRanks) -> [Option<u32>; PERCENTILES] {
        let confidence = ranks.confidence();
        if let Some((_, bounds_s)) = self.fitted.filter(|(at, _)| *at == confidence) {
            return bounds_s;
        }
        let mut bounds_s = [None; PERCENTILES];
        // The bounds on the levels that lie below, and those on the percentiles up to the next one.
        let mut below = None;
        let mut next = 1;
        for (place, (window, level)) in self.windows.iter().zip(LEVELS).enumerate() {
            let ranks = ranks.of(window.ascending.len());
            let is_last = place + 1 == LEVELS.len();
            let mut of_level = None;
            for (percent, bound_s) in (1u32..).zip(bounds_s.iter_mut()).skip(next - 1) {
                let quantile = f64::from(percent) / 100.0;
                if quantile > level && !is_last {
                    break;
                }
                let rank = ranks.get(percent as usize - 1).copied().flatten();
                let here = self.window_bound_s(window, rank, quantile, confidence);
                // Beyond the last level its own bound counts among those below.
                let least = if quantile > level { below.max(of_level) } else { below };
                *bound_s = here.and(least.max(here));
                if quantile <= level {
                    of_level = here;
                }
                next = percent as usize + 1;
            }
            below = below.max(of_level);
        }
        self.fitted = Some((confidence, bounds_s));
        bounds_s
    }

    /// The bound within a window, of which the rank is known.
    fn window_bound_s(&self, window: &Window, rank: Option<usize>, quantile: f64, confidence: f64) -> Option<u32> {
        if let Some(rank) = rank {
            return window.ascending.get(rank - 1).copied();
        }
        // Since the change there are too few waits for this quantile. The bound is the largest of
        // as many as it needs.
        let fewest = fewest_observations(quantile, confidence);
        if fewest > self.waits_s.len() { None } else { self.waits_s.iter().rev().take(fewest).max().copied() }
    }

    /// The largest probability whose quantile is bounded at the confidence by `within_s`: that of
    /// starting within so many seconds. `None` while there are no waits.
    pub(super) fn probability_within(&self, within_s: u32, confidence: f64) -> Option<f64> {
        if self.waits_s.is_empty() {
            return None;
        }
        let mut least = 0.0;
        for (index, window) in self.windows.iter().enumerate() {
            let below = window.ascending.partition_point(|wait_s| *wait_s <= within_s);
            let probability = certain_part(below, window.ascending.len(), confidence);
            let most = if index + 1 == LEVELS.len() { 1.0 } else { LEVELS.get(index).copied().unwrap_or(1.0) };
            if probability < most {
                return Some(probability.max(least));
            }
            least = most;
        }
        Some(least)
    }
}

/// The largest q for which P(Binomial(n, q) <= k - 1) >= C: that which k of n trials show of their
/// probability of success at the confidence.
///
/// P(Binomial(n, q) <= k - 1) is 1 - I_q(k, n - k + 1), so that q is a quantile of the beta
/// distribution.
fn certain_part(successes: usize, trials: usize, confidence: f64) -> f64 {
    if successes == 0 || trials == 0 {
        return 0.0;
    }
    let failures = trials - successes.min(trials);
    Beta::new(successes as f64, (failures + 1) as f64).map_or(0.0, |beta| beta.inverse_cdf(1.0 - confidence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{Binomial, DiscreteCDF};

    fn series(waits_s: impl IntoIterator<Item = u32>) -> Series {
        let (mut series, mut ranks) = (Series::new(1_000), Ranks::default());
        waits_s.into_iter().for_each(|wait_s| series.push(wait_s, &mut ranks));
        series
    }

    #[test]
    fn the_certain_part_is_the_largest_at_which_so_many_successes_are_unlikely_enough() {
        for confidence in [0.5, 0.95, 0.995] {
            for trials in [1, 2, 10, 59, 353, 2_047] {
                for successes in (1..=trials).step_by(trials / 50 + 1).chain([trials]) {
                    let part = certain_part(successes, trials, confidence);
                    let fewer = |part: f64| Binomial::new(part, trials as u64).unwrap().cdf(successes as u64 - 1);
                    assert!(fewer(part - 1e-9) >= confidence && fewer(part + 1e-9) <= confidence, "{successes} of {trials}: {part}");
                }
            }
        }
        assert_eq!(certain_part(0, 10, 0.95), 0.0);
    }

    #[test]
    fn the_fewest_observations_are_five_eleven_and_fifty_nine() {
        assert_eq!([0.5, 0.75, 0.95].map(|quantile| fewest_observations(quantile, 0.95)), [5, 11, 59]);
    }

    #[test]
    fn a_bound_is_the_observation_of_the_binomial_rank() {
        // The ninth of ten observations bounds the median at 95 %; the 95th percentile needs 59.
        let ten = series([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
        assert_eq!(ten.bound_s(0.5, 0.95), Some(9));
        assert_eq!(ten.bound_s(0.95, 0.95), None);
        assert_eq!(series((0..59).rev()).bound_s(0.95, 0.95), Some(58));
    }

    #[test]
    fn a_run_above_the_bound_leaves_the_shortest_useful_history() {
        // Alternation, so that nothing is correlated; then three in a row above everything.
        let calm = (0..200).map(|index| if index % 2 == 0 { 10 } else { 20 });
        let mut changed = series(calm);
        assert_eq!((changed.changes(), changed.bound_s(0.95, 0.95)), (0, Some(20)));
        let mut ranks = Ranks::default();
        for wait_s in [1_000, 1_001] {
            changed.push(wait_s, &mut ranks);
        }
        assert_eq!(changed.bound_s(0.95, 0.95), Some(20));
        changed.push(1_002, &mut ranks);
        assert_eq!(changed.windows[2].ascending.len(), 59);
        assert_eq!(changed.bound_s(0.95, 0.95), Some(1_002));
    }

    #[test]
    fn bounds_ascend_with_the_quantile() {
        let waits = series((0..700).map(|index| (index * 7_919) % 1_009));
        let bounds: Vec<_> = (1..100).map(|percent| waits.bound_s(f64::from(percent) / 100.0, 0.95)).collect();
        assert!(bounds.is_sorted_by(|a, b| b.is_none() || a <= b), "{bounds:?}");
    }

    #[test]
    fn the_bounds_on_all_percentiles_are_those_on_each() {
        let calm = |count: u32| (0..count).map(|index| (index * 7_919) % 1_009);
        let changed = calm(400).chain((0..20).map(|index| 5_000 + index)).chain(calm(3));
        let long_ago = calm(400).chain((0..20).map(|index| 5_000 + index)).chain(calm(300));
        for waits_s in [calm(3).collect::<Vec<_>>(), calm(70).collect(), changed.collect(), long_ago.collect()] {
            let mut series = series(waits_s);
            let mut ranks = PercentileRanks::new(0.95);
            let each: Vec<_> = (1..100).map(|percent| series.bound_s(f64::from(percent) / 100.0, 0.95)).collect();
            assert_eq!(series.percentile_bounds_s(&mut ranks).to_vec(), each);
            series.push(100_000, &mut Ranks::default());
            let each: Vec<_> = (1..100).map(|percent| series.bound_s(f64::from(percent) / 100.0, 0.8)).collect();
            assert_eq!(series.percentile_bounds_s(&mut PercentileRanks::new(0.8)).to_vec(), each);
        }
    }

    #[test]
    fn the_probability_of_a_start_within_a_time_is_the_quantile_that_the_time_bounds() {
        let waits = series((0..900).map(|index| (index * 7_919) % 1_009));
        for quantile in [0.1, 0.3, 0.6, 0.9, 0.97] {
            let bound_s = waits.bound_s(quantile, 0.95).unwrap();
            assert!(waits.probability_within(bound_s, 0.95).unwrap() >= quantile - 1e-6);
            assert!(waits.probability_within(bound_s - 1, 0.95).unwrap() < quantile);
        }
        // All ten of ten: 0.05^(1/10).
        assert!((certain_part(10, 10, 0.95) - 0.741).abs() < 1e-3);
    }

    #[test]
    fn no_more_waits_are_kept_than_asked_for() {
        let waits = series(0..2_500);
        assert_eq!(waits.len(), 1_000);
        assert!(waits.windows.iter().all(|window| window.ascending.len() <= 1_000));
    }

    #[test]
    fn the_autocorrelation_of_a_slow_series_is_high_and_of_an_alternating_one_none() {
        assert!(series((0..500).map(|index| 100 * (1 + index / 100))).autocorrelation() > 0.9);
        assert_eq!(series((0..500).map(|index| 10 * (1 + index % 2))).autocorrelation(), 0.0);
    }
}
