//! What a snapshot says of jobs that were submitted and become eligible later.

use super::layout::ComingRecord;
use crate::forecasts::forecast::Claims;
use job_types::number::PartitionIndex;
use job_types::time::{Seconds, UnixTime};

/// How far ahead the present state tells anything of waits, these jobs included. Jobs that are
/// submitted in the meantime are not known, and after half a day they are most of those that
/// matter.
pub const PRESENT_TELLS: Seconds = Seconds(12 * 3_600);

/// What becomes eligible in a partition, or with `None` in the cluster, up to a moment.
#[must_use]
pub fn coming_until(records: &[ComingRecord], partition: Option<PartitionIndex>, moment: UnixTime) -> Claims {
    let scope = (u8::from(partition.is_none()), partition.map_or(0, |partition| partition.0));
    let key = |record: &ComingRecord| (record.is_of_cluster, record.partition.get());
    let place = records.partition_point(|record| (key(record), record.at.get()) <= (scope, moment.0));
    let last = place.checked_sub(1).and_then(|place| records.get(place)).filter(|record| key(record) == scope);
    last.map_or_else(Claims::default, |sum| Claims {
        jobs: u64::from(sum.jobs.get()),
        cpus: sum.cpus.get(),
        limits_s: sum.limits_s.get(),
        work: sum.work.get(),
        expected_work: sum.work.get(),
        ..Claims::default()
    })
}
