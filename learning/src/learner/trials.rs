//! The trial of the default forecasts, partition by partition, and which forecasts are in force
//! after it.

use super::Scores;
use super::source::{Change, Choice, choose, farthest};
use job_types::number::PartitionIndex;
use predictor_core::forecasts::forecast::PERCENTILES;
use predictor_core::forecasts::reliability::PartitionScore;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is known of the forecasts in one partition.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Trial {
    scores: Scores,
    /// Waits that are known.
    waits: u64,
    /// `None` before the first decision.
    choice: Option<Choice>,
}

/// Holds the default forecasts against what followed, and decides from that which forecasts are in
/// force in each partition. The daemon and the evaluation on workload logs share it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Trials {
    by_partition: BTreeMap<PartitionIndex, Trial>,
}

impl Trials {
    /// A job of the partition has started, so that its wait is known, whether or not it was
    /// forecast.
    pub fn wait_is_known(&mut self, partition: PartitionIndex) {
        self.by_partition.entry(partition).or_default().waits += 1;
    }

    /// A job whose wait was forecast has started after `wait_s` seconds; see [`Scores`] for the
    /// other arguments.
    pub fn learn(&mut self, partition: PartitionIndex, point_s: f64, bounds_s: &[u32; PERCENTILES], wait_s: i64, part: f64) {
        self.by_partition.entry(partition).or_default().scores.learn(point_s, bounds_s, wait_s, part);
    }

    /// A job whose wait was forecast has left the queue after `waited_s` seconds without having
    /// started; see [`Scores`].
    pub fn leave(&mut self, partition: PartitionIndex, bounds_s: &[u32; PERCENTILES], waited_s: i64, part: f64) {
        self.by_partition.entry(partition).or_default().scores.leave(bounds_s, waited_s, part);
    }

    /// Decides for one partition which forecasts are in force. Returns what has changed.
    pub fn choose(&mut self, partition: PartitionIndex, is_trained: bool) -> Option<Change> {
        let trial = self.by_partition.get_mut(&partition)?;
        let before = trial.choice;
        let now = choose(before.unwrap_or_default(), is_trained, &trial.scores, trial.waits);
        trial.choice = Some(now);
        (before != Some(now)).then(|| Change { partition, before, now, jobs: trial.scores.jobs(), farthest: farthest(&trial.scores) })
    }

    /// Decides for each partition, in the order of their indices. Returns what has changed.
    pub fn choose_all(&mut self, is_trained: bool) -> Vec<Change> {
        let partitions: Vec<PartitionIndex> = self.by_partition.keys().copied().collect();
        partitions.into_iter().filter_map(|partition| self.choose(partition, is_trained)).collect()
    }

    /// How well the forecasts do in a partition; `None` where no job has started.
    #[must_use]
    pub fn scores(&self, partition: PartitionIndex) -> Option<&Scores> {
        self.by_partition.get(&partition).map(|trial| &trial.scores)
    }

    /// Returns which forecasts are in force in a partition; `None` before the first decision.
    #[must_use]
    pub fn choice(&self, partition: PartitionIndex) -> Option<Choice> {
        self.by_partition.get(&partition)?.choice
    }

    /// All of that for the snapshot, in the order of the partitions.
    pub(super) fn published(&self) -> Vec<PartitionScore> {
        let score = |(partition, trial): (&PartitionIndex, &Trial)| {
            let choice = trial.choice.unwrap_or_default();
            PartitionScore {
                partition: *partition,
                jobs: trial.scores.jobs(),
                median_error_s: trial.scores.median_error_s(),
                pinball_s: trial.scores.pinball_s(),
                reliability: trial.scores.reliability(),
                source: choice.source,
                reason: choice.reason,
            }
        };
        self.by_partition.iter().map(score).collect()
    }
}
