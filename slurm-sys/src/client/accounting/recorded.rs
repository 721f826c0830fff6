//! What slurmdbd has recorded of some jobs, whether they have ended or not.

use super::{AccountingConnection, RECORD_FLAGS, accounting_error, has_nodes};
use crate::bindings::{self, slurmdb_job_rec_t};
use crate::client::library::libslurm;
use crate::client::list::{OwnedList, RecordList, TextList};
use crate::client::{ClientError, JobState, last_error, value};
use crate::job_number::selected_job;
use job_types::number::{JobId, UserId};

/// One run of a job that has started, as slurmdbd has it so far. Times are Unix seconds. slurmctld
/// tells of starts some seconds late, and hours late where it could not reach slurmdbd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedRun {
    /// The job's number.
    pub job_id: JobId,
    /// The user's number.
    pub user_id: UserId,
    /// When the job was submitted, or put back into the queue.
    pub submitted: i64,
    /// When the run started.
    pub started: i64,
    /// When the run ended; `None` while it goes on.
    pub ended: Option<i64>,
    /// The state of the run.
    pub state: JobState,
    /// The administrator's comment, which slurmdbd gets when the job ends, and with a change of its
    /// limit or begin.
    pub admin_comment: Option<String>,
}

impl AccountingConnection {
    /// The runs of these jobs of `cluster` that have started. slurmdbd takes a cluster's name into
    /// the names of tables: it has to be one that a cluster can have.
    ///
    /// # Errors
    /// As [`AccountingConnection::ended_jobs`].
    pub fn started_runs(&mut self, cluster: &str, jobs: &[JobId]) -> Result<Vec<RecordedRun>, ClientError> {
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        // A question about a cluster that is not there is an error of the database.
        self.check(cluster)?;
        let clusters = TextList::of(&[cluster])?;
        let mut selected: Vec<_> = jobs.iter().map(|job| selected_job(*job, None)).collect();
        let selected = RecordList::of(&mut selected);
        // SAFETY: a structure of numbers and pointers; zero in all of them is "no condition".
        let mut condition: bindings::slurmdb_job_cond_t = unsafe { std::mem::zeroed() };
        condition.cluster_list = clusters.as_ptr();
        condition.step_list = selected.as_ptr();
        condition.db_flags = bindings::FLAG_SLURMDB_JOB_NOTSET;
        condition.flags = RECORD_FLAGS;
        last_error::forget();
        // SAFETY: the connection is this object's; the condition and its lists outlive the call,
        // and libslurm only reads them.
        let records = unsafe { OwnedList::adopt(libslurm().slurmdb_jobs_get(self.connection, &raw mut condition)) };
        let records = records.ok_or_else(|| accounting_error("records of jobs"))?;
        self.end_transaction()?;
        let mut runs = Vec::new();
        // SAFETY: slurmdbd answers with a list of job records, whose strings are null or
        // null-terminated and live as long as the record.
        unsafe { records.for_each_record(|record: &slurmdb_job_rec_t| runs.extend(run(record))) };
        Ok(runs)
    }
}

/// `None` for a record of a job that has not started, or never did.
///
/// # Safety
/// The record's strings are null or null-terminated.
unsafe fn run(record: &slurmdb_job_rec_t) -> Option<RecordedRun> {
    // SAFETY: the caller's promise, for each of the record's strings.
    let text = |pointer| unsafe { value::owned_text(pointer) };
    // Some releases (22.05) record, as the start of a job that was cancelled while it waited, the
    // moment of its end; it was allocated nothing.
    let has_started = has_nodes(record) || text(record.tres_alloc_str).is_some_and(|allocated| !allocated.is_empty());
    Some(RecordedRun {
        job_id: JobId(record.jobid),
        user_id: UserId(record.uid),
        submitted: value::moment(record.submit)?,
        started: value::moment(record.start).filter(|_start| has_started)?,
        ended: value::moment(record.end),
        state: JobState::from_raw(record.state),
        admin_comment: text(record.admin_comment),
    })
}
