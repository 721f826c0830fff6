//! A job in the queue that carries the record of a reservation.

use job_types::number::{JobId, UserId};
use job_types::record::{Affiliation, Record};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::site::{Partition, Site};
use predictor_core::decisions::{Bound, Bounds, NodeRange, Submission, TimeLimit};

/// A job in the queue that carries the record of a reservation, as slurmctld has it now.
#[derive(Clone, Debug, PartialEq)]
pub struct ReservedJob {
    /// Its number.
    pub id: JobId,
    /// Its user.
    pub user: UserId,
    /// Its partitions, separated by commas.
    pub partition: Option<String>,
    /// Its account.
    pub account: Option<String>,
    /// Its quality of service.
    pub qos: Option<String>,
    /// Its size.
    pub size: Size,
    /// Whether it gets whole nodes.
    pub whole_nodes: bool,
    /// Its time limit; `None` is unlimited.
    pub limit: Option<Seconds>,
    /// The shortest time limit that backfilling may cut it back to.
    pub shortest_limit: Option<Seconds>,
    /// When it becomes or became eligible; `None` where something else keeps it from that.
    pub eligible: Option<UnixTime>,
    /// When it started, where it runs.
    pub started: Option<UnixTime>,
    /// Whether it is held, waits for other jobs, or is suspended.
    pub is_blocked: bool,
    /// Whether it was put back into the queue after it had started.
    pub is_requeued: bool,
    /// Whether slurmctld holds jobs to the limits of qualities of service and associations
    /// (`AccountingStorageEnforce`).
    pub accounting_is_enforced: bool,
    /// Its record.
    pub record: Record,
}

impl ReservedJob {
    /// The partition, account and quality of service that it has now.
    #[must_use]
    pub fn affiliation(&self) -> Affiliation {
        Affiliation { partition: self.partition.clone(), account: self.account.clone(), qos: self.qos.clone() }
    }

    /// The job as a submission of today would describe it, with its time limit.
    pub(super) fn submission(&self, limit: Seconds) -> Submission<'_> {
        Submission {
            user: self.user,
            partition: self.partition.as_deref(),
            account: self.account.as_deref(),
            qos: self.qos.as_deref(),
            nodes: Some(NodeRange { least: self.size.nodes, most: self.size.nodes }),
            min_cpus: Some(self.size.cpus),
            whole_nodes: self.whole_nodes,
            limit: TimeLimit::Limited(limit),
            ..Submission::default()
        }
    }

    /// The longest time limit that it may have by what partition, quality of service and account
    /// allow now; `None` is any.
    pub(super) fn longest_limit(&self, limit: Seconds, partition: &Partition<'_>, site: &impl Site) -> Option<Bound<Seconds>> {
        Bounds::of(&self.submission(limit), partition, site).longest_limit(self.size)
    }

    /// Whether the time limit that it has was written by the daemon. slurmctld marks such a limit
    /// as an administrator's, and no longer holds the job to what partition, quality of service and
    /// account allow.
    pub(super) fn limit_is_the_daemons(&self, limit: Seconds) -> bool {
        let written = self.record.changed.as_ref().and_then(|changed| changed.limit_s).map(Seconds);
        written == Some(limit) || (written.is_some() && is_cut_back(self, limit))
    }

    /// Whether its user has made it larger than the promise was given for, while it waits for its
    /// first start.
    pub(super) fn is_larger_than_promised(&self) -> bool {
        let promised = self.record.promised_size();
        let waits = self.started.is_none() && !self.is_requeued;
        waits && (self.size.nodes > promised.nodes || self.size.cpus > promised.cpus)
    }
}

/// Whether a limit can be what Slurm has made of the job's own as it started it: of a job with
/// `--time-min` backfilling cuts the limit back as far as it has to, and no farther than to that
/// (src/plugins/sched/backfill/backfill.c, `_reset_job_time_limit`). A user who shortens the limit
/// of a running job as much is not told from that, and loses nothing: a limit of a job that runs is
/// never made longer.
pub(super) fn is_cut_back(job: &ReservedJob, limit: Seconds) -> bool {
    let has_started = job.started.is_some() || job.is_requeued;
    let is_no_shorter = job.shortest_limit.is_some_and(|shortest| limit >= shortest);
    has_started && is_no_shorter && job.record.last_limit().is_some_and(|last| limit < last)
}
