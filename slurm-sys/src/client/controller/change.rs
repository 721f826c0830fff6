//! Changes of one job after its submission.
//!
//! What slurmctld makes of an update is in `_update_job` of src/slurmctld/job_mgr.c. Root and
//! `SlurmUser` are operators, who may lengthen a time limit as well as shorten it; the limits of
//! partitions, associations and qualities of service are not asked then, and a changed time limit
//! exempts the job from those of accounting from then on (`limit_set.time`). The caller has to
//! stay within them. The fields take effect one after the other: first the comment, then the
//! reservation, then the time limit, then the begin, and where one is refused, those before it
//! stay as changed; but whether the job may use the reservation is found before anything is
//! changed. An update with a changed reservation, time limit or begin is told to slurmdbd at once,
//! with the comment.

use super::refusal::Refusal;
use super::{ClientError, last_error, start};
use crate::bindings;
use crate::client::library::libslurm;
use crate::client::list::c_text;
use crate::client::value;
use crate::sentinel;
use job_types::number::JobId;
use job_types::time::{Seconds, UnixTime};
use thiserror::Error;

/// What is changed in a job; what is `None` stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobUpdate {
    /// When it becomes eligible (`--begin`). Of a job that has started it can't be changed, and is
    /// then the reason why the update is refused; a moment that has passed becomes the present.
    pub begin: Option<UnixTime>,
    /// The time limit, which slurmctld takes in whole minutes: it is rounded up. The end of a job
    /// that runs moves with it.
    pub limit: Option<Seconds>,
    /// The shortest time limit that backfilling may cut it back to (`--time-min`), rounded up
    /// likewise. A time limit below it is refused.
    pub shortest_limit: Option<Seconds>,
    /// Slurm's own deadline, which has to lie ahead. slurmctld leaves it as it is in a job that
    /// runs, and says nothing of that.
    pub deadline: Option<UnixTime>,
    /// The factor of the site, which priority/multifactor adds to the job's priority; within 32
    /// bits, as `nice` is. The priority follows at once (`set_job_prio` in `_update_job`), unless
    /// an operator has given the job a priority of its own.
    pub site_factor: Option<i64>,
    /// The reservation that a job which waits or runs is to use, by its name, or an empty text
    /// where it is to use none. A comma in it separates several. The job's own user must be among
    /// those of the reservation and the account among its accounts, whoever asks
    /// (`validate_job_resv` in src/slurmctld/reservation.c). A job that waits for a reservation
    /// waits only for that: it has no time from which it is eligible, and no place in the queue.
    pub reservation: Option<String>,
    /// The user's comment, whole.
    pub comment: Option<String>,
    /// The administrator's comment, whole.
    pub admin_comment: Option<String>,
}

/// Why a job was not changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ChangeError {
    /// The job has ended, or slurmctld does not know it any more.
    #[error("the job has ended")]
    Ended,
    /// The job has started, and its begin can't be changed any more.
    #[error("the job has started")]
    Started,
    /// The reservation that the job is to use is not there, or not any more.
    #[error("there is no such reservation")]
    NoReservation,
    /// Whoever asks is no operator of this cluster.
    #[error("slurmctld lets only root, SlurmUser and operators change others' jobs: {reason} (Slurm error {code})")]
    Denied {
        /// Slurm's error number.
        code: i32,
        /// Slurm's own words for it.
        reason: String,
    },
    /// slurmctld refused the change for another reason.
    #[error("slurmctld refused the change: {reason} (Slurm error {code})")]
    Refused {
        /// Slurm's error number.
        code: i32,
        /// Slurm's own words for it.
        reason: String,
    },
    /// slurmctld did not answer; the change may have been made all the same.
    #[error(transparent)]
    Away(#[from] ClientError),
}

/// Changes a job that is neither an array nor one of its tasks nor a component of a heterogeneous
/// job.
///
/// # Errors
/// [`ChangeError`]; what was changed before the field that was refused stays changed.
pub fn update_job(job: JobId, update: &JobUpdate) -> Result<(), ChangeError> {
    let admin_comment = update.admin_comment.as_deref().map(c_text).transpose()?;
    let comment = update.comment.as_deref().map(c_text).transpose()?;
    let reservation = update.reservation.as_deref().map(c_text).transpose()?;
    start::initialise()?;
    // SAFETY: numbers and pointers, for which zero is a value; libslurm fills it in right away.
    let mut description: bindings::job_desc_msg_t = unsafe { std::mem::zeroed() };
    // SAFETY: a job description of our own, and libslurm is initialised.
    unsafe { libslurm().slurm_init_job_desc_msg(&raw mut description) };
    set_job(&mut description, job);
    if let Some(begin) = update.begin {
        // Zero would mean that nothing is to change.
        description.begin_time = begin.0.max(1);
    }
    if let Some(limit) = update.limit {
        description.time_limit = value::minutes(limit);
    }
    if let Some(shortest) = update.shortest_limit {
        description.time_min = value::minutes(shortest);
    }
    if let Some(deadline) = update.deadline {
        description.deadline = deadline.0.max(1);
    }
    if let Some(site_factor) = update.site_factor {
        description.site_factor = sentinel::nice_offset(site_factor);
    }
    if let Some(reservation) = &reservation {
        description.reservation = reservation.as_ptr().cast_mut();
    }
    if let Some(comment) = &comment {
        description.comment = comment.as_ptr().cast_mut();
    }
    if let Some(comment) = &admin_comment {
        description.admin_comment = comment.as_ptr().cast_mut();
    }
    last_error::forget();
    // SAFETY: a job description as libslurm initialised it; its texts are ours, they live until
    // the call has returned, and libslurm only reads them.
    answered(unsafe { libslurm().slurm_update_job(&raw mut description) }, "change of a job")
}

/// Cancels a job, whether it waits or runs, as `scancel` does.
///
/// # Errors
/// [`ChangeError`].
pub fn cancel_job(job: JobId) -> Result<(), ChangeError> {
    start::initialise()?;
    let number = c_text(&job.0.to_string())?;
    #[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "signal number 9")]
    let signal = libc::SIGKILL as u16;
    last_error::forget();
    // SAFETY: a null-terminated number that lives until the call has returned; null means that the
    // job is this cluster's own.
    answered(unsafe { libslurm().slurm_kill_job2(number.as_ptr(), signal, 0, std::ptr::null()) }, "cancellation of a job")
}

/// Says which job an update is of: by its number in releases up to 25.05, by the identifier of a
/// step later on.
fn set_job(description: &mut bindings::job_desc_msg_t, job: JobId) {
    #[cfg(job_id_in_step_id)]
    {
        use crate::job_number::JobNumber;
        description.step_id = JobNumber::of(job);
    }
    #[cfg(not(job_id_in_step_id))]
    {
        description.job_id = job.0;
    }
}

/// What libslurm's return code and the thread's last error say of a change.
fn answered(status: i32, what: &'static str) -> Result<(), ChangeError> {
    if status == 0 {
        return Ok(());
    }
    let (code, reason) = last_error::last();
    Err(failure(what, code, reason))
}

/// The kind of a failure, by Slurm's number (slurm/slurm_errno.h).
fn failure(what: &'static str, code: i32, reason: String) -> ChangeError {
    match u32::try_from(code).unwrap_or(0) {
        bindings::ESLURM_INVALID_JOB_ID | bindings::ESLURM_ALREADY_DONE | bindings::ESLURM_JOB_FINISHED => ChangeError::Ended,
        bindings::ESLURM_JOB_NOT_PENDING => ChangeError::Started,
        bindings::ESLURM_RESERVATION_INVALID => ChangeError::NoReservation,
        _ => match Refusal::of(what, code, reason) {
            Refusal::Denied { code, reason } => ChangeError::Denied { code, reason },
            Refusal::Refused { code, reason } => ChangeError::Refused { code, reason },
            Refusal::Away(error) => ChangeError::Away(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(code: u32) -> ChangeError {
        failure("change of a job", i32::try_from(code).unwrap(), String::new())
    }

    #[test]
    fn a_refusal_is_told_from_no_answer_by_slurms_number() {
        assert_eq!(kind(bindings::ESLURM_INVALID_JOB_ID), ChangeError::Ended);
        assert_eq!(kind(bindings::ESLURM_JOB_NOT_PENDING), ChangeError::Started);
        assert_eq!(kind(bindings::ESLURM_RESERVATION_INVALID), ChangeError::NoReservation);
        assert!(matches!(kind(bindings::ESLURM_USER_ID_MISSING), ChangeError::Denied { .. }));
        assert!(matches!(kind(bindings::ESLURM_INVALID_TIME_LIMIT), ChangeError::Refused { .. }));
        assert!(matches!(kind(bindings::SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR), ChangeError::Away(_)));
    }
}
