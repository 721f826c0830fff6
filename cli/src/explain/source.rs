//! What slurmctld or slurmdbd tells of a job.

use job_types::job::Ending;
use job_types::number::{JobId, UserId};
use serde::Serialize;
use slurm_sys::client::controller::{self, KnownJob};
use slurm_sys::client::{AccountingConnection, ClientError, EndedJobRecord, JobState, site};

use crate::failure::Failure;
use crate::job_name::JobName;
use crate::{output, user};

/// A job, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Job {
    pub(super) id: JobId,
    /// The array's number and the task's, where it is one.
    pub(super) array_task: Option<(JobId, Option<u32>)>,
    pub(super) source: &'static str,
    pub(super) state: &'static str,
    pub(super) user: Option<String>,
    pub(super) user_id: UserId,
    pub(super) partition: Option<String>,
    pub(super) nodes: u32,
    pub(super) cpus: u32,
    pub(super) limit_s: Option<i64>,
    pub(super) submitted: Option<i64>,
    pub(super) eligible: Option<i64>,
    pub(super) started: Option<i64>,
    pub(super) expected_start: Option<i64>,
    pub(super) ended: Option<i64>,
    pub(super) suspended_s: i64,
    /// How its last run ended; `None` where it has not.
    #[serde(skip)]
    pub(super) ending: Option<Ending>,
    /// How many runs of it have ended, where slurmdbd was asked: more than 1 after a requeue.
    pub(super) runs: Option<usize>,
    #[serde(skip)]
    pub(super) admin_comment: Option<String>,
}

/// Looks the job up: in slurmctld while it has not ended, else in slurmdbd, which also knows how
/// long it was suspended.
pub(super) fn find(name: JobName) -> Result<Option<Job>, Failure> {
    let queued = controller::jobs_with_number(name.id);
    let known = match &queued {
        Ok(jobs) => choose(jobs, name),
        Err(_) => None,
    };
    if let Some(job) = known.as_ref().filter(|job| job.ended.is_none()) {
        return Ok(Some(job.clone()));
    }
    match (from_accounting(name), queued) {
        (Ok(Some(job)), queued) => {
            if let Err(error) = queued {
                output::warn(&format!("{error}; the answer is slurmdbd's"));
            }
            Ok(Some(match known {
                // slurmdbd may learn of a short job's end before it learns of its start, with limit
                // and nodes: slurmctld has them all.
                Some(known) => Job {
                    source: job.source,
                    state: job.state,
                    ending: job.ending,
                    ended: job.ended,
                    suspended_s: job.suspended_s,
                    runs: job.runs,
                    ..known
                },
                None => job,
            }))
        }
        (Ok(None), Ok(_)) => Ok(known),
        (Err(error), Ok(_)) if known.is_some() => {
            output::warn(&format!("{error}; the answer is slurmctld's"));
            Ok(known)
        }
        (Ok(None), Err(error)) | (Err(error), Ok(_)) => Err(Failure::Input(error.into())),
        (Err(accounting), Err(queue)) if accounting == queue => Err(Failure::Input(queue.into())),
        (Err(accounting), Err(queue)) => {
            output::warn(&accounting.to_string());
            Err(Failure::Input(queue.into()))
        }
    }
}

/// The job that is meant among those that slurmctld has under the number: the task that is named,
/// else the one with that very number.
fn choose(jobs: &[KnownJob], name: JobName) -> Option<Job> {
    let found = match name.task {
        // Tasks that still wait are in one record without a task number.
        Some(task) => jobs.iter().find(|job| job.array_task == Some(task)).or(jobs.iter().find(|job| job.array_task.is_none())),
        None => jobs.iter().find(|job| job.job.job_id == name.id).or(jobs.first()),
    };
    found.map(queued)
}

fn queued(known: &KnownJob) -> Job {
    let job = &known.job;
    Job {
        id: job.job_id,
        array_task: job.array_job_id.map(|array| (array, known.array_task)),
        source: "slurmctld",
        state: state(job.state),
        // slurmctld names users only where it is configured to.
        user: job.user.clone().or_else(|| user::name(job.user_id)),
        user_id: job.user_id,
        partition: job.partition.clone(),
        nodes: job.nodes,
        cpus: job.cpus,
        limit_s: job.time_limit_seconds,
        submitted: job.submitted,
        eligible: job.eligible,
        started: job.started,
        expected_start: job.expected_start,
        ended: known.ended,
        ending: job.state.ending().filter(|_| known.ended.is_some()),
        suspended_s: 0,
        runs: None,
        admin_comment: job.admin_comment.clone(),
    }
}

fn from_accounting(name: JobName) -> Result<Option<Job>, ClientError> {
    let cluster = site()?.cluster;
    let mut runs: Vec<Job> = Vec::new();
    AccountingConnection::open()?.ended_runs(&cluster, name.id, name.task, |record| runs.push(ended(&record)))?;
    // An array's number brings all its tasks; the very job goes first, then what was submitted
    // last.
    let named = |job: &Job| job.id == name.id || name.task.is_some();
    let id = runs.iter().filter(|job| named(job)).chain(&runs).map(|job| job.id).next();
    runs.retain(|job| Some(job.id) == id);
    let count = runs.len();
    let last = runs.into_iter().max_by_key(|job| (job.submitted, job.ended));
    Ok(last.map(|job| Job { runs: Some(count), ..job }))
}

fn ended(record: &EndedJobRecord<'_>) -> Job {
    let owned = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned);
    Job {
        id: record.job_id,
        array_task: record.array.map(|array| (array.array_job_id, array.task_id)),
        source: "slurmdbd",
        state: state(record.state),
        user: owned(&record.user).or_else(|| user::name(record.user_id)),
        user_id: record.user_id,
        partition: owned(&record.partition),
        nodes: if record.allocated_nodes > 0 { record.allocated_nodes } else { record.requested_nodes.unwrap_or(0) },
        cpus: record.allocated_cpus.unwrap_or(record.requested_cpus),
        limit_s: record.time_limit_seconds,
        submitted: record.submitted,
        eligible: record.eligible,
        started: record.started,
        expected_start: None,
        ended: Some(record.ended),
        ending: record.state.ending(),
        suspended_s: record.suspended_seconds,
        runs: None,
        admin_comment: owned(&record.admin_comment),
    }
}

/// A word for a state, as sacct has it, in small letters.
fn state(state: JobState) -> &'static str {
    match state {
        JobState::Pending => "pending",
        JobState::Running => "running",
        JobState::Suspended => "suspended",
        JobState::Completing => "completing",
        JobState::Completed => "completed",
        JobState::Cancelled => "cancelled",
        JobState::Failed => "failed",
        JobState::TimedOut => "timeout",
        JobState::NodeFailed => "node_fail",
        JobState::Preempted => "preempted",
        JobState::BootFailed => "boot_fail",
        JobState::DeadlineMissed => "deadline",
        JobState::OutOfMemory => "out_of_memory",
        JobState::Requeued => "requeued",
        JobState::Resized => "resizing",
        JobState::Revoked => "revoked",
        JobState::Unknown(_) => "unknown",
    }
}
