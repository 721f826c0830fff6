//! The latest starts of each partition, and QBETS over them: what bounds waits until the learner
//! has gone through the past.

use crate::waits::qbets::Qbets;
use job_types::job::WaitingJob;
use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::forecast::ClassBounds;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Start {
    at: UnixTime,
    wait: Seconds,
    size: Size,
    limit: Option<Seconds>,
}

/// The starts of each partition, at most so many, the latest; and the classes that QBETS finds in
/// them, once fitted.
///
/// Records of ended jobs come in any order, and QBETS takes starts in theirs: so it goes through
/// the starts anew at each fit after which others have come.
#[derive(Debug, Serialize, Deserialize)]
pub struct StartHistory {
    most: usize,
    partitions: BTreeMap<PartitionIndex, VecDeque<Start>>,
    /// Confidence of the classes; `None` where others have come since.
    #[serde(skip)]
    fitted_at: Option<f64>,
    #[serde(skip)]
    classes: Vec<ClassBounds>,
}

impl StartHistory {
    /// No starts; `most` of each partition are to be kept.
    #[must_use]
    pub fn new(most: usize) -> StartHistory {
        StartHistory { most: most.max(1), partitions: BTreeMap::new(), fitted_at: None, classes: Vec::new() }
    }

    /// Adds a job that has started.
    pub fn push(&mut self, partition: PartitionIndex, size: Size, limit: Option<Seconds>, eligible: UnixTime, wait: Seconds) {
        let start = Start { at: eligible + wait, wait, size, limit };
        let starts = self.partitions.entry(partition).or_default();
        // A searched place, because the past is read newest first.
        let place = starts.partition_point(|other| other.at <= start.at);
        if place == 0 && starts.len() >= self.most {
            return;
        }
        starts.insert(place, start);
        if starts.len() > self.most {
            starts.pop_front();
        }
        self.fitted_at = None;
    }

    /// Finds the classes, with bounds at the confidence, if that has not been done since the last
    /// start was added.
    pub fn fit(&mut self, confidence: f64) {
        if self.fitted_at == Some(confidence) {
            return;
        }
        let of_partition =
            |(partition, starts): (&PartitionIndex, &VecDeque<Start>)| starts.iter().map(|start| (*partition, *start)).collect::<Vec<_>>();
        let mut starts: Vec<(PartitionIndex, Start)> = self.partitions.iter().flat_map(of_partition).collect();
        starts.sort_by_key(|(_, start)| start.at);
        let mut qbets = Qbets::new();
        for (partition, Start { at, wait, size, limit }) in starts {
            let eligible = UnixTime(at.0 - wait.0);
            // QBETS does not look at who submitted the job.
            let job = WaitingJob { user: UserId(0), account: AccountIndex(0), partition, qos: QosIndex(0), size, limit, eligible };
            qbets.observe(&job, wait);
        }
        self.classes = qbets.classes(confidence);
        self.fitted_at = Some(confidence);
    }

    /// The classes as they were fitted last.
    #[must_use]
    pub fn classes(&self) -> &[ClassBounds] {
        &self.classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { nodes: 1, cpus: 4 };

    #[test]
    fn starts_that_come_in_any_order_make_the_classes_that_qbets_finds_in_theirs() {
        // The waits double after the 400th: told in the wrong order the change would not be seen.
        let jobs: Vec<(i64, i64)> =
            (0..600).map(|index| (1_000 * index, if index < 400 { 50 + index % 50 } else { 700 + index % 50 })).collect();
        let mut qbets = Qbets::new();
        for (eligible, wait) in &jobs {
            let job = WaitingJob {
                user: UserId(7),
                account: AccountIndex(3),
                partition: PartitionIndex(2),
                qos: QosIndex(0),
                size: SIZE,
                limit: Some(Seconds(600)),
                eligible: UnixTime(*eligible),
            };
            qbets.observe(&job, Seconds(*wait));
        }
        let mut history = StartHistory::new(1_000);
        for index in 0..600 {
            let (eligible, wait) = jobs[index * 7 % 600];
            history.push(PartitionIndex(2), SIZE, Some(Seconds(600)), UnixTime(eligible), Seconds(wait));
        }
        assert!(history.classes().is_empty());
        history.fit(0.95);
        assert_eq!(history.classes(), qbets.classes(0.95));
        assert!(history.classes()[0].bounds_s[94] >= 700 && history.classes()[0].changes > 0);
    }

    #[test]
    fn the_latest_starts_are_kept() {
        let mut history = StartHistory::new(3);
        for eligible in [50, 10, 40, 20, 30] {
            history.push(PartitionIndex(0), SIZE, None, UnixTime(eligible), Seconds(eligible));
        }
        history.fit(0.5);
        assert_eq!((history.classes()[0].jobs, history.classes()[0].median_s), (3, 40));
    }

    #[test]
    fn another_confidence_makes_other_bounds() {
        let mut history = StartHistory::new(100);
        (0..100).for_each(|wait| history.push(PartitionIndex(0), SIZE, None, UnixTime(wait), Seconds(wait)));
        history.fit(0.5);
        let loose = history.classes()[0].bounds_s[49];
        history.fit(0.99);
        assert!(history.classes()[0].bounds_s[49] > loose);
    }
}
