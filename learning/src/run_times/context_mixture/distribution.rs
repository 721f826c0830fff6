//! A distribution of one job's run time.

use predictor_core::forecasts::forecast::RunTimeRange;

use super::bins;

/// Ranges shrink past bins with less than this probability.
const NEGLIGIBLE: f64 = 2e-4;

/// Probabilities of run times by whole seconds, as far as the job's own limit. To reach the limit
/// is one outcome, however long the job is then let run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RunTimeDistribution {
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

    /// The whole distribution as at most `most` ranges, at least four, of about the same
    /// probability. They sum to 1, are disjoint, and leave out the stretches between them where
    /// next to nothing is.
    ///
    /// A bin that has the probability of two ranges is one of its own, and so is the limit: what
    /// jobs run for again and again is not to be spread over the seconds beside it.
    pub(super) fn summary(&self, most: usize) -> Vec<RunTimeRange> {
        // Where each bin of its own ends the range before it, there are no more than `most`: such a
        // range and the bin have the probability of two ranges, but for those about the limit.
        let most = most.max(4) - 2;
        let share = 1.0 / most as f64;
        let last = self.cumulative.len().saturating_sub(1);
        let mut ranges: Vec<(u32, u32, f64)> = Vec::new();
        let mut open: Option<(u32, u32, f64)> = None;
        let mut skipped = 0.0;
        for (index, (first_s, last_s, less, up_to)) in self.bins().enumerate() {
            let probability = up_to - less;
            // Negligible bins at the ends of a range add their probability to it, but do not make
            // it longer.
            if probability < NEGLIGIBLE {
                skipped += probability;
                continue;
            }
            if probability >= 2.0 * share || (index == last && self.limit_s.is_some()) {
                ranges.extend(open.take());
            }
            let range = match open {
                Some((lower, _, held)) => (lower, last_s, held + probability + skipped),
                None => (first_s, last_s, probability + skipped),
            };
            skipped = 0.0;
            open = if range.2 >= share {
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

    #[test]
    fn what_jobs_run_for_again_and_again_and_the_limit_are_ranges_of_their_own() {
        // A fifth at 100 s and a tenth at the limit of 600 s; the rest is spread over all bins.
        let limit_bin = bins::of(599) + 1;
        let mut below = 0.0;
        let cumulative = (0..=limit_bin).map(|bin| {
            below += 0.7 / (limit_bin + 1) as f64;
            below += if bin == bins::of(100) { 0.2 } else { 0.0 };
            below += if bin == limit_bin { 0.1 } else { 0.0 };
            below as f32
        });
        let ranges = RunTimeDistribution::new(cumulative.collect(), Some(600)).summary(25);
        let (first, last) = bins::seconds(bins::of(100));
        let repeated = ranges.iter().find(|range| range.lower().0 == i64::from(first)).unwrap();
        assert!(repeated.upper().0 == i64::from(last) && (0.2..0.22).contains(&repeated.probability()), "{repeated:?}");
        let at_limit = ranges.last().unwrap();
        assert!((at_limit.lower().0, at_limit.upper().0) == (600, 600) && (0.1..0.12).contains(&at_limit.probability()), "{at_limit:?}");
        assert!(ranges.len() <= 25);
    }

    proptest! {
        #[test]
        fn a_summary_holds_everything_in_few_disjoint_ranges(weights in prop::collection::vec(0.0f64..1.0, 150), most in 4usize..30, limited in any::<bool>()) {
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
