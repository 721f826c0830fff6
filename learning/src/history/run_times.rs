//! Run times by user and size, and the ranges that they give (Hariharan et al. 2020, III.C to
//! III.F).
//!
//! They are in force where the default forecast of run times
//! ([`Calibrated`](crate::run_times::Calibrated)) says nothing of a user's size: until the daemon's
//! learner has gone through the past, without it, and for sizes that were run too long ago for it
//! to remember.
//!
//! Hariharan et al. shift load functions through each run time of the relevant history to get a
//! range. Without load functions each run time gives the range that Hariharan et al.'s compaction
//! leaves: 20 % wide around it.

use job_types::number::{PartitionIndex, UserId};
use job_types::size::{Size, Unit};
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecast::{RunTimeModel, RunTimeRange, UNBOUNDED_S, UserSize};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// The relevant history begins with so many of the latest jobs (III.C).
const FIRST_RELEVANT_JOBS: usize = 10;
/// ... and grows until its run times span this part of what the whole history spans (III.C).
const RELEVANT_SPAN: f64 = 0.9;
/// A range reaches this far to either side of a run time, so that it is 20 % wide (III.D).
const RANGE_HALF_WIDTH: f64 = 0.1;
/// Ranges that share more than this part of the shorter one are merged (III.E).
const MERGE_OVERLAP: f64 = 0.5;
/// What the ranges share that no past run time lies in (III.F).
const NEW_RANGES_PROBABILITY: f64 = 0.1;
/// Most ranges of one forecast (III.F).
const MOST_RANGES: usize = 25;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Runs {
    /// Start and run time in seconds, latest start last.
    run_times: VecDeque<(UnixTime, u32)>,
    longest_limit_s: u32,
}

/// Run times of each user at each size, at most so many, the most recent; and their models, once
/// fitted.
#[derive(Debug, Serialize, Deserialize)]
pub struct RunTimeHistory {
    most_jobs: usize,
    runs: HashMap<UserSize, Runs>,
    changed: HashSet<UserSize>,
    fitted: BTreeMap<UserSize, RunTimeModel>,
}

impl RunTimeHistory {
    /// No run times; each user is to keep `most_jobs` at each size.
    #[must_use]
    pub fn new(most_jobs: usize) -> RunTimeHistory {
        RunTimeHistory { most_jobs: most_jobs.max(1), runs: HashMap::new(), changed: HashSet::new(), fitted: BTreeMap::new() }
    }

    /// Adds the run time of a job that has ended, under its nodes and under its CPUs.
    pub fn push(
        &mut self,
        user: UserId,
        partition: PartitionIndex,
        size: Size,
        limit: Option<Seconds>,
        start: UnixTime,
        run_time: Seconds,
    ) {
        for unit in Unit::ALL {
            let key = UserSize { user, partition, unit, count: size.count(unit) };
            let runs = self.runs.entry(key).or_default();
            runs.longest_limit_s = runs.longest_limit_s.max(limit.map_or(UNBOUNDED_S, Seconds::clamped_u32));
            let place = runs.run_times.partition_point(|(other, _)| *other <= start);
            if place > 0 || runs.run_times.len() < self.most_jobs {
                runs.run_times.insert(place, (start, run_time.clamped_u32()));
                if runs.run_times.len() > self.most_jobs {
                    runs.run_times.pop_front();
                }
            }
            self.changed.insert(key);
        }
    }

    /// Fits the sizes that have changed.
    pub fn fit(&mut self) {
        for key in self.changed.drain() {
            if let Some(runs) = self.runs.get(&key) {
                let latest_first: Vec<u32> = runs.run_times.iter().rev().map(|(_, run_time_s)| *run_time_s).collect();
                let model = RunTimeModel {
                    jobs: u32::try_from(latest_first.len()).unwrap_or(u32::MAX),
                    longest_limit_s: runs.longest_limit_s,
                    ranges: ranges(&latest_first),
                };
                self.fitted.insert(key, model);
            }
        }
    }

    /// Lets go of the sizes of users at which no job has started since a moment: users come and go.
    pub fn forget(&mut self, since: UnixTime) {
        self.runs.retain(|_, runs| runs.run_times.back().is_some_and(|(latest, _)| *latest >= since));
        self.changed.retain(|key| self.runs.contains_key(key));
        self.fitted.retain(|key, _| self.runs.contains_key(key));
    }

    /// The fitted models, in the order of users, partitions, units and sizes.
    #[must_use]
    pub fn fitted(&self) -> &BTreeMap<UserSize, RunTimeModel> {
        &self.fitted
    }
}

/// The ranges of a set of run times in seconds, latest first.
///
/// Hariharan et al. leave open how overlap is measured (here: of the shorter range), what becomes
/// of an overlap too small to merge (here: the later range begins after the earlier), and of past
/// run times outside every range (here: the probabilities of the ranges are scaled to 1).
#[must_use]
fn ranges(latest_first: &[u32]) -> Vec<RunTimeRange> {
    let mut relevant = relevant(latest_first).to_vec();
    relevant.sort_unstable();
    let mut merged: Vec<(u32, u32)> = Vec::new();
    for run_time_s in relevant {
        let half = f64::from(run_time_s) * RANGE_HALF_WIDTH;
        let (lower, upper) = ((f64::from(run_time_s) - half) as u32, (f64::from(run_time_s) + half).ceil() as u32);
        match merged.last_mut() {
            Some(top) if overlap(*top, (lower, upper)) > MERGE_OVERLAP => top.1 = top.1.max(upper),
            Some(top) if lower <= top.1 => {
                let lower = top.1 + 1;
                if lower <= upper {
                    merged.push((lower, upper));
                }
            }
            _ => merged.push((lower, upper)),
        }
    }
    while merged.len() > MOST_RANGES {
        // The two neighbours with the smallest relative gap become one.
        let gap = |pair: &[(u32, u32)]| match pair {
            [left, right] => f64::from(right.0.saturating_sub(left.1)) / f64::from(right.1.max(1)),
            _ => f64::INFINITY,
        };
        let closest = merged.windows(2).enumerate().min_by(|(_, a), (_, b)| gap(a).total_cmp(&gap(b))).map(|(index, _)| index);
        let Some(closest) = closest else { break };
        let right = merged.remove(closest + 1);
        if let Some(left) = merged.get_mut(closest) {
            left.1 = right.1;
        }
    }
    with_probabilities(&merged, latest_first)
}

/// The latest jobs, from ten on back until their run times span enough of the whole history's.
fn relevant(latest_first: &[u32]) -> &[u32] {
    let Some((least, most)) = latest_first.iter().min().zip(latest_first.iter().max()) else { return latest_first };
    let span = f64::from(most - least);
    let (mut shortest, mut longest) = (u32::MAX, 0);
    for (index, run_time_s) in latest_first.iter().enumerate() {
        shortest = shortest.min(*run_time_s);
        longest = longest.max(*run_time_s);
        if index + 1 >= FIRST_RELEVANT_JOBS && f64::from(longest - shortest) >= RELEVANT_SPAN * span {
            return latest_first.get(..=index).unwrap_or(latest_first);
        }
    }
    latest_first
}

fn overlap(one: (u32, u32), other: (u32, u32)) -> f64 {
    let length = |range: (u32, u32)| f64::from(range.1 - range.0) + 1.0;
    let shared = f64::from(one.1.min(other.1)) - f64::from(one.0.max(other.0)) + 1.0;
    shared / length(one).min(length(other))
}

fn with_probabilities(ranges: &[(u32, u32)], history: &[u32]) -> Vec<RunTimeRange> {
    let counts: Vec<usize> =
        ranges.iter().map(|(lower, upper)| history.iter().filter(|run_time_s| (lower..=upper).contains(run_time_s)).count()).collect();
    let counted: usize = counts.iter().sum();
    let new = counts.iter().filter(|count| **count == 0).count();
    let share_of_new = match (new, counted) {
        (0, _) => 0.0,
        (_, 0) => 1.0,
        _ => NEW_RANGES_PROBABILITY,
    };
    ranges
        .iter()
        .zip(counts)
        .map(|((lower, upper), count)| {
            let probability = match count {
                0 => share_of_new / new as f64,
                _ => (1.0 - share_of_new) * count as f64 / counted as f64,
            };
            RunTimeRange::new(*lower, *upper, probability as f32)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn two_applications_give_two_ranges_with_their_shares() {
        // 100 +- 10 three times, 1000 +- 100 once.
        let ranges = ranges(&[100, 1_000, 100, 100]);
        let limits: Vec<_> = ranges.iter().map(|range| (range.lower().0, range.upper().0)).collect();
        assert_eq!(limits, [(90, 110), (900, 1_100)]);
        assert!((ranges[0].probability() - 0.75).abs() < 1e-6);
    }

    #[test]
    fn ranges_that_share_more_than_half_become_one_and_others_are_cut_apart() {
        // 90..110 and 99..121 share 12 of 21; 90..121 and 117..143 share 5 of 27.
        let ranges = ranges(&[100, 110, 130]);
        let limits: Vec<_> = ranges.iter().map(|range| (range.lower().0, range.upper().0)).collect();
        assert_eq!(limits, [(90, 121), (122, 143)]);
    }

    #[test]
    fn the_relevant_history_goes_back_until_it_spans_the_whole() {
        let mut history = vec![100; 15];
        history.push(1_000);
        history.push(200);
        assert_eq!(relevant(&history).len(), 16);
        assert_eq!(relevant(&[5; 30]).len(), 10);
    }

    proptest! {
        #[test]
        fn ranges_are_disjoint_few_and_their_probabilities_sum_to_one(history in prop::collection::vec(0u32..500_000, 1..300)) {
            let ranges = ranges(&history);
            prop_assert!(!ranges.is_empty() && ranges.len() <= MOST_RANGES);
            prop_assert!(ranges.windows(2).all(|pair| pair[0].upper() < pair[1].lower()));
            let sum: f64 = ranges.iter().map(RunTimeRange::probability).sum();
            prop_assert!((sum - 1.0).abs() < 1e-4);
        }
    }
}
