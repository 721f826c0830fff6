//! Jobs in the queue to which something was promised, as their records and slurmctld have them.

use job_types::joint::JointJobs;
use job_types::promise::Promise;
use job_types::promise::SlotAsked;
use job_types::record::Record;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use slurm_sys::client::JobState;
use slurm_sys::client::controller::QueuedJob;
use snapshot_writer::ReservedCpus;

/// A job to which something was promised, and what a change of it has to find unchanged.
#[derive(Debug, Clone)]
pub(crate) struct PromisedJob {
    pub(crate) job: upkeep::QueuedJob,
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
    partition: Option<String>,
    account: Option<String>,
    qos: Option<String>,
    nodes: Option<u32>,
    cpus: Option<u32>,
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

impl From<&QueuedJob> for Seen {
    fn from(job: &QueuedJob) -> Self {
        Self {
            submitted: job.submitted,
            state: job.state,
            partition: job.partition.clone(),
            account: job.account.clone(),
            qos: job.qos.clone(),
            nodes: job.requested_nodes,
            cpus: job.requested_cpus,
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
}

impl Seen {
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

impl PromisedJob {
    /// `None` for a job without a promise, of which there are most, for an array, and for a job
    /// that neither waits nor runs. `size` is the size that it has or asks for;
    /// `accounting_is_enforced` is whether slurmctld holds jobs to limits of accounting.
    pub(crate) fn new(job: &QueuedJob, size: impl FnOnce(&QueuedJob) -> Size, accounting_is_enforced: bool) -> Option<Self> {
        let (waits, is_suspended) = match job.state {
            JobState::Pending => (true, false),
            JobState::Running => (false, false),
            JobState::Suspended => (false, true),
            _ => return None,
        };
        let comment = job.admin_comment.as_deref().filter(|comment| Promise::may_be_in(comment) || SlotAsked::may_be_in(comment))?;
        let (record, rest) = Record::split(comment)?;
        if job.array_job_id.is_some() {
            return None;
        }
        let queued = upkeep::QueuedJob {
            id: job.job_id,
            user: job.user_id,
            submitted: job.submitted.map_or(record.at, UnixTime),
            partition: job.partition.clone(),
            account: job.account.clone(),
            qos: job.qos.clone(),
            size: size(job),
            whole_nodes: job.exclusive,
            limit: job.time_limit_seconds.map(Seconds),
            shortest_limit: job.shortest_limit_seconds.map(Seconds),
            eligible: job.eligible.map(UnixTime),
            started: if waits { None } else { Some(UnixTime(job.started?)) },
            suspended: Seconds(job.suspended_seconds),
            is_blocked: is_suspended || (waits && (job.priority == 0 || job.has_dependency)),
            restarts: job.restarts,
            priority: job.priority,
            site_factor: job.site_factor,
            slurm_deadline: job.deadline.map(UnixTime),
            accounting_is_enforced,
            record,
        };
        let joint = job.comment.as_deref().and_then(JointJobs::of_comment);
        Some(Self { job: queued, seen: Seen::from(job), rest: rest.to_owned(), joint })
    }

    /// Whether it runs in that partition, or that is the first of those that it waits for.
    pub(crate) fn is_in(&self, partition: &str) -> bool {
        self.job.partition.as_deref().and_then(|partitions| partitions.split(',').next()) == Some(partition)
    }

    /// What a reservation takes, as the snapshot describes it; `None` where its record says too
    /// little, and for a job that something else keeps from becoming eligible.
    pub(crate) fn reserved_cpus(&self) -> Option<ReservedCpus> {
        let upkeep::QueuedJob { size, eligible, started, record, .. } = &self.job;
        let promise = Promise::standing(record)?.reservation()?;
        let until = UnixTime(promise.at.0.checked_add(promise.own_limit?.0)?);
        Some(ReservedCpus { from: started.or(*eligible)?, until, cpus: size.cpus })
    }
}
