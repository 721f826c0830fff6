//! An allocation as the salloc or srun sees it that made it.

use job_types::number::{JobId, UserId};
use job_types::time::UnixTime;
use std::ffi::CStr;

use crate::bindings::{
    ESLURM_INVALID_JOB_ID, JOB_COMPLETE, JOB_STATE_BASE, job_info_msg_t, slurm_free_job_info_msg, slurm_job_info_t, slurm_load_job,
};
use crate::errno;
use crate::job_number::JobNumber;

/// An allocation, as slurmctld tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The `admin_comment` of the allocation's job; what is not UTF-8 is made so.
    pub admin_comment: Option<String>,
    /// When its time limit ends the allocation; `None` where it has none.
    pub end: Option<UnixTime>,
}

/// What slurmctld says of an allocation; `None` where it does not answer, and for a batch job,
/// which no salloc or srun made.
#[must_use]
pub fn load(job_id: JobId) -> Option<Allocation> {
    load_job(job_id, |job| (job.batch_flag == 0).then(|| Allocation { admin_comment: admin_comment(job), end: end(job) })).ok().flatten()
}

/// A job as slurmctld tells of it to the node that it runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningJob {
    /// The job's number.
    pub id: JobId,
    /// The number of the user whose job it is.
    pub user: UserId,
    /// When the job was submitted, or put back into the queue.
    pub submitted: Option<UnixTime>,
    /// The job's `admin_comment`; what is not UTF-8 is made so.
    pub admin_comment: Option<String>,
    /// When the job began; `None` where that is not said.
    pub start: Option<UnixTime>,
    /// When its time limit ends the job; `None` where it has none.
    pub end: Option<UnixTime>,
}

/// What slurmctld says of a job that runs.
///
/// # Errors
/// The number of Slurm's error; 0 where slurmctld has sent another job or none.
pub fn running(job_id: JobId) -> Result<RunningJob, i32> {
    load_job(job_id, |job| RunningJob {
        id: JobId(job.job_id),
        user: UserId(job.user_id),
        submitted: (job.submit_time > 0).then_some(UnixTime(job.submit_time)),
        admin_comment: admin_comment(job),
        start: (job.start_time > 0).then_some(UnixTime(job.start_time)),
        end: end(job),
    })
}

fn admin_comment(job: &slurm_job_info_t) -> Option<String> {
    // SAFETY: a string of a job record is null or ends in zero, and is copied here.
    unsafe { job.admin_comment.as_ref().map(|comment| CStr::from_ptr(comment).to_string_lossy().into_owned()) }
}

/// Slurm writes 0 where it is not known, and the end of time for none.
fn end(job: &slurm_job_info_t) -> Option<UnixTime> {
    (job.end_time > 0 && job.time_limit != crate::bindings::INFINITE).then_some(UnixTime(job.end_time))
}

/// Whether slurmctld says that an allocation has ended. Where it does not answer, nothing is known
/// of an end.
#[must_use]
pub fn has_ended(job_id: JobId) -> bool {
    let ended = load_job(job_id, |job| (job.job_state & JOB_STATE_BASE) >= JOB_COMPLETE);
    ended.unwrap_or_else(|code| code == ESLURM_INVALID_JOB_ID as i32)
}

/// Reads something of the record of a job.
///
/// # Errors
/// The number of Slurm's error; 0 where slurmctld has sent another job or none.
fn load_job<T>(job_id: JobId, read: impl FnOnce(&slurm_job_info_t) -> T) -> Result<T, i32> {
    let mut answer: *mut job_info_msg_t = std::ptr::null_mut();
    errno::set(0);
    // SAFETY: slurm_load_job writes to the pointer only where it succeeds, and the command that
    // loaded the plugin has initialised the library.
    let status = unsafe { slurm_load_job(&raw mut answer, JobNumber::of(job_id), 0) };
    if status != 0 || answer.is_null() {
        return Err(errno::get());
    }
    // SAFETY: the answer is not null; it holds `record_count` job records, of this Slurm's layout
    // as the loader has compared the version that the plugin was built for, and lives until it is
    // freed below.
    let found = unsafe {
        let records = (*answer).job_array;
        if records.is_null() || (*answer).record_count == 0 { None } else { Some(&*records).filter(|job| job.job_id == job_id.0).map(read) }
    };
    // SAFETY: the answer came from slurm_load_job and nothing refers to it any more.
    unsafe { slurm_free_job_info_msg(answer) };
    found.ok_or(0)
}
