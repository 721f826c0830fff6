//! Jobs in the queue to which something was promised, as their records and slurmctld have them.

use job_types::promise::Promise;
use job_types::record::Record;
use job_types::time::UnixTime;
use slurm_sys::client::JobState;
use slurm_sys::client::controller::QueuedJob;

/// What is looked at of such a job, whatever was promised.
#[derive(Debug)]
pub(crate) struct Promised {
    pub(crate) record: Record,
    /// What somebody else has written behind the record.
    pub(crate) rest: String,
    pub(crate) seen: Seen,
    /// When it started, where it runs.
    pub(crate) started: Option<UnixTime>,
    /// Whether it is held, waits for other jobs, or is suspended.
    pub(crate) is_blocked: bool,
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

impl Seen {
    pub(crate) fn of(job: &QueuedJob) -> Self {
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

impl Promised {
    /// `None` for a job without a promise, of which there are most, for an array, and for a job
    /// that neither waits nor runs.
    pub(crate) fn of(job: &QueuedJob) -> Option<Self> {
        let (waits, is_suspended) = match job.state {
            JobState::Pending => (true, false),
            JobState::Running => (false, false),
            JobState::Suspended => (false, true),
            _ => return None,
        };
        let comment = job.admin_comment.as_deref().filter(|comment| Promise::may_be_in(comment))?;
        let (record, rest) = Record::split(comment)?;
        if job.array_job_id.is_some() {
            return None;
        }
        Some(Self {
            record,
            rest: rest.to_owned(),
            seen: Seen::of(job),
            started: if waits { None } else { Some(UnixTime(job.started?)) },
            is_blocked: is_suspended || (waits && (job.priority == 0 || job.has_dependency)),
        })
    }
}
