//! Makes disjoint ranges with probabilities of past run times (Hariharan et al. 2020, III.C to
//! III.F).
//!
//! Hariharan et al. leave open how overlap is measured (here: of the shorter range), what becomes
//! of an overlap too small to merge (here: the later range begins after the earlier), and which
//! ranges stay where there are more than 25. They limit the number where they have given the ranges
//! their probabilities, so that the most probable stay here.

use predictor_core::forecasts::forecast::RunTimeRange;

/// The number of the latest jobs with which the relevant history begins (III.C).
const FIRST_RELEVANT_JOBS: usize = 10;
/// The relevant history grows until its run times span this part of what the whole history spans
/// (III.C).
const RELEVANT_SPAN: f64 = 0.9;
/// The difference between a range's ends is within this part of its middle (III.D).
const WIDTH: f64 = 0.2;
/// Ranges that share more than this part of the shorter one are merged (III.E).
const MERGE_OVERLAP: f64 = 0.5;
/// The probability that ranges share in which no past run time lies (III.F).
const NEW_RANGES_PROBABILITY: f64 = 0.1;

/// Seconds by which a limit of a range may be off because of the last binary digit: 1.1 times 100 s
/// is not to become 111 s.
const ROUNDING_S: f64 = 1e-6;
/// Most ranges of one forecast (III.F).
const MOST_RANGES: usize = 25;

/// How many of the latest jobs are relevant: from ten on back until their run times span enough of
/// the whole history's (III.C). Run times come in seconds, latest first.
#[must_use]
pub fn relevant(latest_first: impl Iterator<Item = u32> + Clone) -> usize {
    let span = latest_first.clone().max().unwrap_or(0) - latest_first.clone().min().unwrap_or(0);
    let (mut shortest, mut longest, mut jobs) = (u32::MAX, 0, 0);
    for run_time_s in latest_first {
        shortest = shortest.min(run_time_s);
        longest = longest.max(run_time_s);
        jobs += 1;
        if jobs >= FIRST_RELEVANT_JOBS && f64::from(longest - shortest) >= RELEVANT_SPAN * f64::from(span) {
            break;
        }
    }
    jobs
}

/// The range of the run times that the load functions give for a past job, cut to 20 % in all. The
/// ends are whole seconds, at least 1.
///
/// Hariharan et al. do not say towards what the limits are adjusted: here towards the past job's
/// own run time, or the limit that is nearer to it. Where there is no function the range lies about
/// that run time.
#[must_use]
pub fn compacted(past_s: f64, shifted_s: impl Iterator<Item = f64>) -> (u32, u32) {
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for run_time_s in shifted_s {
        least = least.min(run_time_s.max(1.0));
        most = most.max(run_time_s.max(1.0));
    }
    let (mut lower, mut upper) = (past_s * (1.0 - WIDTH / 2.0), past_s * (1.0 + WIDTH / 2.0));
    if least <= most {
        let centre = past_s.clamp(least, most);
        lower = (centre * (1.0 - WIDTH / 2.0)).max(least);
        upper = (centre * (1.0 + WIDTH / 2.0)).min(most);
    }
    ((lower + ROUNDING_S).floor().max(1.0) as u32, (upper - ROUNDING_S).ceil().max(1.0) as u32)
}

/// Merges ranges with a stack, in the order of their lower ends. Where two overlap too little to be
/// merged, the later one begins after the earlier.
#[must_use]
pub fn disjoint(mut ranges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    ranges.sort_unstable();
    let mut stack: Vec<(u32, u32)> = Vec::new();
    for (lower, upper) in ranges {
        match stack.last_mut() {
            Some(top) if overlap(*top, (lower, upper)) > MERGE_OVERLAP => top.1 = top.1.max(upper),
            Some(top) if lower <= top.1 => {
                if top.1 < upper {
                    let lower = top.1 + 1;
                    stack.push((lower, upper));
                }
            }
            _ => stack.push((lower, upper)),
        }
    }
    stack
}

fn overlap(one: (u32, u32), other: (u32, u32)) -> f64 {
    let length = |range: (u32, u32)| f64::from(range.1) - f64::from(range.0) + 1.0;
    let shared = f64::from(one.1.min(other.1)) - f64::from(one.0.max(other.0)) + 1.0;
    shared / length(one).min(length(other))
}

/// The ranges with the shares of the history's run times that lie in them; 0.1 in all for ranges
/// where none lies, and 0.9 of its share for every other. Of more than 25 the most probable stay.
///
/// The probabilities of run times in no range are lost, as with Hariharan et al.: the sum is at
/// most 1.
#[must_use]
pub fn with_probabilities(ranges: &[(u32, u32)], history: &[u32]) -> Vec<RunTimeRange> {
    let mut sorted = history.to_vec();
    sorted.sort_unstable();
    let count = |(lower, upper): &(u32, u32)| sorted.partition_point(|run| run <= upper) - sorted.partition_point(|run| run < lower);
    let counts: Vec<usize> = ranges.iter().map(count).collect();
    let new = counts.iter().filter(|count| **count == 0).count();
    let share_of_new = if new == 0 { 0.0 } else { NEW_RANGES_PROBABILITY };
    let probability = |count: usize| match count {
        0 => share_of_new / new as f64,
        _ => (1.0 - share_of_new) * count as f64 / sorted.len().max(1) as f64,
    };
    let mut kept: Vec<((u32, u32), f64)> = ranges.iter().zip(&counts).map(|(range, count)| (*range, probability(*count))).collect();
    if kept.len() > MOST_RANGES {
        kept.sort_by(|a, b| b.1.total_cmp(&a.1));
        kept.truncate(MOST_RANGES);
        kept.sort_by_key(|(range, _)| *range);
    }
    kept.iter().map(|((lower, upper), probability)| RunTimeRange::new(*lower, *upper, *probability as f32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_wide_range_is_cut_to_a_tenth_on_either_side_of_the_past_run_time() {
        assert_eq!(compacted(1_000.0, [500.0, 1_500.0].into_iter()), (900, 1_100));
        assert_eq!(compacted(1_000.0, [990.0, 1_010.0].into_iter()), (990, 1_010));
        assert_eq!(compacted(1_000.0, [2_000.0, 4_000.0].into_iter()), (2_000, 2_200));
        assert_eq!(compacted(1_000.0, std::iter::empty()), (900, 1_100));
        assert_eq!(compacted(50.0, [-50.0].into_iter()), (1, 1));
    }

    #[test]
    fn ranges_that_share_more_than_half_of_the_shorter_become_one() {
        // 90..110 and 99..121 share 12 of 21; 90..121 and 117..143 share 5 of 27.
        assert_eq!(disjoint(vec![(117, 143), (99, 121), (90, 110)]), [(90, 121), (122, 143)]);
    }

    #[test]
    fn new_ranges_share_a_tenth() {
        let ranges = with_probabilities(&[(90, 110), (200, 220), (300, 320)], &[100, 100, 105, 1_000]);
        let probabilities: Vec<f64> = ranges.iter().map(RunTimeRange::probability).collect();
        assert!((probabilities[0] - 0.675).abs() < 1e-6, "three of four times 0.9");
        assert!((probabilities[1] - 0.05).abs() < 1e-6 && (probabilities[2] - 0.05).abs() < 1e-6);
    }

    #[test]
    fn of_more_than_25_ranges_the_most_probable_stay() {
        // 30 run times far apart, of which the last five came twice.
        let single: Vec<u32> = (0..30).map(|place| (100.0 * 1.5_f64.powi(place)) as u32).collect();
        let history: Vec<u32> = single.iter().copied().chain(single[25..].iter().copied()).collect();
        let ranges = disjoint(single.iter().map(|run_time_s| compacted(f64::from(*run_time_s), std::iter::empty())).collect());
        assert_eq!(ranges.len(), 30);
        let kept = with_probabilities(&ranges, &history);
        assert_eq!(kept.len(), 25);
        assert!(kept.iter().rev().take(5).all(|range| (range.probability() - 2.0 / 35.0).abs() < 1e-6), "{kept:?}");
    }

    #[test]
    fn the_relevant_history_goes_back_until_it_spans_the_whole() {
        assert_eq!(relevant([100; 15].into_iter().chain([1_000, 200])), 16);
        assert_eq!(relevant([5; 30].into_iter()), 10);
        assert_eq!(relevant(std::iter::empty()), 0);
    }

    proptest! {
        #[test]
        fn merged_ranges_are_disjoint_and_ascend(ranges in prop::collection::vec((1u32..10_000, 0u32..3_000), 0..80)) {
            let merged = disjoint(ranges.iter().map(|(lower, length)| (*lower, lower + length)).collect());
            prop_assert!(merged.iter().all(|range| range.0 <= range.1));
            prop_assert!(merged.windows(2).all(|pair| pair[0].1 < pair[1].0));
            let priced = with_probabilities(&merged, &[50, 5_000]);
            prop_assert!(priced.len() <= 25 && priced.iter().map(RunTimeRange::probability).sum::<f64>() <= 1.0 + 1e-5);
        }
    }
}
