//! A job's number as the installed libslurm takes it.

use crate::bindings::{NO_VAL, slurm_selected_step_t, slurm_step_id_t};
use job_types::number::JobId;

/// What `slurm_load_job` takes for a job: its number in 22.05 and 24.11, the identifier of a step
/// in 26.05. The headers decide which, as the type of the argument is inferred from them.
pub(crate) trait JobNumber {
    /// The job with this number, whole.
    fn of(job_id: JobId) -> Self;
}

impl JobNumber for u32 {
    fn of(job_id: JobId) -> Self {
        job_id.0
    }
}

impl JobNumber for slurm_step_id_t {
    fn of(job_id: JobId) -> Self {
        // SAFETY: a structure of numbers; of those that only later releases have, zero is "not set"
        // (slurm/slurm.h, SLURM_STEP_ID_INITIALIZER).
        let mut step: Self = unsafe { std::mem::zeroed() };
        step.job_id = job_id.0;
        step.step_id = NO_VAL;
        step.step_het_comp = NO_VAL;
        step
    }
}

/// A job as conditions of slurmdbd take it: whole, or one task of the array with this number.
pub(crate) fn selected_job(job_id: JobId, array_task: Option<u32>) -> slurm_selected_step_t {
    // SAFETY: a structure of numbers and pointers; what has to be another value than zero is set
    // below.
    let mut job: slurm_selected_step_t = unsafe { std::mem::zeroed() };
    job.array_task_id = array_task.unwrap_or(NO_VAL);
    job.het_job_offset = NO_VAL;
    job.step_id = slurm_step_id_t::of(job_id);
    job
}
