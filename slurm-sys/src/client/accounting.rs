//! Records of ended jobs, from slurmdbd.

use job_types::number::{JobId, QosId, UserId};
use job_types::promise::ReservedRun;
use job_types::time::UnixTime;
use job_types::tres;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::c_void;
use std::ops::Range;

use super::list::{OwnedList, TextList};
use super::state::{self, JobState};
use super::{ClientError, last_error};
use super::{start, value};
use crate::bindings::{self, slurmdb_job_rec_t, slurmdb_qos_rec_t};
use crate::client::library::libslurm;

mod one_job;
mod recorded;
mod reservations;
mod windows;

pub use recorded::RecordedRun;
pub use reservations::RecordedReservation;
pub use windows::WindowWidth;

/// Every run of a requeued job, not only its last; no steps, which are one more query for each job;
/// times as they were, not cut to the window.
const RECORD_FLAGS: u32 = bindings::FLAG_JOBCOND_DUP | bindings::FLAG_JOBCOND_NO_STEP | bindings::FLAG_JOBCOND_NO_TRUNC;

/// A connection to slurmdbd.
///
/// It is made by [`AccountingConnection::open`] where that succeeds, and again by the first
/// question after it was lost: a question that fails leaves the connection usable, so keep it.
#[derive(Debug)]
pub struct AccountingConnection {
    connection: *mut c_void,
}

// SAFETY: libslurm keeps no thread-local state for a connection; `&mut self` lets one thread use it
// at a time.
unsafe impl Send for AccountingConnection {}

/// One task of a job array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayTask {
    /// The array's own number, as users see it.
    pub array_job_id: JobId,
    /// The task's number; `None` for the record of all tasks that never ran.
    pub task_id: Option<u32>,
}

/// What slurmdbd recorded of one run of a job. Times are Unix seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct EndedJobRecord<'a> {
    /// The job's number.
    pub job_id: JobId,
    /// The array and the task; `None` if the job is no task of an array.
    pub array: Option<ArrayTask>,
    /// The user's number.
    pub user_id: UserId,
    /// The user's name; absent where the association has been removed.
    pub user: Option<Cow<'a, str>>,
    /// The account charged.
    pub account: Option<Cow<'a, str>>,
    /// The partition that the job ran in, or the partitions that it was submitted to, separated by
    /// commas.
    pub partition: Option<Cow<'a, str>>,
    /// Number of the quality of service.
    pub qos_id: QosId,
    /// The job's name.
    pub name: Option<Cow<'a, str>>,
    /// The features of nodes that it asked for.
    pub features: Option<Cow<'a, str>>,
    /// The key by which its work is accounted; an asterisk is before one that Slurm has chosen.
    pub wckey: Option<Cow<'a, str>>,
    /// The directory that it ran in.
    pub work_dir: Option<Cow<'a, str>>,
    /// The command by which it was submitted, its words with spaces between them and without the
    /// quotation marks that a shell took away.
    pub submit_line: Option<Cow<'a, str>>,
    /// CPUs requested.
    pub requested_cpus: u32,
    /// CPUs allocated; absent where the job never started.
    pub allocated_cpus: Option<u32>,
    /// Nodes requested, where the record tells.
    pub requested_nodes: Option<u32>,
    /// Nodes allocated; 0 where the job never started.
    pub allocated_nodes: u32,
    /// Memory requested for the whole job, in MiB, where the record tells.
    pub requested_memory_mebibytes: Option<u64>,
    /// The time limit in seconds; `None` where there was none, or where nobody noted it.
    pub time_limit_seconds: Option<i64>,
    /// Whether the record says that there was no time limit.
    pub is_unlimited: bool,
    /// When the job was submitted (or requeued).
    pub submitted: Option<i64>,
    /// When nothing but resources and priority kept the job waiting.
    pub eligible: Option<i64>,
    /// When it started; `None` where it never did.
    pub started: Option<i64>,
    /// When it ended.
    pub ended: i64,
    /// How long it was suspended.
    pub suspended_seconds: i64,
    /// How it ended.
    pub state: JobState,
    /// The administrator's comment, where decisions about the job are recorded.
    pub admin_comment: Option<Cow<'a, str>>,
}

impl EndedJobRecord<'_> {
    /// The run, as far as a virtual reservation of its job is about it. A record without a time of
    /// submission counts as that of the job's first run.
    #[must_use]
    pub fn reserved_run(&self) -> ReservedRun {
        let submitted = UnixTime(self.submitted.unwrap_or_default());
        ReservedRun { submitted, started: self.started.map(UnixTime), ended: Some((UnixTime(self.ended), self.state.ending())) }
    }
}

impl AccountingConnection {
    /// Connects to the slurmdbd that slurm.conf names. Where slurmdbd does not answer the
    /// connection is still returned: the first question tries again, and says what is wrong.
    ///
    /// # Errors
    /// [`ClientError::Configuration`] and [`ClientError::NoAccounting`];
    /// [`ClientError::Accounting`] where libslurm lacks the plugin.
    pub fn open() -> Result<Self, ClientError> {
        start::require_slurmdbd()?;
        last_error::forget();
        // SAFETY: libslurm is initialised; null asks for no flags.
        let connection = unsafe { libslurm().slurmdb_connection_get(std::ptr::null_mut()) };
        if connection.is_null() {
            return Err(accounting_error("connection"));
        }
        Ok(Self { connection })
    }

    /// Calls `each` for every run of a job of `cluster` that ended in `window` (Unix seconds, the
    /// end excluded), in no promised order. Returns how many there were. Records of a job that
    /// never started are among them.
    ///
    /// libslurm holds the whole answer in memory meanwhile, 1 to 2 kB for each record: keep the
    /// window short.
    ///
    /// An empty answer counts only if slurmdbd also shows the cluster, and gives the same answer
    /// again: when slurmdbd fails to get a result from its database it only logs "Problem getting
    /// jobs for cluster", and answers as if there were no records
    /// (src/plugins/accounting_storage/mysql/as_mysql_jobacct_process.c). This happens now and then
    /// under load.
    ///
    /// # Errors
    /// [`ClientError::Accounting`] where slurmdbd or its database does not answer,
    /// [`ClientError::ClusterUnknown`] where it does not show the cluster, [`ClientError::Text`]
    /// for a cluster's name that cannot be one.
    pub fn ended_jobs(
        &mut self,
        cluster: &str,
        window: Range<i64>,
        mut each: impl FnMut(EndedJobRecord<'_>),
    ) -> Result<usize, ClientError> {
        if window.is_empty() {
            return Ok(0);
        }
        let mut records = self.records(cluster, &window)?;
        if records.is_empty() {
            self.check(cluster)?;
            records = self.records(cluster, &window)?;
        }
        Ok(show_ended(&records, &window, &mut each))
    }

    /// Reads ended jobs as [`AccountingConnection::ended_jobs`] does, but an empty answer counts at
    /// once: for what is asked again anyway. This takes a third of the time.
    ///
    /// # Errors
    /// The errors of [`AccountingConnection::ended_jobs`], without [`ClientError::ClusterUnknown`].
    pub fn ended_jobs_at_once(
        &mut self,
        cluster: &str,
        window: Range<i64>,
        mut each: impl FnMut(EndedJobRecord<'_>),
    ) -> Result<usize, ClientError> {
        if window.is_empty() {
            return Ok(0);
        }
        Ok(show_ended(&self.records(cluster, &window)?, &window, &mut each))
    }

    /// The names of all qualities of service, by their numbers.
    ///
    /// # Errors
    /// [`ClientError::Accounting`] where slurmdbd or its database does not answer.
    pub fn qos_names(&mut self) -> Result<HashMap<QosId, String>, ClientError> {
        last_error::forget();
        // SAFETY: the connection is this object's; null asks for all.
        let list = unsafe { OwnedList::adopt(libslurm().slurmdb_qos_get(self.connection, std::ptr::null_mut())) };
        let list = list.ok_or_else(|| accounting_error("qualities of service"))?;
        self.end_transaction()?;
        let mut names = HashMap::new();
        let add = |qos: &slurmdb_qos_rec_t| {
            // SAFETY: the name is null or null-terminated, and lives as long as the record.
            if let Some(name) = unsafe { value::owned_text(qos.name) } {
                names.insert(QosId(qos.id), name);
            }
        };
        // SAFETY: slurmdbd answers with a list of such records.
        unsafe { list.for_each_record(add) };
        Ok(names)
    }

    /// Asks slurmdbd whether its database shows `cluster`.
    ///
    /// # Errors
    /// As [`AccountingConnection::ended_jobs`].
    pub fn check(&mut self, cluster: &str) -> Result<(), ClientError> {
        let names = TextList::of(&[cluster])?;
        // SAFETY: a structure of numbers and pointers, for which zero is "no condition"; the
        // initialiser sets what is not.
        let mut condition: bindings::slurmdb_cluster_cond_t = unsafe { std::mem::zeroed() };
        // SAFETY: a valid structure of our own.
        unsafe { libslurm().slurmdb_init_cluster_cond(&raw mut condition, false) };
        condition.cluster_list = names.as_ptr();
        last_error::forget();
        // SAFETY: the connection is this object's; the condition and its list outlive the call, and
        // libslurm only reads them.
        let clusters = unsafe { OwnedList::adopt(libslurm().slurmdb_clusters_get(self.connection, &raw mut condition)) };
        let is_shown = !clusters.ok_or_else(|| accounting_error("list of clusters"))?.is_empty();
        self.end_transaction()?;
        if is_shown { Ok(()) } else { Err(ClientError::ClusterUnknown { cluster: cluster.to_owned() }) }
    }

    /// Lets slurmdbd end the database's transaction that the last question began.
    ///
    /// slurmdbd keeps one transaction open for each connection
    /// (src/plugins/accounting_storage/mysql: autocommit is off), and the database answers all
    /// questions of a transaction as of its first one: without this a connection never sees a
    /// record that came after its first question, and the database could not clean up behind it.
    fn end_transaction(&mut self) -> Result<(), ClientError> {
        last_error::forget();
        // SAFETY: the connection is this object's; nothing was changed that a rollback would lose.
        match unsafe { libslurm().slurmdb_connection_commit(self.connection, false) } {
            0 => Ok(()),
            code => Err(ClientError::Accounting { what: "end of a transaction", code, reason: last_error::describe(code) }),
        }
    }

    /// Every record that ended in the window, as libslurm's list.
    fn records(&mut self, cluster: &str, window: &Range<i64>) -> Result<OwnedList, ClientError> {
        let clusters = TextList::of(&[cluster])?;
        let state_numbers = state::ENDED.map(|state| state.to_string());
        let states = TextList::of(&state_numbers.each_ref().map(String::as_str))?;
        // SAFETY: a structure of numbers and pointers; zero in all of them is "no condition".
        let mut condition: bindings::slurmdb_job_cond_t = unsafe { std::mem::zeroed() };
        condition.cluster_list = clusters.as_ptr();
        // With these states the database selects by the end of the record, both bounds included
        // (src/plugins/accounting_storage/mysql/as_mysql_jobacct_process.c, _state_time_string). A
        // start of 0 would mean "today".
        condition.state_list = states.as_ptr();
        condition.usage_start = window.start.max(1);
        condition.usage_end = (window.end - 1).max(1);
        // No condition on how the job was started.
        condition.db_flags = bindings::FLAG_SLURMDB_JOB_NOTSET;
        condition.flags = RECORD_FLAGS;
        last_error::forget();
        // SAFETY: the connection is this object's; the condition and its lists outlive the call,
        // and libslurm only reads them.
        let records = unsafe { OwnedList::adopt(libslurm().slurmdb_jobs_get(self.connection, &raw mut condition)) };
        let records = records.ok_or_else(|| accounting_error("records of ended jobs"))?;
        self.end_transaction()?;
        Ok(records)
    }
}

/// Calls `each` for the records of an answer that ended in the window, and returns how many those
/// were.
fn show_ended(records: &OwnedList, window: &Range<i64>, each: &mut dyn FnMut(EndedJobRecord<'_>)) -> usize {
    let mut count = 0;
    let show = |record: &slurmdb_job_rec_t| {
        // SAFETY: its strings are null or null-terminated, and live as long as the record.
        let record = unsafe { view(record) };
        if let Some(record) = record.filter(|record| window.contains(&record.ended)) {
            count += 1;
            each(record);
        }
    };
    // SAFETY: DBD_GET_JOBS_COND answers with a list of job records.
    unsafe { records.for_each_record(show) };
    count
}

impl Drop for AccountingConnection {
    fn drop(&mut self) {
        // SAFETY: made by slurmdb_connection_get, closed once.
        unsafe { libslurm().slurmdb_connection_close(&raw mut self.connection) };
    }
}

/// The thread's last error, as one of slurmdbd's.
fn accounting_error(what: &'static str) -> ClientError {
    let (code, reason) = last_error::last();
    ClientError::Accounting { what, code, reason }
}

/// A record as this side sees it; `None` for one that has not ended.
///
/// # Safety
/// The record's strings are null or null-terminated, and unchanged for `'a`.
unsafe fn view<'a>(record: &'a slurmdb_job_rec_t) -> Option<EndedJobRecord<'a>> {
    let ended = value::moment(record.end)?;
    // SAFETY: the caller's promise, for each of the record's strings.
    let text = |pointer| unsafe { value::text::<'a>(pointer) };
    let amount = |list: &Option<Cow<'_, str>>, id| {
        let count = tres::amount_of_number(list.as_deref()?, id)?;
        u32::try_from(count).ok()
    };
    let requested_tres = text(record.tres_req_str);
    let allocated_tres = text(record.tres_alloc_str);
    // Some releases (22.05) record, as the start of a job that was cancelled while it waited, the
    // moment of its end; it was allocated nothing.
    let started = value::moment(record.start).filter(|&start| start < ended || allocated_tres.is_some() || has_nodes(record));
    Some(EndedJobRecord {
        job_id: JobId(record.jobid),
        array: (record.array_job_id != 0)
            .then(|| ArrayTask { array_job_id: JobId(record.array_job_id), task_id: value::number(record.array_task_id) }),
        user_id: UserId(record.uid),
        user: text(record.user),
        account: text(record.account),
        partition: text(record.partition),
        qos_id: QosId(record.qosid),
        name: text(record.jobname),
        features: text(record.constraints),
        wckey: text(record.wckey),
        work_dir: text(record.work_dir),
        submit_line: text(record.submit_line),
        requested_cpus: value::number(record.req_cpus).unwrap_or(0),
        allocated_cpus: amount(&allocated_tres, tres::CPU),
        requested_nodes: amount(&requested_tres, tres::NODE),
        // slurmdbd may learn of a short job's end before it learns of its start, which brings the
        // count; the resources come with both.
        allocated_nodes: value::number(record.alloc_nodes)
            .filter(|_nodes| has_nodes(record))
            .or_else(|| amount(&allocated_tres, tres::NODE))
            .unwrap_or(0),
        requested_memory_mebibytes: tres::amount_of_number(requested_tres.as_deref().unwrap_or_default(), tres::MEMORY),
        time_limit_seconds: value::limit_seconds(record.timelimit),
        is_unlimited: record.timelimit == bindings::INFINITE,
        submitted: value::moment(record.submit),
        eligible: value::moment(record.eligible),
        started,
        ended,
        suspended_seconds: i64::from(value::number(record.suspended).unwrap_or(0)),
        state: JobState::from_raw(record.state),
        admin_comment: text(record.admin_comment),
    })
}

/// Whether the record counts nodes that the job had.
fn has_nodes(record: &slurmdb_job_rec_t) -> bool {
    value::number(record.alloc_nodes).is_some_and(|nodes| nodes > 0)
}
