//! The records of what virtual reservations take of a partition and of the cluster, by time.

use job_types::number::PartitionIndex;
use job_types::time::UnixTime;
use predictor_core::snapshot::layout::ReservedRecord;

/// What a job with a virtual reservation takes from when it may start until it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservedCpus {
    /// When it becomes eligible; a job that waits or runs takes its CPUs from now on.
    pub from: UnixTime,
    /// The reserved time plus its user's time limit.
    pub until: UnixTime,
    /// The CPUs that it asks for.
    pub cpus: u32,
}

/// The records of one partition, or with `None` of the cluster: for each moment at which it
/// changes, how many CPUs are reserved from then on.
pub(super) fn records(
    partition: Option<PartitionIndex>,
    reserved: impl IntoIterator<Item = ReservedCpus>,
    now: UnixTime,
) -> Vec<ReservedRecord> {
    let mut changes: Vec<(UnixTime, i64)> = Vec::new();
    for ReservedCpus { from, until, cpus } in reserved {
        if until > from.max(now) {
            changes.extend([(from.max(now), i64::from(cpus)), (until, -i64::from(cpus))]);
        }
    }
    changes.sort_unstable();
    let mut sum = 0i64;
    let mut records: Vec<ReservedRecord> = Vec::new();
    for changes in changes.chunk_by(|(one, _), (other, _)| one == other) {
        let Some((at, _)) = changes.first() else { continue };
        sum += changes.iter().map(|(_, cpus)| cpus).sum::<i64>();
        records.push(ReservedRecord {
            is_of_cluster: partition.is_none().into(),
            reserved: 0,
            partition: partition.map_or(0, |partition| partition.0).into(),
            at: at.0.into(),
            cpus: u64::try_from(sum).unwrap_or(0).into(),
        });
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::time::Seconds;
    use predictor_core::snapshot::reserved_at as at;
    use proptest::prelude::*;

    const NOW: UnixTime = UnixTime(1_000_000);

    fn job(from: i64, until: i64, cpus: u32) -> ReservedCpus {
        ReservedCpus { from: NOW + Seconds(from), until: NOW + Seconds(until), cpus }
    }

    #[test]
    fn each_reservation_takes_its_cpus_from_its_begin_to_its_end() {
        let [first, second] = [vec![job(-50, 900, 8), job(300, 900, 4)], vec![job(600, 1_200, 16), job(-900, -300, 32)]];
        let mut all = records(Some(PartitionIndex(0)), first.clone(), NOW);
        all.extend(records(Some(PartitionIndex(7)), second.clone(), NOW));
        all.extend(records(None, first.into_iter().chain(second), NOW));
        let cpus = |partition: Option<u16>, seconds| at(&all, partition.map(PartitionIndex), NOW + Seconds(seconds));
        assert_eq!([-1, 0, 299, 300, 899, 900].map(|seconds| cpus(Some(0), seconds)), [0, 8, 8, 12, 12, 0]);
        assert_eq!([599, 600, 1_199, 1_200].map(|seconds| cpus(Some(7), seconds)), [0, 16, 16, 0]);
        assert_eq!([0, 700, 1_000, 1_200].map(|seconds| cpus(None, seconds)), [8, 28, 16, 0]);
        assert_eq!((cpus(Some(3), 700), at(&[], None, NOW)), (0, 0), "nothing is reserved there");
    }

    proptest! {
        #[test]
        fn the_sum_at_each_moment_is_that_of_the_reservations_that_reach_over_it(
            spans in prop::collection::vec((-500i64..500, 0i64..1_000, 1u32..100), 0..40), moment in 0i64..1_500,
        ) {
            let jobs: Vec<_> = spans.into_iter().map(|(from, length, cpus)| job(from, from + length, cpus)).collect();
            let moment = NOW + Seconds(moment);
            let by_hand: u64 = jobs.iter().filter(|job| job.from <= moment && job.until > moment).map(|job| u64::from(job.cpus)).sum();
            prop_assert_eq!(at(&records(None, jobs, NOW), None, moment), by_hand);
        }
    }
}
