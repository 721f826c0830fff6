//! What a snapshot says of what virtual reservations take of a partition and of the cluster, by
//! time.

use super::layout::ReservedRecord;
use job_types::number::PartitionIndex;
use job_types::time::UnixTime;

/// How many CPUs are reserved in a partition, or with `None` in the cluster, at a moment.
#[must_use]
pub fn reserved_at(records: &[ReservedRecord], partition: Option<PartitionIndex>, moment: UnixTime) -> u64 {
    let scope = (u8::from(partition.is_none()), partition.map_or(0, |partition| partition.0));
    let key = |record: &ReservedRecord| (record.is_of_cluster, record.partition.get());
    let place = records.partition_point(|record| (key(record), record.at.get()) <= (scope, moment.0));
    let last = place.checked_sub(1).and_then(|place| records.get(place)).filter(|record| key(record) == scope);
    last.map_or(0, |record| record.cpus.get())
}
