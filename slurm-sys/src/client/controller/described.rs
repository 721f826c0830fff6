//! Jobs as they were described: what a job in the queue tells of its description, under the names
//! that the fields have in `job_desc_msg_t` (slurm/slurm.h).
//!
//! It is less than what was submitted: slurmctld does not tell the script and its arguments, the
//! environment, or whether tasks may share CPUs. Of a job that runs, some numbers are what it got.

use std::ffi::c_char;

use job_types::number::JobId;
use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};

use super::{Answer, Queue, QueuedJob};
use crate::bindings::{self, CORE_SPEC_THREAD, MEM_PER_CPU, slurm_job_info_t};
use crate::client::error::ClientError;
use crate::client::{JobState, value};
use crate::sentinel::{Sentinel, from_nice_offset};
use value::MOST_TEXT;

/// Bytes of a MiB, in which Slurm counts memory and disk.
const MEBIBYTE: i64 = 1 << 20;

/// A job that waits or runs, as it was described. Of each text it has at most the first
/// [`MOST_TEXT`] bytes, of those that name nodes and other jobs [`MOST_OF_LISTS`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DescribedJob {
    /// The job's number.
    pub job_id: JobId,
    /// The array's number and the task's, of a task of an array that has a number of its own;
    /// `None` for other jobs.
    pub task: Option<(JobId, u32)>,
    /// What is known of the job's fields, by their names.
    #[serde(with = "stored_fields")]
    pub fields: Vec<(&'static str, DescribedValue)>,
}

/// What a field holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum DescribedValue {
    /// Yes or no.
    Truth(bool),
    /// A number, of memory and disk in bytes.
    Integer(i64),
    /// A text.
    Text(String),
    /// A time span.
    Duration(Seconds),
    /// A moment.
    Moment(UnixTime),
}

type Record = slurm_job_info_t;

/// Fields by their names, and how each is read.
type Readers<T> = [(&'static str, fn(&Record) -> T)];

/// Texts that stand in the record as they do in the description.
const TEXTS: &Readers<*mut c_char> = &[
    ("account", |job| job.account),
    ("admin_comment", |job| job.admin_comment),
    ("alloc_node", |job| job.alloc_node),
    ("array_inx", |job| job.array_task_str),
    ("batch_features", |job| job.batch_features),
    ("burst_buffer", |job| job.burst_buffer),
    ("cluster_features", |job| job.cluster_features),
    ("comment", |job| job.comment),
    ("container", |job| job.container),
    ("cpus_per_tres", |job| job.cpus_per_tres),
    ("dependency", |job| job.dependency),
    ("exc_nodes", |job| job.exc_nodes),
    ("features", |job| job.features),
    ("licenses", |job| job.licenses),
    ("mail_user", |job| job.mail_user),
    ("mcs_label", |job| job.mcs_label),
    ("mem_per_tres", |job| job.mem_per_tres),
    ("name", |job| job.name),
    ("network", |job| job.network),
    ("origin_cluster", |job| job.fed_origin_str),
    ("partition", |job| job.partition),
    ("prefer", |job| job.prefer),
    ("qos", |job| job.qos),
    ("req_nodes", |job| job.req_nodes),
    ("reservation", |job| job.resv_name),
    ("selinux_context", |job| job.selinux_context),
    ("std_err", |job| job.std_err),
    ("std_in", |job| job.std_in),
    ("std_out", |job| job.std_out),
    ("tres_bind", |job| job.tres_bind),
    ("tres_freq", |job| job.tres_freq),
    ("tres_per_job", |job| job.tres_per_job),
    ("tres_per_node", |job| job.tres_per_node),
    ("tres_per_socket", |job| job.tres_per_socket),
    ("tres_per_task", |job| job.tres_per_task),
    ("wckey", |job| job.wckey),
    ("work_dir", |job| job.work_dir),
];

/// Texts among these for which slurmctld itself takes more than [`MOST_TEXT`] (`_test_strlen` and
/// the lists of nodes in src/slurmctld/job_mgr.c).
const LISTS: [&str; 3] = ["dependency", "exc_nodes", "req_nodes"];

/// The most that is kept of a text that names nodes or other jobs, in bytes.
pub const MOST_OF_LISTS: usize = 128 << 10;

/// Numbers that are absent where they are unset or unlimited.
const NUMBERS: &Readers<Option<i64>> = &[
    ("alloc_sid", |job| job.alloc_sid.known()),
    ("bitflags", |job| i64::try_from(job.bitflags).ok()),
    ("boards_per_node", |job| job.boards_per_node.known()),
    ("core_spec", |job| job.core_spec.known().filter(|_| !leaves_threads(job))),
    ("cores_per_socket", |job| job.cores_per_socket.known()),
    ("cpu_freq_gov", |job| job.cpu_freq_gov.known()),
    ("cpu_freq_max", |job| job.cpu_freq_max.known()),
    ("cpu_freq_min", |job| job.cpu_freq_min.known()),
    ("cpus_per_task", |job| job.cpus_per_task.known()),
    ("group_id", |job| job.group_id.known()),
    ("het_job_offset", |job| job.het_job_offset.known().filter(|_| job.het_job_id != 0)),
    ("job_id", |job| job.job_id.known()),
    ("max_cpus", |job| positive(job.max_cpus.known())),
    ("max_nodes", |job| positive(job.max_nodes.known())),
    ("memory_per_cpu", |job| memory(job, true)),
    ("memory_per_node", |job| memory(job, false)),
    ("nice", |job| Some(from_nice_offset(job.nice)).filter(|nice| *nice != 0)),
    ("ntasks_per_board", |job| positive(job.ntasks_per_board.known())),
    ("ntasks_per_core", |job| positive(job.ntasks_per_core.known())),
    ("ntasks_per_node", |job| positive(job.ntasks_per_node.known())),
    ("ntasks_per_socket", |job| positive(job.ntasks_per_socket.known())),
    ("ntasks_per_tres", |job| positive(job.ntasks_per_tres.known())),
    ("num_tasks", |job| positive(job.num_tasks.known())),
    ("pn_min_cpus", |job| positive(job.pn_min_cpus.known())),
    ("pn_min_tmp_disk", |job| positive(job.pn_min_tmp_disk.known()).map(|mebibytes| mebibytes.saturating_mul(MEBIBYTE))),
    ("priority", |job| job.priority.known()),
    ("req_switch", |job| positive(job.req_switch.known())),
    ("site_factor", |job| Some(from_nice_offset(job.site_factor)).filter(|factor| *factor != 0)),
    ("sockets_per_board", |job| positive(job.sockets_per_board.known())),
    ("sockets_per_node", |job| job.sockets_per_node.known()),
    ("thread_spec", |job| job.core_spec.known().filter(|_| leaves_threads(job)).map(|number| number & !i64::from(CORE_SPEC_THREAD))),
    ("threads_per_core", |job| job.threads_per_core.known()),
    ("user_id", |job| job.user_id.known()),
];

/// Time spans in seconds.
const DURATIONS: &Readers<Option<i64>> = &[
    ("delay_boot", |job| positive(job.delay_boot.known())),
    ("time_limit", |job| value::limit_seconds(job.time_limit)),
    ("time_min", |job| positive(value::limit_seconds(job.time_min))),
];

/// Moments in Unix seconds.
const MOMENTS: &Readers<Option<i64>> = &[("deadline", |job| value::moment(job.deadline)), ("end_time", |job| value::moment(job.end_time))];

/// Truths that are absent where they are not known.
const TRUTHS: &Readers<Option<bool>> = &[
    ("contiguous", |job| job.contiguous.known().map(|number| number != 0)),
    ("gres_disable_bind", |job| flag(job, bindings::FLAG_GRES_DISABLE_BIND.into())),
    ("gres_enforce_bind", |job| flag(job, bindings::FLAG_GRES_ENFORCE_BIND.into())),
    ("is_batch", |job| Some(job.batch_flag != 0)),
    ("kill_invalid_depend", |job| flag(job, bindings::FLAG_KILL_INVALID_DEPENDENCY.into()).filter(|kills| *kills)),
    ("mem_is_zero", |job| Some(job.pn_min_memory & !MEM_PER_CPU.cast_unsigned() == 0)),
    ("reboot", |job| Some(job.reboot != 0)),
    ("requeue", |job| job.requeue.known().map(|number| number != 0)),
    ("spread_job", |job| flag(job, bindings::FLAG_SPREAD_JOB.into())),
    ("time_limit_is_unlimited", |job| Some(job.time_limit == bindings::INFINITE)),
    ("use_min_nodes", |job| flag(job, bindings::FLAG_USE_MIN_NODES.into())),
];

/// How nodes are shared, by its number in `shared` (slurm/slurm.h, `JOB_SHARED_NONE` and so on).
const SHARED: [&str; 5] = ["none", "ok", "user", "mcs", "topo"];

/// The names of all fields that can be known, each with a value of its kind.
pub fn described_fields() -> impl Iterator<Item = (&'static str, DescribedValue)> {
    fn named<T>(fields: &'static Readers<T>, value: DescribedValue) -> impl Iterator<Item = (&'static str, DescribedValue)> {
        fields.iter().map(move |(name, _)| (*name, value.clone()))
    }
    let own = [
        ("min_cpus", DescribedValue::Integer(0)),
        ("min_nodes", DescribedValue::Integer(0)),
        ("shared", DescribedValue::Text(String::new())),
    ];
    named(TEXTS, DescribedValue::Text(String::new()))
        .chain(named(NUMBERS, DescribedValue::Integer(0)))
        .chain(named(DURATIONS, DescribedValue::Duration(Seconds(0))))
        .chain(named(MOMENTS, DescribedValue::Moment(UnixTime(0))))
        .chain(named(TRUTHS, DescribedValue::Truth(false)))
        .chain(own)
}

/// The queue, and those of its jobs that wait or run as they were described.
///
/// # Errors
/// As [`queue`](super::queue).
pub fn queue_described() -> Result<(Queue, Vec<DescribedJob>), ClientError> {
    let answer = Answer::jobs()?;
    let queue = answer.queue();
    let goes_on = |job: &QueuedJob| matches!(job.state, JobState::Pending | JobState::Running | JobState::Suspended | JobState::Requeued);
    let live = answer.job_records().iter().zip(&queue.jobs).filter(|(_, job)| goes_on(job));
    // SAFETY: records of a live answer.
    let described = live.map(|(record, job)| unsafe { described(record, job) }).collect();
    Ok((queue, described))
}

/// # Safety
/// The record's texts are null or null-terminated.
unsafe fn described(record: &Record, job: &QueuedJob) -> DescribedJob {
    let mut fields = Vec::new();
    for (name, place) in TEXTS {
        let most = if LISTS.contains(name) { MOST_OF_LISTS } else { MOST_TEXT };
        // SAFETY: the caller's promise.
        let text = unsafe { value::start_of_text(place(record), most) };
        fields.extend(text.map(|text| (*name, DescribedValue::Text(text))));
    }
    let numbers = NUMBERS.iter().filter_map(|(name, number)| Some((*name, DescribedValue::Integer(number(record)?))));
    let durations = DURATIONS.iter().filter_map(|(name, span)| Some((*name, DescribedValue::Duration(Seconds(span(record)?)))));
    let moments = MOMENTS.iter().filter_map(|(name, moment)| Some((*name, DescribedValue::Moment(UnixTime(moment(record)?)))));
    let truths = TRUTHS.iter().filter_map(|(name, truth)| Some((*name, DescribedValue::Truth(truth(record)?))));
    fields.extend(numbers.chain(durations).chain(moments).chain(truths));
    // What it asked for, as far as slurmctld tells that beside what a job got that runs.
    let least = |asked: Option<u32>, shown: u32| DescribedValue::Integer(asked.unwrap_or(shown).into());
    fields.push(("min_cpus", least(job.requested_cpus, job.cpus)));
    fields.push(("min_nodes", least(job.requested_nodes, job.nodes)));
    let shared = usize::from(record.shared);
    fields.extend(SHARED.get(shared).map(|word| ("shared", DescribedValue::Text((*word).to_owned()))));
    let task = job.array_job_id.zip(value::number(record.array_task_id));
    DescribedJob { job_id: job.job_id, task, fields }
}

/// Names of fields as they are stored: by their places among [`described_fields`], which are the
/// same in two processes of one build.
mod stored_fields {
    use super::{DescribedValue, described_fields};
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};
    use std::collections::HashMap;
    use std::sync::LazyLock;

    type Fields = Vec<(&'static str, DescribedValue)>;

    static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| described_fields().map(|(name, _)| name).collect());
    static PLACES: LazyLock<HashMap<&'static str, u16>> = LazyLock::new(|| NAMES.iter().copied().zip(0..).collect());

    pub(super) fn serialize<S: Serializer>(fields: &Fields, serializer: S) -> Result<S::Ok, S::Error> {
        let placed = fields.iter().filter_map(|(name, value)| Some((PLACES.get(name)?, value)));
        placed.collect::<Vec<_>>().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Fields, D::Error> {
        let placed = Vec::<(u16, DescribedValue)>::deserialize(deserializer)?;
        let named = |(place, value)| Some((*NAMES.get(usize::from(place))?, value));
        placed.into_iter().map(|field| named(field).ok_or_else(|| D::Error::custom("a field of another build"))).collect()
    }
}

fn positive(number: Option<i64>) -> Option<i64> {
    number.filter(|number| *number > 0)
}

fn flag(job: &Record, flag: u64) -> Option<bool> {
    Some(job.bitflags & flag != 0)
}

fn leaves_threads(job: &Record) -> bool {
    i64::from(job.core_spec) & i64::from(CORE_SPEC_THREAD) != 0
}

/// The memory of each CPU or of each node, in bytes.
fn memory(job: &Record, of_cpus: bool) -> Option<i64> {
    let bit = MEM_PER_CPU.cast_unsigned();
    let mebibytes = crate::sentinel::large_number(job.pn_min_memory)?;
    if (mebibytes & bit != 0) != of_cpus {
        return None;
    }
    positive(i64::try_from(mebibytes & !bit).ok()).map(|mebibytes| mebibytes.saturating_mul(MEBIBYTE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        // SAFETY: numbers and pointers, which may be zero and null.
        unsafe { std::mem::zeroed() }
    }

    fn number(job: &Record, name: &str) -> Option<i64> {
        NUMBERS.iter().find(|(other, _)| *other == name).and_then(|(_, number)| number(job))
    }

    #[test]
    fn memory_is_that_of_cpus_or_of_nodes_in_bytes() {
        let of = |mebibytes: u64| {
            let job = Record { pn_min_memory: mebibytes, ..record() };
            (number(&job, "memory_per_node"), number(&job, "memory_per_cpu"))
        };
        assert_eq!(of(1_024), (Some(1 << 30), None));
        assert_eq!(of(2 | MEM_PER_CPU.cast_unsigned()), (None, Some(2 << 20)));
        assert_eq!((of(0), of(u64::MAX - 1)), ((None, None), (None, None)));
    }

    #[test]
    fn what_is_left_to_the_system_is_cores_or_threads() {
        let of = |core_spec: u16| {
            let job = Record { core_spec, ..record() };
            (number(&job, "core_spec"), number(&job, "thread_spec"))
        };
        assert_eq!(of(2), (Some(2), None));
        assert_eq!(of(3 | CORE_SPEC_THREAD as u16), (None, Some(3)));
        assert_eq!(of(u16::MAX - 1), (None, None));
    }

    #[test]
    fn no_field_is_there_twice() {
        let mut names: Vec<_> = described_fields().map(|(name, _)| name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
