//! Jobs in the queue that were admitted with a deadline.

use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use slurm_sys::client::controller::QueuedJob;
use upkeep::AdmittedJob;

use crate::known::promised::{Promised, Seen};

/// A job that was admitted with a deadline, and what a change of it has to find unchanged.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    pub(crate) job: AdmittedJob,
    pub(crate) seen: Seen,
    /// What somebody else has written behind the record.
    pub(crate) rest: String,
}

impl Admitted {
    pub(crate) fn new(job: &QueuedJob, promised: Promised, size: Size) -> Self {
        let Promised { record, rest, seen, started, is_blocked } = promised;
        let admitted = AdmittedJob {
            id: job.job_id,
            user: job.user_id,
            partition: job.partition.clone(),
            account: job.account.clone(),
            qos: job.qos.clone(),
            size,
            limit: job.time_limit_seconds.map(Seconds),
            shortest_limit: job.shortest_limit_seconds.map(Seconds),
            eligible: job.eligible.map(UnixTime),
            started,
            suspended: Seconds(job.suspended_seconds),
            is_blocked,
            restarts: job.restarts,
            priority: job.priority,
            site_factor: job.site_factor,
            slurm_deadline: job.deadline.map(UnixTime),
            record,
        };
        Self { job: admitted, seen, rest }
    }
}
