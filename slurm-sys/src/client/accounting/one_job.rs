//! What slurmdbd recorded of one job.

use super::{AccountingConnection, EndedJobRecord, RECORD_FLAGS, accounting_error, view};
use crate::bindings::{self, slurmdb_job_rec_t};
use crate::client::library::libslurm;
use crate::client::list::{OwnedList, RecordList, TextList};
use crate::client::{ClientError, last_error};
use crate::job_number::selected_job;
use job_types::number::JobId;

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
        job_id: JobId,
        array_task: Option<u32>,
        mut each: impl FnMut(EndedJobRecord<'_>),
    ) -> Result<usize, ClientError> {
        let clusters = TextList::of(&[cluster])?;
        let mut job = [selected_job(job_id, array_task)];
        let jobs = RecordList::of(&mut job);
        // SAFETY: a structure of numbers and pointers; zero in all of them is "no condition".
        let mut condition: bindings::slurmdb_job_cond_t = unsafe { std::mem::zeroed() };
        condition.cluster_list = clusters.as_ptr();
        condition.step_list = jobs.as_ptr();
        condition.db_flags = bindings::FLAG_SLURMDB_JOB_NOTSET;
        condition.flags = RECORD_FLAGS;
        last_error::forget();
        // SAFETY: the connection is this object's; the condition and its lists outlive the call,
        // and libslurm only reads them.
        let records = unsafe { OwnedList::adopt(libslurm().slurmdb_jobs_get(self.connection, &raw mut condition)) };
        let records = records.ok_or_else(|| accounting_error("records of the job"))?;
        let mut count = 0;
        let mut received = false;
        let show = |record: &slurmdb_job_rec_t| {
            received = true;
            // SAFETY: its strings are null or null-terminated, and live as long as the record.
            if let Some(record) = unsafe { view(record) } {
                count += 1;
                each(record);
            }
        };
        // SAFETY: slurmdbd answers with a list of job records.
        unsafe { records.for_each_record(show) };
        if !received {
            self.check(cluster)?;
        }
        Ok(count)
    }
}
