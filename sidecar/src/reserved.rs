//! Jobs in the queue that carry a reservation.

use job_types::joint::JointJobs;
use job_types::record::Record;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decision::{ReservedJob, written_reservation};
use predictor_core::snapshot::ReservedCpus;
use slurm_sys::client::JobState;
use slurm_sys::client::controller::QueuedJob;

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

/// What is looked at again right before a change: whatever of it has become something else, the
/// change was not meant for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    submitted: Option<i64>,
    state: JobState,
    limit_seconds: Option<i64>,
    shortest_limit_seconds: Option<i64>,
    eligible: Option<i64>,
    started: Option<i64>,
    restarts: u32,
    is_held: bool,
    has_dependency: bool,
    deadline: Option<i64>,
    site_factor: i64,
    admin_comment: Option<String>,
}

impl Seen {
    pub(crate) fn of(job: &QueuedJob) -> Self {
        Self {
            submitted: job.submitted,
            state: job.state,
            limit_seconds: job.time_limit_seconds,
            shortest_limit_seconds: job.shortest_limit_seconds,
            eligible: job.eligible,
            started: job.started,
            restarts: job.restarts,
            is_held: job.priority == 0,
            has_dependency: job.has_dependency,
            deadline: job.deadline,
            site_factor: job.site_factor,
            admin_comment: job.admin_comment.clone(),
        }
    }

    /// Whether the job has started.
    pub(crate) fn has_started(&self) -> bool {
        self.started.is_some()
    }

    /// When the job was submitted, by which a number that is given again is told from the one
    /// before.
    pub(crate) fn submitted(&self) -> Option<i64> {
        self.submitted
    }
}

impl Reserved {
    /// `None` for a job without the record of a reservation, of which there are most, for an array,
    /// and for a job that neither waits nor runs.
    pub(crate) fn of(job: &QueuedJob, size: Size) -> Option<Self> {
        let (waits, is_suspended) = match job.state {
            JobState::Pending => (true, false),
            JobState::Running => (false, false),
            JobState::Suspended => (false, true),
            _ => return None,
        };
        let comment = job.admin_comment.as_deref().filter(|comment| comment.starts_with('{') && comment.contains("\"reserved_at\""))?;
        let (record, rest) = Record::split(comment)?;
        record.written.as_ref()?.reserved_at?;
        if job.array_job_id.is_some() {
            return None;
        }
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
            started: if waits { None } else { Some(UnixTime(job.started?)) },
            is_blocked: is_suspended || (waits && (job.priority == 0 || job.has_dependency)),
            is_requeued: job.restarts > 0,
            record,
        };
        Some(Self {
            job: reserved,
            seen: Seen::of(job),
            rest: rest.to_owned(),
            joint: job.comment.as_deref().and_then(JointJobs::of_comment),
        })
    }

    /// Whether it runs in that partition, or that is the first of those that it waits for.
    pub(crate) fn is_in(&self, partition: &str) -> bool {
        self.job.partition.as_deref().and_then(|partitions| partitions.split(',').next()) == Some(partition)
    }

    /// What it takes, as the snapshot describes it; `None` where its record says too little, and
    /// for a job that something else keeps from becoming eligible.
    pub(crate) fn cpus(&self) -> Option<ReservedCpus> {
        let ReservedJob { size, eligible, started, record, .. } = &self.job;
        let (written, at) = written_reservation(record)?;
        let until = UnixTime(at.0.checked_add(written.own_limit_s?)?);
        Some(ReservedCpus { from: started.or(*eligible)?, until, cpus: size.cpus })
    }
}
