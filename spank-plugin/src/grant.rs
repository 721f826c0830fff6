//! What slurmctld granted to a job, read by the srun that made its allocation.
//!
//! A batch job carries the grant in its environment. srun sends no environment with its request, so that the submit filter
//! has none to write to: it is read back from the record that the filter leaves in the job's `admin_comment`.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int};

use predictor_core::options::Mode;
use slurm_sys::bindings::{job_info_msg_t, slurm_free_job_info_msg, slurm_load_job};

/// Until when the job is to wait on its nodes, in Unix seconds; `None` where nothing was granted or nothing can be learnt.
pub(crate) fn hold_until(job_id: u32) -> Option<i64> {
    let comment = admin_comment(job_id)?;
    let comment: serde_json::Value = serde_json::from_str(&comment).ok()?;
    let record = comment.get("queuecast")?;
    // In a lower mode the record says what would have been written.
    if record.get("mode")?.as_str()? != Mode::Enforce.as_str() {
        return None;
    }
    record.get("written")?.get("hold_until")?.as_i64()
}

/// A job's `admin_comment`; `None` also where the job is a batch job, which was not allocated by an srun.
fn admin_comment(job_id: u32) -> Option<String> {
    let mut answer: *mut job_info_msg_t = std::ptr::null_mut();
    // SAFETY: slurm_load_job writes to the pointer only where it succeeds, and srun has initialised the library.
    let status: c_int = unsafe { slurm_load_job(&raw mut answer, job_id, 0) };
    if status != 0 || answer.is_null() {
        return None;
    }
    // SAFETY: the answer is not null; it holds `record_count` job records, of this Slurm's layout as the loader has
    // compared the version that the plugin was built for, and lives until it is freed below. Its strings end in zero.
    let comment = unsafe {
        let records = (*answer).job_array;
        if records.is_null() || (*answer).record_count == 0 {
            None
        } else {
            let job = &*records;
            let is_ours = job.job_id == job_id && job.batch_flag == 0 && !job.admin_comment.is_null();
            is_ours.then(|| CStr::from_ptr(job.admin_comment).to_string_lossy().into_owned())
        }
    };
    // SAFETY: the answer came from slurm_load_job and nothing refers to it any more.
    unsafe { slurm_free_job_info_msg(answer) };
    comment
}
