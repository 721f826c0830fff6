//! What slurmdbd recorded of one job.

use std::ptr;

use super::{AccountingConnection, EndedJobRecord, RECORD_FLAGS, accounting_error, text_list, view};
use crate::bindings::{self, slurmdb_job_rec_t};
use crate::client::error::{self, ClientError};
use crate::client::library::libslurm;
use crate::client::list::OwnedList;

impl AccountingConnection {
    /// Calls `each` for every run that has ended of the job of `cluster` with this number, or of
    /// the one task `array_task` of the array with this number. Returns how many there were.
    ///
    /// An array's number stands for all of its tasks that have run, whatever their own numbers.
    ///
    /// # Errors
    /// As [`AccountingConnection::ended_jobs`].
    pub fn ended_runs(
        &mut self,
        cluster: &str,
        job_id: u32,
        array_task: Option<u32>,
        mut each: impl FnMut(EndedJobRecord<'_>),
    ) -> Result<usize, ClientError> {
        let clusters = text_list(&[cluster])?;
        // SAFETY: a structure of numbers and pointers; what has to be another value than zero is
        // set below.
        let mut job: bindings::slurm_selected_step_t = unsafe { std::mem::zeroed() };
        job.array_task_id = array_task.unwrap_or(bindings::NO_VAL);
        job.het_job_offset = bindings::NO_VAL;
        job.step_id.job_id = job_id;
        job.step_id.step_id = bindings::NO_VAL;
        job.step_id.step_het_comp = bindings::NO_VAL;
        // SAFETY: no destructor, so that libslurm does not free our structure; the list is ours
        // from here.
        let jobs = unsafe { OwnedList::adopt(libslurm().slurm_list_create(None)) }.ok_or_else(|| accounting_error("list"))?;
        // SAFETY: the list is valid, and the structure outlives it: it is declared first.
        unsafe { libslurm().slurm_list_append(jobs.as_ptr(), ptr::from_mut(&mut job).cast()) };
        // SAFETY: a structure of numbers and pointers; zero in all of them is "no condition".
        let mut condition: bindings::slurmdb_job_cond_t = unsafe { std::mem::zeroed() };
        condition.cluster_list = clusters.as_ptr();
        condition.step_list = jobs.as_ptr();
        condition.db_flags = bindings::FLAG_SLURMDB_JOB_NOTSET;
        condition.flags = RECORD_FLAGS;
        error::forget();
        // SAFETY: the connection is this object's; the condition and its lists outlive the call,
        // and libslurm only reads them.
        let records = unsafe { OwnedList::adopt(libslurm().slurmdb_jobs_get(self.connection, &raw mut condition)) };
        let records = records.ok_or_else(|| accounting_error("records of the job"))?;
        let mut count = 0;
        let mut received = false;
        records.for_each(|record| {
            received = true;
            // SAFETY: slurmdbd answers with a list of job records; the list frees them after this
            // call only.
            let record = unsafe { record.cast::<slurmdb_job_rec_t>().as_ref() };
            // SAFETY: as above: its strings are null or null-terminated, and live as long as the
            // record.
            if let Some(record) = record.and_then(|record| unsafe { view(record) }) {
                count += 1;
                each(record);
            }
        });
        if !received {
            self.check(cluster)?;
        }
        Ok(count)
    }
}
