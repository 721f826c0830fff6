//! Run times by user and size, and the ranges that they give (Hariharan et al. 2020, III.C to
//! III.F).
//!
//! They are in force where the default forecast of run times
//! ([`RunTimeLearner`](crate::RunTimeLearner)) says nothing of a user's size: until the daemon's
//! learner has gone through the past, without it, and for sizes that were run too long ago for it
//! to remember.
//!
//! Hariharan et al. shift load functions through each run time of the relevant history to get a
//! range. Without load functions each run time gives the range that Hariharan et al.'s compaction
//! leaves: 20 % wide around it.

use crate::run_times::range_sets;
use job_types::number::{PartitionIndex, UserId};
use job_types::size::{Size, Unit};
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::forecast::{RunTimeRange, UNBOUNDED_S};
use predictor_core::forecasts::run_time_models::{LikeJobs, RunTimeModel};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

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
    runs: HashMap<LikeJobs, Runs>,
    changed: HashSet<LikeJobs>,
    fitted: BTreeMap<LikeJobs, RunTimeModel>,
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
            let key = LikeJobs::of_size(user, partition, unit, size.count(unit));
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
    pub fn fitted(&self) -> &BTreeMap<LikeJobs, RunTimeModel> {
        &self.fitted
    }
}

/// The ranges of a set of run times in seconds, latest first.
///
/// As with Hariharan et al., the probabilities of past run times that lie in no range are lost at
/// first. Decisions weigh run times by these numbers, so that they are scaled to sum to 1.
#[must_use]
fn ranges(latest_first: &[u32]) -> Vec<RunTimeRange> {
    let relevant = range_sets::relevant(latest_first.iter().copied());
    let single = latest_first.iter().take(relevant).map(|run_time_s| range_sets::compacted(f64::from(*run_time_s), std::iter::empty()));
    let ranges = range_sets::with_probabilities(&range_sets::disjoint(single.collect()), latest_first);
    let sum: f64 = ranges.iter().map(RunTimeRange::probability).sum();
    let scaled = |range: &RunTimeRange| {
        RunTimeRange::new(range.lower().clamped_u32(), range.upper().clamped_u32(), (range.probability() / sum) as f32)
    };
    ranges.iter().map(scaled).collect()
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

    proptest! {
        #[test]
        fn ranges_are_disjoint_few_and_their_probabilities_sum_to_one(history in prop::collection::vec(0u32..500_000, 1..300)) {
            let ranges = ranges(&history);
            prop_assert!(!ranges.is_empty() && ranges.len() <= 25);
            prop_assert!(ranges.windows(2).all(|pair| pair[0].upper() < pair[1].lower()));
            let sum: f64 = ranges.iter().map(RunTimeRange::probability).sum();
            prop_assert!((sum - 1.0).abs() < 1e-4);
        }
    }
}
