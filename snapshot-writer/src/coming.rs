//! The records of jobs that were submitted and become eligible later.

use job_types::number::PartitionIndex;
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::forecast::Claims;
use predictor_core::snapshot::PRESENT_TELLS;
use predictor_core::snapshot::layout::ComingRecord;

/// A job that was submitted and becomes eligible later: deferred by its user, by a reservation for
/// later, or to end sooner. Until then it is not in the queue, and by then it will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComingJob {
    /// When the job becomes eligible.
    pub at: UnixTime,
    /// The CPUs that the job asks for.
    pub cpus: u32,
    /// The job's time limit, padding included; `None` is unlimited.
    pub limit: Option<Seconds>,
}

/// Returns the records of one partition, or of the whole cluster if `partition` is `None`. Each
/// record is the sum of all jobs that become eligible until its time.
pub(super) fn records(partition: Option<PartitionIndex>, coming: impl IntoIterator<Item = ComingJob>, now: UnixTime) -> Vec<ComingRecord> {
    let mut coming: Vec<ComingJob> = coming.into_iter().filter(|job| job.at > now && job.at - now <= PRESENT_TELLS).collect();
    coming.sort_unstable_by_key(|job| job.at);
    let mut sum = Claims::default();
    let record = |job: ComingJob| {
        // It is taken to run for its whole limit: of a reserved job that is mostly waiting.
        sum.add(&Claims::of(job.cpus, job.limit, job.limit.unwrap_or(Seconds::ZERO)));
        ComingRecord {
            is_of_cluster: partition.is_none().into(),
            reserved: 0,
            partition: partition.map_or(0, |partition| partition.0).into(),
            jobs: u32::try_from(sum.jobs).unwrap_or(u32::MAX).into(),
            at: job.at.0.into(),
            cpus: sum.cpus.into(),
            limits_s: sum.limits_s.into(),
            work: sum.work.into(),
        }
    };
    coming.into_iter().map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use predictor_core::snapshot::coming_until as until;

    #[test]
    fn what_comes_is_summed_up_to_a_moment_by_partition_and_for_the_cluster() {
        let now = UnixTime(1_000_000);
        let job = |at: i64, cpus| ComingJob { at: now + Seconds(at), cpus, limit: Some(Seconds(600)) };
        let [first, second] = [vec![job(900, 8), job(300, 4), job(0, 1)], vec![job(600, 16), job(PRESENT_TELLS.0 + 1, 32)]];
        let mut all = records(Some(PartitionIndex(0)), first.clone(), now);
        all.extend(records(Some(PartitionIndex(7)), second.clone(), now));
        all.extend(records(None, first.into_iter().chain(second), now));
        let cpus = |partition: Option<u16>, at| until(&all, partition.map(PartitionIndex), now + Seconds(at)).cpus;
        assert_eq!([0, 299, 300, 899, 900, 100_000].map(|at| cpus(Some(0), at)), [0, 0, 4, 4, 12, 12]);
        assert_eq!([599, 600, 100_000].map(|at| cpus(Some(7), at)), [0, 16, 16]);
        assert_eq!([299, 300, 600, 900].map(|at| cpus(None, at)), [0, 4, 20, 28]);
        assert_eq!(cpus(Some(3), 100_000), 0, "nothing comes there");
        let sum = until(&all, None, now + Seconds(600));
        assert_eq!((sum.jobs, sum.limits_s, sum.work), (2, 1_200, 20 * 600));
        assert_eq!(until(&[], None, now), Claims::default());
    }
}
