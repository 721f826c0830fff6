//! What jobs with deadlines teach, partition by partition.

use job_types::number::PartitionIndex;
use job_types::time::Seconds;
use predictor_core::forecasts::deadline_history::DeadlineHistory;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What became of a promise to be done by a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeadlineOutcome {
    /// The probability that was told, 0 to 1.
    pub promised: f64,
    /// The probability that was wanted.
    pub wanted: f64,
    /// Whether the job was done in time.
    pub is_kept: bool,
}

/// What jobs with deadlines have taught of each partition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeadlineLearner {
    histories: BTreeMap<PartitionIndex, DeadlineHistory>,
}

impl DeadlineLearner {
    fn history(&mut self, partition: PartitionIndex) -> &mut DeadlineHistory {
        self.histories.entry(partition).or_default()
    }

    /// A job that was given so long from its submission to its deadline has run for so long, and
    /// came to its end by itself.
    pub fn ran(&mut self, partition: PartitionIndex, given: Seconds, run_time: Seconds) {
        self.history(partition).observe_run(given.0 as f64, run_time.0 as f64);
    }

    /// A job has started so long after its submission, and was planned to start after so long.
    pub fn started(&mut self, partition: PartitionIndex, wait: Seconds, planned: Seconds) {
        self.history(partition).observe_wait(wait.0 as f64, planned.0 as f64);
    }

    /// A promise was kept, or was not.
    pub fn came_to(&mut self, partition: PartitionIndex, outcome: &DeadlineOutcome) {
        self.history(partition).observe_outcome(outcome.promised, outcome.wanted, outcome.is_kept);
    }

    /// What was learnt of the partitions in which there were jobs with deadlines, ascending.
    pub fn histories(&self) -> impl Iterator<Item = (PartitionIndex, &DeadlineHistory)> {
        self.histories.iter().map(|(partition, history)| (*partition, history))
    }

    /// What was learnt of a partition.
    #[must_use]
    pub fn of(&self, partition: PartitionIndex) -> DeadlineHistory {
        self.histories.get(&partition).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_partition_learns_for_itself() {
        let mut learner = DeadlineLearner::default();
        let (one, other) = (PartitionIndex(1), PartitionIndex(2));
        (0..50).for_each(|_| learner.ran(one, Seconds(1_600), Seconds(100)));
        (0..50).for_each(|_| learner.started(one, Seconds(3_600), Seconds(0)));
        learner.came_to(one, &DeadlineOutcome { promised: 0.9, wanted: 0.9, is_kept: false });
        let history = learner.of(one);
        assert!(history.given.likelihood(16.0) > 0.5);
        assert!(history.starts_within(60.0, 0.0) < DeadlineHistory::default().starts_within(60.0, 0.0));
        assert!(history.asked(0.9) > 0.9);
        assert_eq!((learner.of(other), learner.histories().count()), (DeadlineHistory::default(), 1));
    }
}
