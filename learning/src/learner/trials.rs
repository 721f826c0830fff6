//! The trial of the default forecasts and of QBETS's on the same jobs, partition by partition, and
//! which forecasts are in force after it.

use super::Scores;
use super::comparison::Comparison;
use super::source::{Change, Choice, Tried, choose, farthest};
use job_types::number::PartitionIndex;
use predictor_core::forecasts::forecast::PERCENTILES;
use predictor_core::forecasts::reliability::PartitionScore;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A forecast that one source made when a job arrived.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The point forecast in seconds.
    pub point_s: f64,
    /// Bounds on the percentiles 1 to 99 of the wait, in seconds.
    pub bounds_s: &'a [u32; PERCENTILES],
}

/// What is known of the forecasts in one partition.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Trial {
    /// How the default did.
    scores: Scores,
    /// How QBETS did on the same jobs, but those that it had no bounds for.
    qbets: Scores,
    /// The losses of both.
    comparison: Comparison,
    /// Waits that are known.
    waits: u64,
    /// `None` before the first decision.
    choice: Option<Choice>,
}

/// Holds the default forecasts and QBETS's against what followed, and decides from that which are
/// in force in each partition. The daemon and the evaluation on workload logs share it.
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

    /// A job whose wait was forecast, by the default and where it could by QBETS, has started after
    /// `wait_s` seconds; see [`Scores`] for `part`.
    pub fn learn(&mut self, partition: PartitionIndex, default: Asked<'_>, qbets: Option<Asked<'_>>, wait_s: i64, part: f64) {
        let trial = self.by_partition.entry(partition).or_default();
        let default_s = trial.scores.learn(default.point_s, default.bounds_s, wait_s, part);
        if let Some(qbets) = qbets {
            let qbets_s = trial.qbets.learn(qbets.point_s, qbets.bounds_s, wait_s, part);
            trial.comparison.learn(default_s, qbets_s);
        }
    }

    /// A job whose wait was forecast has left the queue after `waited_s` seconds without having
    /// started; see [`Scores`].
    pub fn leave(&mut self, partition: PartitionIndex, default: Asked<'_>, qbets: Option<Asked<'_>>, waited_s: i64, part: f64) {
        let trial = self.by_partition.entry(partition).or_default();
        trial.scores.leave(default.bounds_s, waited_s, part);
        if let Some(qbets) = qbets {
            trial.qbets.leave(qbets.bounds_s, waited_s, part);
        }
    }

    /// Decides for one partition which forecasts are in force. Returns what has changed.
    pub fn choose(&mut self, partition: PartitionIndex, is_trained: bool) -> Option<Change> {
        let trial = self.by_partition.get_mut(&partition)?;
        let before = trial.choice;
        let losses = trial.comparison.losses();
        let tried = Tried { is_trained, default: &trial.scores, qbets: &trial.qbets, losses, waits: trial.waits };
        let now = choose(before.unwrap_or_default(), &tried);
        trial.choice = Some(now);
        (before != Some(now)).then(|| Change {
            partition,
            before,
            now,
            jobs: trial.scores.jobs(),
            farthest: farthest(&trial.scores),
            losses_s: [losses.default_s, losses.qbets_s],
        })
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

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::record::WaitSource;
    use predictor_core::forecasts::reliability::WaitSourceReason;

    const PARTITION: PartitionIndex = PartitionIndex(3);

    /// What is in force after 2,000 jobs that waited 0 to 999 s under a default whose bounds are so
    /// many times as long as they should be. QBETS's are right, where it has any.
    fn in_force(times: u32, has_qbets: bool) -> (WaitSource, WaitSourceReason) {
        let qbets_s: [u32; PERCENTILES] = std::array::from_fn(|index| 10 * (index as u32 + 1));
        let default_s = qbets_s.map(|bound_s| times * bound_s);
        let [default, qbets] = [&default_s, &qbets_s].map(|bounds_s| Asked { point_s: 0.0, bounds_s });
        let mut trials = Trials::default();
        for job in 0..2_000 {
            trials.wait_is_known(PARTITION);
            trials.learn(PARTITION, default, has_qbets.then_some(qbets), job * 7_919 % 1_000, 0.5);
        }
        trials.choose_all(true);
        trials.choice(PARTITION).map(|choice| (choice.source, choice.reason)).unwrap()
    }

    #[test]
    fn the_default_gives_way_where_qbets_has_been_better_on_the_same_jobs() {
        assert_eq!(in_force(1, true), (WaitSource::Blended, WaitSourceReason::Calibrated));
        assert_eq!(in_force(3, true), (WaitSource::Qbets, WaitSourceReason::LargerLoss));
        assert_eq!(in_force(3, false), (WaitSource::Blended, WaitSourceReason::Calibrated), "there is nothing to compare with");
    }

    #[test]
    fn who_leaves_is_held_against_the_bounds_of_both() {
        let (short_s, long_s) = ([10; PERCENTILES], [1_000; PERCENTILES]);
        let [default, qbets] = [&short_s, &long_s].map(|bounds_s| Asked { point_s: 0.0, bounds_s });
        let mut trials = Trials::default();
        for job in 0..2_000 {
            trials.wait_is_known(PARTITION);
            trials.learn(PARTITION, Asked { bounds_s: &long_s, ..default }, Some(qbets), 1_000, f64::from(job) / 2_000.0);
        }
        trials.choose_all(true);
        assert_eq!(trials.choice(PARTITION).unwrap().source, WaitSource::Blended);
        // Nobody starts, and who leaves has outwaited every bound of the default.
        (0..1_000).for_each(|_| trials.leave(PARTITION, default, Some(qbets), 500, 0.5));
        let change = trials.choose(PARTITION, true).unwrap();
        assert_eq!((change.now.source, change.now.reason), (WaitSource::Qbets, WaitSourceReason::NotCalibrated));
    }
}
