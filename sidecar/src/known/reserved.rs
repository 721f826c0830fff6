//! Jobs in the queue that carry a reservation.

use job_types::joint::JointJobs;
use job_types::promise::Promise;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use slurm_sys::client::controller::QueuedJob;
use snapshot_writer::ReservedCpus;
use upkeep::ReservedJob;

use crate::known::promised::{Promised, Seen};

/// A job that carries a reservation, and what a change of it has to find unchanged.
#[derive(Debug, Clone)]
pub(crate) struct Reserved {
    pub(crate) job: ReservedJob,
    pub(crate) seen: Seen,
    /// What somebody else has written behind the record.
    pub(crate) rest: String,
    /// The jobs of which one is enough, itself among them.
    pub(crate) joint: Option<JointJobs>,
}

impl Reserved {
    /// `accounting_is_enforced` is whether slurmctld holds jobs to limits of accounting.
    pub(crate) fn new(job: &QueuedJob, promised: Promised, size: Size, accounting_is_enforced: bool) -> Self {
        let Promised { record, rest, seen, started, is_blocked } = promised;
        let reserved = ReservedJob {
            id: job.job_id,
            user: job.user_id,
            partition: job.partition.clone(),
            account: job.account.clone(),
            qos: job.qos.clone(),
            size,
            whole_nodes: job.exclusive,
            limit: job.time_limit_seconds.map(Seconds),
            shortest_limit: job.shortest_limit_seconds.map(Seconds),
            eligible: job.eligible.map(UnixTime),
            started,
            is_blocked,
            is_requeued: job.restarts > 0,
            accounting_is_enforced,
            record,
        };
        Self { job: reserved, seen, rest, joint: job.comment.as_deref().and_then(JointJobs::of_comment) }
    }

    /// Whether it runs in that partition, or that is the first of those that it waits for.
    pub(crate) fn is_in(&self, partition: &str) -> bool {
        self.job.partition.as_deref().and_then(|partitions| partitions.split(',').next()) == Some(partition)
    }

    /// What it takes, as the snapshot describes it; `None` where its record says too little, and
    /// for a job that something else keeps from becoming eligible.
    pub(crate) fn cpus(&self) -> Option<ReservedCpus> {
        let ReservedJob { size, eligible, started, record, .. } = &self.job;
        let promise = Promise::standing(record)?.reservation()?;
        let until = UnixTime(promise.at.0.checked_add(promise.own_limit?.0)?);
        Some(ReservedCpus { from: started.or(*eligible)?, until, cpus: size.cpus })
    }
}
