//! A job in the queue to which something was promised.

use job_types::number::{JobId, UserId};
use job_types::record::{Affiliation, Changed, Record};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};

/// A job in the queue that carries the record of a promise, a reserved time or an admission with a
/// deadline, as slurmctld has it now.
#[derive(Clone, Debug, PartialEq)]
pub struct QueuedJob {
    /// The job's number.
    pub id: JobId,
    /// The number of the user whose job it is.
    pub user: UserId,
    /// When the job came into the queue: with its submission, or since then with a requeue.
    pub submitted: UnixTime,
    /// The job's partition, or for a waiting job perhaps several, separated by commas.
    pub partition: Option<String>,
    /// The account that is charged for the job.
    pub account: Option<String>,
    /// The name of the job's quality of service.
    pub qos: Option<String>,
    /// The nodes and CPUs that the job has or asks for.
    pub size: Size,
    /// Whether the job gets whole nodes.
    pub whole_nodes: bool,
    /// The job's time limit; `None` is unlimited.
    pub limit: Option<Seconds>,
    /// The shortest time limit that backfilling may cut the job's back to.
    pub shortest_limit: Option<Seconds>,
    /// When the job becomes or became eligible; `None` where something else keeps it from that.
    pub eligible: Option<UnixTime>,
    /// When the job started, where it runs.
    pub started: Option<UnixTime>,
    /// For how much of the time since its start the job was suspended.
    pub suspended: Seconds,
    /// Whether the job is held, waits for other jobs, or is suspended.
    pub is_blocked: bool,
    /// How often the job was put back into the queue after it had started.
    pub restarts: u32,
    /// The priority that the job has now; 0 is held.
    pub priority: u32,
    /// What the site adds to the job's priority (`site_factor`); 0 where it adds nothing.
    pub site_factor: i64,
    /// The deadline that the job has in Slurm's own field.
    pub slurm_deadline: Option<UnixTime>,
    /// Whether slurmctld holds jobs to the limits of qualities of service and associations
    /// (`AccountingStorageEnforce`).
    pub accounting_is_enforced: bool,
    /// The record that the job carries.
    pub record: Record,
}

impl QueuedJob {
    /// Makes the job that a record describes, as slurmctld has it right after its submission: with
    /// the size that was promised, the last begin and time limit that the record names, and its
    /// partition, account and quality of service. Nothing keeps the job waiting.
    #[must_use]
    pub fn as_recorded(id: JobId, user: UserId, record: Record) -> Self {
        let Affiliation { partition, account, qos } = record.affiliation.clone().unwrap_or_default();
        Self {
            id,
            user,
            submitted: record.at,
            partition,
            account,
            qos,
            size: record.promised_size(),
            whole_nodes: false,
            limit: record.last_limit(),
            shortest_limit: None,
            eligible: record.last_begin(),
            started: None,
            suspended: Seconds::ZERO,
            is_blocked: false,
            restarts: 0,
            priority: 1,
            site_factor: 0,
            slurm_deadline: None,
            accounting_is_enforced: false,
            record,
        }
    }

    /// The partition, account and quality of service that it has now.
    #[must_use]
    pub fn affiliation(&self) -> Affiliation {
        Affiliation { partition: self.partition.clone(), account: self.account.clone(), qos: self.qos.clone() }
    }

    /// Whether it was put back into the queue after it had started.
    #[must_use]
    pub fn is_requeued(&self) -> bool {
        self.restarts > 0
    }

    /// Whether its user has made it larger than the promise was given for, while it waits for its
    /// first start.
    pub(super) fn is_larger_than_promised(&self) -> bool {
        let promised = self.record.promised_size();
        let waits = self.started.is_none() && !self.is_requeued();
        waits && (self.size.nodes > promised.nodes || self.size.cpus > promised.cpus)
    }

    /// What the daemon has changed in it.
    pub(super) fn changed(&self) -> Option<&Changed> {
        self.record.changed.as_ref()
    }
}
