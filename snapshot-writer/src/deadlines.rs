//! What jobs with deadlines have taught, and those that were promised to be done in time and wait,
//! as records of the snapshot.

use job_types::number::PartitionIndex;
use job_types::time::Seconds;
use predictor_core::forecasts::deadline_history::{DeadlineHistory, Ratios};
use predictor_core::forecasts::promised_job::PromisedJob;
use predictor_core::snapshot::MOST_PROMISED;
use predictor_core::snapshot::layout::{DeadlineHistoryRecord, PromisedJobRecord};
use zerocopy::little_endian::F32;

/// The records of what was learnt in these partitions.
pub(super) fn history_records(histories: impl Iterator<Item = (PartitionIndex, DeadlineHistory)>) -> Vec<DeadlineHistoryRecord> {
    let counts = |ratios: &Ratios| ratios.published().map(F32::new);
    let record = |(partition, history): (PartitionIndex, DeadlineHistory)| DeadlineHistoryRecord {
        partition: partition.0.into(),
        reserved: [0; 2],
        shift: (history.shift as f32).into(),
        leeway: (history.leeway as f32).into(),
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
