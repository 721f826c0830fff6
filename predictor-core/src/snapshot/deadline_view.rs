//! What a snapshot says of jobs with deadlines, read as it lies in memory.

use super::layout::{PromisedJobRecord, sections};
use super::reader::Snapshot;
use crate::forecasts::deadline_history::{CLASSES, DeadlineHistory, Ratios};
use crate::forecasts::promised_job::PromisedJob;
use job_types::number::PartitionIndex;
use job_types::time::{Seconds, UnixTime};
use zerocopy::little_endian::F32;

/// Most admitted jobs of one partition that are published: those that could give way for longest.
/// The others keep their places, so that what a decision looks at is bounded.
pub const MOST_PROMISED: usize = 1_000;

impl<B: AsRef<[u8]>> Snapshot<B> {
    /// What jobs with deadlines have taught in a partition; `None` where none are admitted by
    /// probability.
    pub(super) fn history_of_deadlines(&self, partition: PartitionIndex) -> Option<DeadlineHistory> {
        let records = self.records(sections::DeadlineHistories);
        let place = records.binary_search_by_key(&partition.0, |record| record.partition.get()).ok()?;
        let record = records.get(place)?;
        let ratios = |counts: &[F32; CLASSES]| Ratios::from(counts.map(F32::get));
        let finite = |number: F32| Some(f64::from(number.get())).filter(|number| number.is_finite()).unwrap_or(0.0);
        Some(DeadlineHistory {
            given: ratios(&record.given),
            at_once: ratios(&record.at_once),
            later: ratios(&record.later),
            shift: finite(record.shift),
            leeway: finite(record.leeway),
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
