//! The queue, the nodes, the partitions and the reservations as slurmctld has them now, and changes
//! of its jobs and reservations.

use job_types::number::{JobId, UserId};
use job_types::promise::ReservedRun;
use job_types::time::UnixTime;
use job_types::tres;
use serde::{Deserialize, Serialize};
use std::ffi::c_int;

use super::library::{Libslurm, libslurm};
use super::state::JobState;
use super::{ClientError, last_error};
use super::{start, value};
use crate::bindings;
use crate::sentinel;

mod change;
mod configuration;
mod described;
mod limits;
mod mail;
mod one_job;
mod pending_reason;
mod priorities;
mod private_data;
mod refusal;
mod reservation;
mod versions;

pub use super::value::MOST_TEXT;
pub use change::{ChangeError, JobUpdate, cancel_job, update_job};
pub use described::{DescribedJob, DescribedValue, MOST_OF_LISTS, described_fields, queue_described};
pub use limits::{Accounts, AssociationRecord, QosRecord, UserRecord, accounts};
pub use mail::mail_program;
pub use one_job::{KnownJob, jobs_with_number};
pub use pending_reason::PendingReason;
pub use priorities::{Priorities, priorities};
pub use private_data::private_data;
pub use reservation::{
    NewReservation, Reservation, ReservationError, ReservationFlag, ReservationFlags, ReservationUpdate, create_reservation,
    delete_reservation, reservations, update_reservation,
};
pub use versions::{NodeVersion, node_versions, version};

/// Asks slurmctld to show also what is hidden from users.
#[allow(clippy::cast_possible_truncation, reason = "one bit, in all releases the lowest")]
const SHOW_FLAGS: u16 = bindings::FLAG_SHOW_ALL as u16;

/// A job in the queue. Times are Unix seconds. Of each text it has at most the first [`MOST_TEXT`]
/// bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedJob {
    /// The job's number.
    pub job_id: JobId,
    /// The array's number where the job is a task of an array, or stands for the tasks of one that
    /// still wait.
    pub array_job_id: Option<JobId>,
    /// How many tasks of an array this record stands for; 1 for any other job.
    pub task_count: u32,
    /// The job's name, as its user chose it: any text.
    pub name: Option<String>,
    /// The user's number.
    pub user_id: UserId,
    /// The user's name, where slurmctld told.
    pub user: Option<String>,
    /// The account charged.
    pub account: Option<String>,
    /// The partition, or for a waiting job perhaps several, separated by commas.
    pub partition: Option<String>,
    /// The quality of service, by name.
    pub qos: Option<String>,
    /// The state of the job.
    pub state: JobState,
    /// CPUs allocated, or for a waiting job the least that it needs.
    pub cpus: u32,
    /// Nodes allocated, or for a waiting job the least that it needs.
    pub nodes: u32,
    /// CPUs that the job asked for, where slurmctld tells them apart from those allocated.
    pub requested_cpus: Option<u32>,
    /// Nodes that the job asked for, where slurmctld tells them apart from those allocated.
    pub requested_nodes: Option<u32>,
    /// The time limit in seconds; `None` where there is none.
    pub time_limit_seconds: Option<i64>,
    /// The shortest time limit in seconds that backfilling may cut it back to; `None` where it may
    /// not.
    pub shortest_limit_seconds: Option<i64>,
    /// When the job was submitted.
    pub submitted: Option<i64>,
    /// When nothing but resources and priority keeps the job waiting; for a job that may not begin
    /// yet this is in the future or absent. It is the begin that the job was given, for as long as
    /// nothing has put the job off anew: a requeue or a hold does.
    pub eligible: Option<i64>,
    /// When the job started; `None` where it has not.
    pub started: Option<i64>,
    /// When the job ended, where it has and slurmctld still shows it.
    pub ended: Option<i64>,
    /// How long the job has been suspended.
    pub suspended_seconds: i64,
    /// When slurmctld expects a waiting job to start, or when it may begin.
    pub expected_start: Option<i64>,
    /// When the job has to end; `None` if its user set no deadline.
    pub deadline: Option<i64>,
    /// The reservation that the job runs or waits in.
    pub reservation: Option<String>,
    /// The administrator's comment, where decisions about the job are recorded.
    pub admin_comment: Option<String>,
    /// The user's own comment.
    pub comment: Option<String>,
    /// To whom mail is sent when the job fails (`--mail-user`, or its user's address); `None` where
    /// its user wants no such mail (`--mail-type` without `FAIL`). slurmctld has `MailDomain` in it
    /// already (`_get_mail_user` in src/slurmctld/job_mgr.c).
    pub mail_of_failure: Option<String>,
    /// slurmctld's priority of a waiting job; the higher is served first, and 0 is held.
    pub priority: u32,
    /// What the site adds to the job's priority (`site_factor`); 0 where it adds nothing.
    pub site_factor: i64,
    /// Why the job waits, if it does.
    pub reason: PendingReason,
    /// The number of times that the job was put back into the queue after it had started.
    pub restarts: u32,
    /// Whether the job waits for other jobs.
    pub has_dependency: bool,
    /// Whether the job has, or wants, its nodes to itself (`--exclusive`); a partition may give
    /// whole nodes all the same.
    pub exclusive: bool,
    /// Inclusive ranges of places in slurmctld's node table: the job's nodes; none while it waits.
    pub node_ranges: Vec<(usize, usize)>,
    /// Inclusive ranges of places in slurmctld's node table: the nodes that the job asks for by
    /// name (`--nodelist`), while it waits.
    pub required_node_ranges: Vec<(usize, usize)>,
}

impl QueuedJob {
    /// The run that goes on, or has just ended, as far as a virtual reservation of the job is about
    /// it. One without a time of submission counts as the job's first.
    #[must_use]
    pub fn reserved_run(&self) -> ReservedRun {
        let waits = matches!(self.state, JobState::Pending | JobState::Requeued) && self.ended.is_none();
        ReservedRun {
            submitted: UnixTime(self.submitted.unwrap_or_default()),
            started: self.started.filter(|_| !waits).map(UnixTime),
            ended: self.ended.map(|end| (UnixTime(end), self.state.ending())),
        }
    }
}

/// What a node is up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeState {
    /// Takes jobs and has none.
    Idle,
    /// Takes jobs and has some.
    Busy,
    /// Has jobs, but gets no new ones.
    Draining,
    /// Gets no jobs: down, drained, failed, powered down or not answering.
    Unavailable,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The node's name.
    pub name: String,
    /// CPUs that jobs may use.
    pub cpus: u32,
    /// What the node is up to.
    pub state: NodeState,
    /// The node's place in slurmctld's node table; partitions name their nodes by these places.
    pub index: usize,
    /// The partitions that the node belongs to, in their own order.
    pub partitions: Vec<String>,
}

/// Whether jobs of a partition share nodes (`OverSubscribe` of slurm.conf).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sharing {
    /// A job has its nodes to itself.
    Exclusive,
    /// Jobs share nodes, but not CPUs.
    Cpus,
    /// Up to this many jobs share a CPU, if they ask for it.
    OnRequest(u16),
    /// Up to this many jobs share a CPU, asked or not.
    Forced(u16),
}

/// A partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// The partition's name.
    pub name: String,
    /// CPUs of all the partition's nodes.
    pub total_cpus: u32,
    /// How many nodes the partition has.
    pub total_nodes: u32,
    /// The longest time limit in seconds; `None` where there is none.
    pub max_time_seconds: Option<i64>,
    /// The time limit, in seconds, of a job that asks for none; `None` where that is the longest
    /// one.
    pub default_time_seconds: Option<i64>,
    /// The most nodes for one job; `None` where there is no such limit.
    pub max_nodes: Option<u32>,
    /// The fewest nodes for one job.
    pub min_nodes: u32,
    /// The most CPUs of one job on each node; `None` where there is no such limit.
    pub max_cpus_per_node: Option<u32>,
    /// The name of the partition's quality of service.
    pub qos: Option<String>,
    /// Whether jobs that name no partition go to this one.
    pub is_default: bool,
    /// Whether jobs start in the partition now.
    pub is_up: bool,
    /// How the partition's jobs share nodes.
    pub sharing: Sharing,
    /// Jobs of a partition with a higher tier are served before all of those with a lower one.
    pub priority_tier: u32,
    /// Inclusive ranges of places in slurmctld's node table: the partition's nodes.
    pub node_ranges: Vec<(usize, usize)>,
    /// Whether the partition takes and starts jobs, in the word that slurm.conf has for it.
    pub state: &'static str,
    /// The limits on who may use the partition.
    pub access: Access,
    /// What all the partition's nodes together have, as `cpu=64,mem=512G,node=4`.
    pub tres: Option<String>,
}

/// The accounts, groups, qualities of service and hosts that may use a partition. A list that is
/// `None` keeps nobody out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Access {
    /// The accounts that may use it (`AllowAccounts`), separated by commas.
    pub allow_accounts: Option<String>,
    /// The groups that may use it (`AllowGroups`), separated by commas.
    pub allow_groups: Option<String>,
    /// The qualities of service that may be used (`AllowQos`), separated by commas.
    pub allow_qos: Option<String>,
    /// The hosts from which jobs may be submitted (`AllocNodes`).
    pub alloc_nodes: Option<String>,
    /// The accounts that may not use it (`DenyAccounts`), separated by commas.
    pub deny_accounts: Option<String>,
    /// The qualities of service that may not be used (`DenyQos`), separated by commas.
    pub deny_qos: Option<String>,
}

/// An answer of slurmctld, freed by libslurm's own function for it.
struct Answer<T> {
    message: *mut T,
    free: unsafe extern "C" fn(*mut T),
}

impl<T> Answer<T> {
    /// Asks with `load`, and takes over what comes back, for the function of libslurm that `free`
    /// names.
    fn ask(
        what: &'static str,
        free: impl FnOnce(&Libslurm) -> unsafe extern "C" fn(*mut T),
        load: impl FnOnce(*mut *mut T) -> c_int,
    ) -> Result<Self, ClientError> {
        start::initialise()?;
        last_error::forget();
        let mut message = std::ptr::null_mut();
        let status = load(&raw mut message);
        if status != 0 || message.is_null() {
            return Err(controller_error(what));
        }
        Ok(Self { message, free: free(libslurm()) })
    }

    /// The records that the answer's array holds.
    ///
    /// # Safety
    /// `array` and `count` come from this very answer.
    unsafe fn records<R>(&self, array: *const R, count: u32) -> &[R] {
        if array.is_null() {
            return &[];
        }
        // SAFETY: libslurm allocates as many records as it counts, and frees them with the answer.
        unsafe { std::slice::from_raw_parts(array, usize::try_from(count).unwrap_or(0)) }
    }
}

impl Answer<bindings::node_info_msg_t> {
    /// All nodes.
    fn nodes() -> Result<Self, ClientError> {
        // SAFETY: time 0 asks for everything; the place for the answer is ours.
        Self::ask(
            "nodes",
            |libslurm| libslurm.slurm_free_node_info_msg,
            |place| unsafe { libslurm().slurm_load_node(0, place, SHOW_FLAGS) },
        )
    }

    fn node_records(&self) -> &[bindings::node_info_t] {
        // SAFETY: not null (checked by `ask`), and its own array and count.
        unsafe { self.records((*self.message).node_array, (*self.message).record_count) }
    }
}

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        // SAFETY: the function that belongs to this kind of answer, called once.
        unsafe { (self.free)(self.message) }
    }
}

/// The jobs that slurmctld shows, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    /// The jobs that wait, run, or ended so recently that slurmctld still shows them.
    pub jobs: Vec<QueuedJob>,
    /// The moment, in Unix seconds, at which slurmctld wrote its answer by its own clock
    /// (`pack_all_jobs` in src/slurmctld/job_mgr.c).
    pub answered_at: Option<i64>,
}

/// The jobs that wait, run, or ended so recently that slurmctld still shows them.
///
/// # Errors
/// As [`queue`].
pub fn jobs() -> Result<Vec<QueuedJob>, ClientError> {
    Ok(queue()?.jobs)
}

/// The queue with the time of slurmctld's clock.
///
/// # Errors
/// [`ClientError::Controller`] where slurmctld does not answer, [`ClientError::Configuration`] as
/// `initialise`.
pub fn queue() -> Result<Queue, ClientError> {
    Ok(Answer::jobs()?.queue())
}

impl Answer<bindings::job_info_msg_t> {
    /// All jobs.
    fn jobs() -> Result<Self, ClientError> {
        // SAFETY: time 0 asks for everything; the place for the answer is ours.
        Self::ask("jobs", |libslurm| libslurm.slurm_free_job_info_msg, |place| unsafe { libslurm().slurm_load_jobs(0, place, SHOW_FLAGS) })
    }

    fn job_records(&self) -> &[bindings::slurm_job_info_t] {
        // SAFETY: not null (checked by `ask`), and its own array and count.
        unsafe { self.records((*self.message).job_array, (*self.message).record_count) }
    }

    fn queue(&self) -> Queue {
        // SAFETY: records of a live answer.
        let jobs = self.job_records().iter().map(|record| unsafe { queued_job(record) }).collect();
        // SAFETY: not null (checked by `ask`).
        let answered_at = value::moment(unsafe { (*self.message).last_update });
        Queue { jobs, answered_at }
    }
}

/// The partitions.
///
/// # Errors
/// As [`queue`].
pub fn partitions() -> Result<Vec<Partition>, ClientError> {
    // SAFETY: as in `queue`.
    let answer = Answer::ask(
        "partitions",
        |libslurm| libslurm.slurm_free_partition_info_msg,
        |place| unsafe { libslurm().slurm_load_partitions(0, place, SHOW_FLAGS) },
    )?;
    // SAFETY: as in `queue`.
    let records = unsafe { answer.records((*answer.message).partition_array, (*answer.message).record_count) };
    // SAFETY: records of a live answer.
    Ok(records.iter().filter_map(|record| unsafe { partition(record) }).collect())
}

/// The nodes, each with those of `partitions` that it belongs to.
///
/// # Errors
/// As [`queue`].
pub fn nodes(partitions: &[Partition]) -> Result<Vec<Node>, ClientError> {
    let answer = Answer::nodes()?;
    let records = answer.node_records();
    let node = |(index, record): (usize, &bindings::node_info_t)| {
        // SAFETY: a record of a live answer; the name is null or null-terminated. Places of removed
        // nodes have no name.
        let name = unsafe { value::owned_text(record.name) }?;
        let is_member = |partition: &&Partition| {
            let ranges = &partition.node_ranges;
            ranges.iter().any(|&(first, last)| (first..=last).contains(&index))
        };
        Some(Node {
            name,
            cpus: u32::from(if record.cpus_efctv == 0 { record.cpus } else { record.cpus_efctv }),
            state: node_state(record.node_state),
            index,
            partitions: partitions.iter().filter(is_member).map(|partition| partition.name.clone()).collect(),
        })
    };
    Ok(records.iter().enumerate().filter_map(node).collect())
}

/// Whether the primary slurmctld answers.
///
/// # Errors
/// As [`queue`].
pub fn ping() -> Result<(), ClientError> {
    start::initialise()?;
    last_error::forget();
    // SAFETY: libslurm is initialised; 0 is the primary controller, which every configuration has.
    if unsafe { libslurm().slurm_ping(0) } == 0 { Ok(()) } else { Err(controller_error("answer")) }
}

/// The thread's last error, as one of slurmctld's.
fn controller_error(what: &'static str) -> ClientError {
    let (code, reason) = last_error::last();
    ClientError::Controller { what, code, reason }
}

/// # Safety
/// The record's strings are null or null-terminated, its bitmap null or one of libslurm's, its
/// lists of nodes null or ended by -1.
unsafe fn queued_job(record: &bindings::slurm_job_info_t) -> QueuedJob {
    // SAFETY: the caller's promise, for each of the record's strings.
    let text = |pointer| unsafe { value::start_of_text(pointer, MOST_TEXT) };
    let state = JobState::from_raw(record.job_state);
    let waits = matches!(state, JobState::Pending | JobState::Requeued);
    // Some releases (22.05) give, as the start of a job that was cancelled while it waited, the
    // moment of its end; it has had no nodes.
    // SAFETY: the caller's promise.
    let has_text = |pointer| unsafe { value::has_text(pointer) };
    let had_nodes = has_text(record.nodes);
    let start = value::moment(record.start_time).filter(|_start| waits || had_nodes);
    // Tasks of an array that still wait are one record; each task that started is a record of its
    // own.
    let task_count = if waits {
        // SAFETY: the caller's promise.
        unsafe { waiting_tasks(record) }
    } else {
        1
    };
    // The requested resources are those that `scontrol show job` prints, in 22.05 as TRES and later
    // as ReqTRES; they stay as they were at the submission.
    let requested_tres = text(record.tres_req_str);
    let requested = |name| tres::amount(requested_tres.as_deref()?, name)?.parse::<u32>().ok();
    let goes_on = matches!(state, JobState::Pending | JobState::Running | JobState::Suspended | JobState::Requeued);
    // For a job that has not ended, slurmctld tells when it expects the end.
    let ended = value::moment(record.end_time).filter(|_end| !goes_on);
    QueuedJob {
        job_id: JobId(record.job_id),
        array_job_id: (record.array_job_id != 0).then_some(JobId(record.array_job_id)),
        task_count,
        name: text(record.name),
        user_id: UserId(record.user_id),
        user: text(record.user_name),
        account: text(record.account),
        partition: text(record.partition),
        qos: text(record.qos),
        state,
        cpus: value::number(record.num_cpus).unwrap_or(0),
        nodes: value::number(record.num_nodes).unwrap_or(0),
        requested_cpus: requested("cpu"),
        requested_nodes: requested("node"),
        time_limit_seconds: value::limit_seconds(record.time_limit),
        shortest_limit_seconds: value::limit_seconds(record.time_min).filter(|seconds| *seconds > 0),
        submitted: value::moment(record.submit_time),
        eligible: value::moment(record.eligible_time),
        started: start.filter(|_start| !waits),
        ended,
        suspended_seconds: suspended_seconds(record, state, start, ended),
        expected_start: start.filter(|_start| waits),
        deadline: value::moment(record.deadline),
        reservation: text(record.resv_name),
        admin_comment: text(record.admin_comment),
        comment: text(record.comment),
        mail_of_failure: if u32::from(record.mail_type) & bindings::FLAG_MAIL_JOB_FAIL != 0 { text(record.mail_user) } else { None },
        priority: value::number(record.priority).unwrap_or(0),
        site_factor: sentinel::from_nice_offset(record.site_factor),
        reason: PendingReason::from_raw(record.state_reason.into(), text(record.state_desc).as_deref()),
        restarts: record.restart_cnt.into(),
        has_dependency: has_text(record.dependency),
        exclusive: record.shared == 0,
        // SAFETY: the caller's promise.
        node_ranges: if had_nodes { unsafe { node_ranges(record.node_inx) } } else { Vec::new() },
        // SAFETY: the caller's promise.
        required_node_ranges: if waits { unsafe { node_ranges(record.req_node_inx) } } else { Vec::new() },
    }
}

/// How long a job that has started was suspended, but for what goes on now. slurmctld counts how
/// long it ran up to the last time that it was suspended or resumed (`pre_sus_time`), and when that
/// was (`suspend_time`).
fn suspended_seconds(record: &bindings::slurm_job_info_t, state: JobState, start: Option<i64>, ended: Option<i64>) -> i64 {
    let (Some(start), Some(changed)) = (start, value::moment(record.suspend_time)) else { return 0 };
    let until = if state == JobState::Suspended { changed } else { ended.map_or(changed, |ended| ended.min(changed)) };
    (until - start - record.pre_sus_time).max(0)
}

/// How many tasks of an array a waiting job's record stands for; 1 where it is no array.
///
/// # Safety
/// The record's bitmap and expression of tasks are null, or as libslurm unpacked them.
unsafe fn waiting_tasks(record: &bindings::slurm_job_info_t) -> u32 {
    // libslurm cuts a long expression short, so the bitmap is asked first.
    let in_bitmap = if record.array_bitmap.is_null() {
        0
    } else {
        // SAFETY: a bitmap that libslurm made and nothing has freed.
        u32::try_from(unsafe { libslurm().slurm_bit_set_count(record.array_bitmap) }).unwrap_or(0)
    };
    if in_bitmap > 0 {
        return in_bitmap;
    }
    // SAFETY: null or null-terminated.
    let expression = unsafe { value::text(record.array_task_str) };
    expression.and_then(|expression| value::array_task_count(&expression)).unwrap_or(1)
}

/// What slurm/slurm.h's state with its flags means for jobs.
fn node_state(raw: u32) -> NodeState {
    let gone = bindings::FLAG_NODE_STATE_NO_RESPOND
        | bindings::FLAG_NODE_STATE_POWERED_DOWN
        | bindings::FLAG_NODE_STATE_FAIL
        | bindings::FLAG_NODE_STATE_INVALID_REG;
    let is_busy = match raw & bindings::NODE_STATE_BASE {
        bindings::NODE_STATE_IDLE => false,
        bindings::NODE_STATE_ALLOCATED | bindings::NODE_STATE_MIXED => true,
        _ => return NodeState::Unavailable,
    };
    match (raw & gone != 0, raw & bindings::FLAG_NODE_STATE_DRAIN != 0, is_busy) {
        (true, _, _) | (false, true, false) => NodeState::Unavailable,
        (false, true, true) => NodeState::Draining,
        (false, false, true) => NodeState::Busy,
        (false, false, false) => NodeState::Idle,
    }
}

/// `None` for a record without a name.
///
/// # Safety
/// The record's texts are null or null-terminated, and its list of nodes is null or ends with -1.
unsafe fn partition(record: &bindings::partition_info_t) -> Option<Partition> {
    // SAFETY: the caller's promise.
    let name = unsafe { value::owned_text(record.name) }?;
    // OverSubscribe: 0 is EXCLUSIVE, 1 is NO, more is YES:n, and a flag on top makes it FORCE:n
    // (src/common/read_config.c).
    #[allow(clippy::cast_possible_truncation, reason = "one bit of sixteen")]
    let forced_flag = bindings::SHARED_FORCE as u16;
    let jobs = record.max_share & !forced_flag;
    let sharing = match (record.max_share & forced_flag != 0, jobs) {
        (false, 0) => Sharing::Exclusive,
        (true, _) => Sharing::Forced(jobs),
        (false, 1) => Sharing::Cpus,
        (false, _) => Sharing::OnRequest(jobs),
    };
    let flags: u64 = record.flags.into();
    Some(Partition {
        name,
        total_cpus: record.total_cpus,
        total_nodes: record.total_nodes,
        max_time_seconds: value::limit_seconds(record.max_time),
        default_time_seconds: value::limit_seconds(record.default_time),
        max_nodes: value::number(record.max_nodes),
        min_nodes: value::number(record.min_nodes).unwrap_or(0),
        max_cpus_per_node: value::number(record.max_cpus_per_node).filter(|cpus| *cpus > 0),
        // SAFETY: the caller's promise.
        qos: unsafe { value::owned_text(record.qos_char) },
        is_default: flags & u64::from(bindings::FLAG_PART_DEFAULT) != 0,
        is_up: u32::from(record.state_up) == bindings::PARTITION_UP,
        sharing,
        priority_tier: u32::from(record.priority_tier),
        // SAFETY: the caller's promise.
        node_ranges: unsafe { node_ranges(record.node_inx) },
        state: match u32::from(record.state_up) {
            bindings::PARTITION_UP => "UP",
            bindings::PARTITION_DOWN => "DOWN",
            bindings::PARTITION_DRAIN => "DRAIN",
            _ => "INACTIVE",
        },
        // SAFETY: the caller's promise.
        access: unsafe { access(record) },
        // SAFETY: the caller's promise.
        tres: unsafe { value::owned_text(record.tres_fmt_str) },
    })
}

/// # Safety
/// The record's texts are null or null-terminated.
unsafe fn access(record: &bindings::partition_info_t) -> Access {
    // SAFETY: the caller's promise.
    let text = |text| unsafe { value::owned_text(text) };
    // What is open to all is written so, or not at all.
    let allowed = |list| text(list).filter(|list| !list.eq_ignore_ascii_case("ALL"));
    Access {
        allow_accounts: allowed(record.allow_accounts),
        allow_groups: allowed(record.allow_groups),
        allow_qos: allowed(record.allow_qos),
        alloc_nodes: allowed(record.allow_alloc_nodes),
        deny_accounts: text(record.deny_accounts),
        deny_qos: text(record.deny_qos),
    }
}

/// Pairs of first and last place, ended by -1 (slurm/slurm.h, `node_inx`).
///
/// # Safety
/// `pairs` is null or ends with -1.
unsafe fn node_ranges(pairs: *const i32) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    if pairs.is_null() {
        return ranges;
    }
    let mut place = pairs;
    loop {
        // SAFETY: not behind the -1, at which this loop ends; a pair is never split by it.
        let first = unsafe { *place };
        let Ok(first) = usize::try_from(first) else { return ranges };
        // SAFETY: the second of a pair, or the -1.
        let last = unsafe { *place.add(1) };
        let Ok(last) = usize::try_from(last) else { return ranges };
        ranges.push((first, last));
        // SAFETY: at most at the -1 behind the pair.
        place = unsafe { place.add(2) };
    }
}
