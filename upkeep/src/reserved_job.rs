//! What the upkeep of reservations asks of a job.

use crate::queued_job::QueuedJob;
use job_types::time::Seconds;
use predictor_core::decisions::site::{Partition, Site};
use predictor_core::decisions::{Bound, Bounds, NodeRange, Submission, TimeLimit};

impl QueuedJob {
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
        let written = self.changed().and_then(|changed| changed.limit_s).map(Seconds);
        written == Some(limit) || (written.is_some() && is_cut_back(self, limit))
    }
}

/// Whether a limit can be what Slurm has made of the job's own as it started it: of a job with
/// `--time-min` backfilling cuts the limit back as far as it has to, and no farther than to that
/// (src/plugins/sched/backfill/backfill.c, `_reset_job_time_limit`). A user who shortens the limit
/// of a running job as much is not told from that, and loses nothing: a limit of a job that runs is
/// never made longer.
pub(super) fn is_cut_back(job: &QueuedJob, limit: Seconds) -> bool {
    let has_started = job.started.is_some() || job.is_requeued();
    let is_no_shorter = job.shortest_limit.is_some_and(|shortest| limit >= shortest);
    has_started && is_no_shorter && job.record.last_limit().is_some_and(|last| limit < last)
}
