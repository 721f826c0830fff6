//! A distribution of one job's run time.

use predictor_core::forecasts::forecast::RunTimeRange;

use super::bins;

/// Ranges shrink past bins with less than this probability.
const NEGLIGIBLE: f64 = 2e-4;

/// Probabilities of run times by whole seconds, as far as the job's own limit. To reach the limit
/// is one outcome, however long the job is then let run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunTimeDistribution {
    /// The probabilities of the bins up to each; the last is 1 and belongs to the limit, where
    /// there is one.
    cumulative: Vec<f32>,
    limit_s: Option<u32>,
}

impl RunTimeDistribution {
    /// `cumulative` ascends to 1 and has an entry for each bin below the limit, then one for the
    /// limit.
    pub(super) fn new(cumulative: Vec<f32>, limit_s: Option<u32>) -> RunTimeDistribution {
        RunTimeDistribution { cumulative, limit_s }
    }

    /// The first and last second of each bin with the probabilities of less, and of no more.
    fn bins(&self) -> impl DoubleEndedIterator<Item = (u32, u32, f64, f64)> + '_ {
        let count = self.cumulative.len();
        (0..count).map(move |index| {
            let less = index.checked_sub(1).and_then(|before| self.cumulative.get(before)).copied().unwrap_or(0.0);
            let up_to = self.cumulative.get(index).copied().unwrap_or(1.0);
            let (first, last) = match self.limit_s {
                Some(limit_s) if index + 1 == count => (limit_s, limit_s),
                Some(limit_s) => (bins::seconds(index).0, bins::seconds(index).1.min(limit_s.saturating_sub(1))),
                None => bins::seconds(index),
            };
            (first, last.max(first), f64::from(less), f64::from(up_to))
        })
    }

    /// The probabilities of a shorter run time than `run_time_s`, and of one no longer. Between the
    /// two lies the randomised probability integral transform.
    #[must_use]
    pub fn below_and_up_to(&self, run_time_s: u32) -> (f64, f64) {
        let run_time_s = self.limit_s.map_or(run_time_s, |limit_s| run_time_s.min(limit_s));
        let bin = self.bins().find(|(_, last, _, _)| run_time_s <= *last);
        let Some((first, last, less, up_to)) = bin else { return (1.0, 1.0) };
        let second = (up_to - less) / (f64::from(last - first) + 1.0);
        let before = f64::from(run_time_s.saturating_sub(first));
        (less + second * before, less + second * (before + 1.0))
    }

    /// The run time in seconds that is not exceeded with `probability`.
    #[must_use]
    pub fn quantile(&self, probability: f64) -> f64 {
        for (first, last, less, up_to) in self.bins() {
            if up_to >= probability {
                let part = if up_to > less { ((probability - less) / (up_to - less)).clamp(0.0, 1.0) } else { 0.0 };
                return f64::from(first) + part * f64::from(last - first);
            }
        }
        self.bins().next_back().map_or(0.0, |(_, last, _, _)| f64::from(last))
    }

    /// The seconds that have more than `density` probability each, as disjoint ascending ranges, at
    /// most `most`. Where that is none, the bin of the densest.
    #[must_use]
    pub fn denser_than(&self, density: f64, most: usize) -> Vec<RunTimeRange> {
        let of_bin = |first: u32, last: u32, less: f64, up_to: f64| (up_to - less) / (f64::from(last - first) + 1.0);
        let densest = self.bins().map(|(first, last, less, up_to)| of_bin(first, last, less, up_to)).fold(0.0, f64::max);
        let threshold = density.min(densest * 0.999);
        let mut ranges: Vec<(u32, u32, f64)> = Vec::new();
        for (first, last, less, up_to) in self.bins() {
            if of_bin(first, last, less, up_to) > threshold {
                match ranges.last_mut() {
                    Some(range) if range.1 + 1 >= first => *range = (range.0, last, range.2 + up_to - less),
                    _ => ranges.push((first, last, up_to - less)),
                }
            }
        }
        if ranges.len() > most {
            ranges.sort_by(|a, b| b.2.total_cmp(&a.2));
            ranges.truncate(most);
            ranges.sort_by_key(|range| range.0);
        }
        ranges.iter().map(|(lower, upper, probability)| RunTimeRange::new(*lower, *upper, *probability as f32)).collect()
    }

    /// The whole distribution as at most `most` ranges of about the same probability. They sum to
    /// 1, are disjoint, and leave out the stretches between them where next to nothing is.
    #[must_use]
    pub fn summary(&self, most: usize) -> Vec<RunTimeRange> {
        let share = 1.0 / most.max(1) as f64;
        let mut ranges: Vec<(u32, u32, f64)> = Vec::new();
        let mut open: Option<(u32, u32, f64)> = None;
        let mut skipped = 0.0;
        for (first, last, less, up_to) in self.bins() {
            let probability = up_to - less;
            // Negligible bins at the ends of a range add their probability to it, but do not make
            // it longer.
            if probability < NEGLIGIBLE {
                skipped += probability;
                continue;
            }
            let range = match open {
                Some((lower, _, held)) => (lower, last, held + probability + skipped),
                None => (first, last, probability + skipped),
            };
            skipped = 0.0;
            open = if range.2 >= share && ranges.len() + 1 < most.max(1) {
                ranges.push(range);
                None
            } else {
                Some(range)
            };
        }
        ranges.extend(open);
        if let Some(range) = ranges.last_mut() {
            range.2 += skipped;
        }
        ranges.iter().map(|(lower, upper, probability)| RunTimeRange::new(*lower, *upper, *probability as f32)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 0.5 at 3 seconds, 0.25 at 10, 0.25 at the limit of 20.
    fn distribution() -> RunTimeDistribution {
        let cumulative = (0..=bins::of(19)).map(|bin| {
            if bin < 3 {
                0.0
            } else if bin < 10 {
                0.5
            } else {
                0.75
            }
        });
        RunTimeDistribution::new(cumulative.chain([1.0]).collect(), Some(20))
    }

    #[test]
    fn quantiles_end_at_the_limit() {
        let distribution = distribution();
        assert_eq!([0.4, 0.5, 0.6, 0.75, 0.76, 1.0].map(|level| distribution.quantile(level)), [3.0, 3.0, 10.0, 10.0, 20.0, 20.0]);
        assert_eq!(distribution.below_and_up_to(3), (0.0, 0.5));
        assert_eq!(distribution.below_and_up_to(4), (0.5, 0.5));
        assert_eq!(distribution.below_and_up_to(20), (0.75, 1.0));
        assert_eq!(distribution.below_and_up_to(500), (0.75, 1.0), "what runs beyond its limit ran into it");
    }

    #[test]
    fn the_dense_seconds_make_the_ranges() {
        let limits = |density| -> Vec<_> {
            distribution().denser_than(density, 25).iter().map(|range| (range.lower().0, range.upper().0)).collect()
        };
        assert_eq!(limits(0.3), [(3, 3)]);
        assert_eq!(limits(0.1), [(3, 3), (10, 10), (20, 20)]);
        assert_eq!(limits(0.9), [(3, 3)], "the densest, where nothing is dense enough");
    }

    proptest! {
        #[test]
        fn a_summary_holds_everything_in_few_disjoint_ranges(weights in prop::collection::vec(0.0f64..1.0, 150), most in 1usize..30, limited in any::<bool>()) {
            let (mut sum, total) = (0.0, weights.iter().map(|weight| weight.powi(8)).sum::<f64>().max(1e-12));
            let mut cumulative: Vec<f32> = weights.iter().map(|weight| { sum += weight.powi(8) / total; sum as f32 }).collect();
            let limit_s = limited.then(|| bins::seconds(149).1 + 1);
            if limited { cumulative.push(1.0); }
            if let Some(last) = cumulative.last_mut() { *last = 1.0; }
            let ranges = RunTimeDistribution::new(cumulative, limit_s).summary(most);
            prop_assert!(!ranges.is_empty() && ranges.len() <= most);
            prop_assert!(ranges.windows(2).all(|pair| pair[0].upper() < pair[1].lower()));
            prop_assert!((ranges.iter().map(RunTimeRange::probability).sum::<f64>() - 1.0).abs() < 1e-3);
            prop_assert!(limit_s.is_none_or(|limit_s| ranges.iter().all(|range| range.upper().0 <= i64::from(limit_s))));
        }
    }
}
