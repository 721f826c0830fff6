//! What a snapshot says of jobs with deadlines: what they have taught, and those that were promised
//! to be done in time and wait.

use super::layout::{DeadlineHistoryRecord, PromisedJobRecord, sections};
use super::reader::Snapshot;
use crate::admission::PromisedJob;
use crate::deadline_history::{DeadlineHistory, Ratios};
use job_types::number::PartitionIndex;
use job_types::time::{Seconds, UnixTime};
use zerocopy::little_endian::F32;

/// Most admitted jobs of one partition that are published: those that could give way for longest.
/// The others keep their places, so that what a decision looks at is bounded.
const MOST_PROMISED: usize = 1_000;

/// The records of what was learnt in these partitions.
pub(super) fn history_records(histories: impl Iterator<Item = (PartitionIndex, DeadlineHistory)>) -> Vec<DeadlineHistoryRecord> {
    let counts = |ratios: &Ratios| ratios.published().map(F32::new);
    let record = |(partition, history): (PartitionIndex, DeadlineHistory)| DeadlineHistoryRecord {
        partition: partition.0.into(),
        reserved: [0; 2],
        shift: (history.shift as f32).into(),
        given: counts(&history.given),
        at_once: counts(&history.at_once),
        later: counts(&history.later),
    };
    let mut records: Vec<_> = histories.map(record).collect();
    records.sort_by_key(|record| record.partition.get());
    records
}

/// The records of the admitted jobs that wait.
pub(super) fn promised_records(promised: &[(PartitionIndex, PromisedJob)]) -> Vec<PromisedJobRecord> {
    let mut promised: Vec<_> = promised.iter().filter(|(_, job)| job.slack > Seconds::ZERO).collect();
    promised.sort_by_key(|(partition, job)| (*partition, std::cmp::Reverse(job.slack)));
    let by_partition = promised.chunk_by(|(one, _), (other, _)| one == other);
    let most = by_partition.flat_map(|jobs| jobs.iter().take(MOST_PROMISED));
    most.map(|(partition, job)| PromisedJobRecord {
        partition: partition.0.into(),
        reserved: [0; 2],
        cpus: job.cpus.into(),
        deadline: job.deadline.0.into(),
        start: job.start.0.into(),
        end: job.end.0.into(),
        slack_s: job.slack.0.into(),
    })
    .collect()
}

impl<B: AsRef<[u8]>> Snapshot<B> {
    /// What jobs with deadlines have taught in a partition; `None` where none are admitted by
    /// probability.
    pub(super) fn history_of_deadlines(&self, partition: PartitionIndex) -> Option<DeadlineHistory> {
        let records = self.records(sections::DeadlineHistories);
        let place = records.binary_search_by_key(&partition.0, |record| record.partition.get()).ok()?;
        let record = records.get(place)?;
        let ratios = |counts: &[F32; crate::deadline_history::CLASSES]| Ratios::of(counts.map(F32::get));
        let shift = f64::from(record.shift.get());
        Some(DeadlineHistory {
            given: ratios(&record.given),
            at_once: ratios(&record.at_once),
            later: ratios(&record.later),
            shift: if shift.is_finite() { shift } else { 0.0 },
        })
    }

    /// The admitted jobs that wait in a partition and could give way.
    pub(super) fn jobs_with_promises(&self, partition: PartitionIndex) -> Vec<PromisedJob> {
        let records = self.records(sections::PromisedJobs);
        let from = records.partition_point(|record| record.partition.get() < partition.0);
        let of_partition = records.iter().skip(from).take_while(|record| record.partition.get() == partition.0);
        let job = |record: &PromisedJobRecord| PromisedJob {
            deadline: UnixTime(record.deadline.get()),
            start: UnixTime(record.start.get()),
            end: UnixTime(record.end.get()),
            cpus: record.cpus.get(),
            slack: Seconds(record.slack_s.get()),
        };
        of_partition.take(MOST_PROMISED).map(job).collect()
    }
}
