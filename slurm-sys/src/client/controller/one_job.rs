//! What slurmctld knows of one job.

use super::{Answer, QueuedJob, SHOW_FLAGS, queued_job};
use crate::bindings;
use crate::client::error::ClientError;
use crate::client::library::libslurm;
use crate::client::value;
use crate::job_number::JobNumber;
use job_types::number::JobId;
use serde::{Deserialize, Serialize};

/// A job that slurmctld still knows, ended or not. Times are Unix seconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownJob {
    /// The job as the queue shows it.
    pub job: QueuedJob,
    /// The task's number, where the job is one task of an array.
    pub array_task: Option<u32>,
    /// When it ended; `None` where it has not.
    pub ended: Option<i64>,
}

/// The records that slurmctld has under a job's number: one; several for an array or a
/// heterogeneous job; none where it does not know the number, be it that the job ended too long ago
/// (`MinJobAge` of slurm.conf) or never was.
///
/// # Errors
/// As [`jobs`](super::jobs).
pub fn jobs_with_number(job_id: JobId) -> Result<Vec<KnownJob>, ClientError> {
    // SAFETY: the place for the answer is ours.
    let asked = Answer::ask(
        "job",
        |libslurm| libslurm.slurm_free_job_info_msg,
        |place| unsafe { libslurm().slurm_load_job(place, JobNumber::of(job_id), SHOW_FLAGS) },
    );
    let answer = match asked {
        Ok(answer) => answer,
        Err(ClientError::Controller { code, .. }) if u32::try_from(code) == Ok(bindings::ESLURM_INVALID_JOB_ID) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    // SAFETY: not null (checked by `ask`), and its own array and count.
    let records = unsafe { answer.records((*answer.message).job_array, (*answer.message).record_count) };
    let known = |record: &bindings::slurm_job_info_t| {
        // SAFETY: a record of a live answer.
        let job = unsafe { queued_job(record) };
        let ended = job.ended;
        KnownJob { job, array_task: value::number(record.array_task_id), ended }
    };
    Ok(records.iter().map(known).collect())
}
