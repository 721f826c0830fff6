//! An allocation as the srun sees it that made it.

use job_types::number::JobId;
use std::ffi::CStr;

use crate::bindings::{job_info_msg_t, slurm_free_job_info_msg, slurm_load_job};
use crate::job_number::JobNumber;

/// The `admin_comment` of an allocation, asked of slurmctld; `None` where there is none, where
/// slurmctld does not answer, and for a batch job, which no srun made. Not UTF-8 is made so.
#[must_use]
pub fn admin_comment(job_id: JobId) -> Option<String> {
    let mut answer: *mut job_info_msg_t = std::ptr::null_mut();
    // SAFETY: slurm_load_job writes to the pointer only where it succeeds, and srun has initialised
    // the library.
    let status = unsafe { slurm_load_job(&raw mut answer, JobNumber::of(job_id), 0) };
    if status != 0 || answer.is_null() {
        return None;
    }
    // SAFETY: the answer is not null; it holds `record_count` job records, of this Slurm's layout
    // as the loader has compared the version that the plugin was built for, and lives until it is
    // freed below. Its strings end in zero.
    let comment = unsafe {
        let records = (*answer).job_array;
        if records.is_null() || (*answer).record_count == 0 {
            None
        } else {
            let job = &*records;
            let is_ours = job.job_id == job_id.0 && job.batch_flag == 0 && !job.admin_comment.is_null();
            is_ours.then(|| CStr::from_ptr(job.admin_comment).to_string_lossy().into_owned())
        }
    };
    // SAFETY: the answer came from slurm_load_job and nothing refers to it any more.
    unsafe { slurm_free_job_info_msg(answer) };
    comment
}
