//! What slurmctld granted to a job, read by the srun that made its allocation.
//!
//! A batch job carries the grant in its environment. srun sends no environment with its request, so
//! that the submit filter has none to write to: it is read back from the record that the filter
//! leaves in the job's `admin_comment`.

use predictor_core::options::Mode;
use predictor_core::record::Record;
use slurm_sys::allocation;

/// Until when the job is to wait on its nodes, in Unix seconds; `None` where nothing was granted or
/// nothing can be learnt.
pub(crate) fn hold_until(job_id: u32) -> Option<i64> {
    let record = Record::parse(&allocation::admin_comment(job_id)?)?;
    // In a lower mode the record says what would have been written.
    if record.mode == Mode::Enforce { record.written?.hold_until } else { None }
}
