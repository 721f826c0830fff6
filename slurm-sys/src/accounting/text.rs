//! The text of an archive, as slurmdbd reads it.
//!
//! slurmdbd takes an archive that begins with `insert into ` or `delete from ` for one of its first
//! releases, and translates it (`_process_old_sql_line` in as_mysql_archive.c; the same from 22.05
//! to 26.05). Its reader is simple, and this text keeps to what it understands: tables and columns
//! by their first names, the cluster as a column but not the first, a clause `on duplicate key`
//! without which it finds no values, and no text with a comma, a bracket or a semicolon. On the way
//! every apostrophe gets a backslash (`unpackstr_xmalloc_escaped` in pack.c), so there is none.
//! Texts are hexadecimal literals, which leaves nothing to be quoted, and the cluster stands
//! between backquotes, of which the reader drops whatever stands at the ends.

use std::fmt::Write;

use crate::bindings;

/// The state in which a job of the past ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndState {
    /// The job ended with exit status 0.
    Completed,
    /// The job ended with exit status 1.
    Failed,
    /// The job's user or an administrator cancelled the job.
    Cancelled,
}

impl EndState {
    /// `enum job_states` in slurm/slurm.h.
    fn state(self) -> u32 {
        match self {
            Self::Completed => bindings::JOB_COMPLETE,
            Self::Failed => bindings::JOB_FAILED,
            Self::Cancelled => bindings::JOB_CANCELLED,
        }
    }

    /// Returns the exit code as `wait` reports it: the exit status times 256.
    fn exit_code(self) -> u32 {
        if self == Self::Failed { 256 } else { 0 }
    }
}

/// A job's time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeLimit {
    /// A limit in minutes.
    Minutes(u32),
    /// No limit (`INFINITE`).
    Unlimited,
    /// The user gave none, and none was recorded.
    NotGiven,
}

impl TimeLimit {
    fn value(self) -> u32 {
        match self {
            Self::Minutes(minutes) => minutes,
            Self::Unlimited => bindings::INFINITE,
            Self::NotGiven => bindings::NO_VAL,
        }
    }
}

/// A job that has ended. Times are Unix seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastJob<'a> {
    /// The job's number.
    pub job_id: u32,
    /// The association that the job ran under.
    pub association_id: u32,
    /// The account, as the association has it.
    pub account: &'a str,
    /// The job's name.
    pub name: &'a str,
    /// The user's number.
    pub user_id: u32,
    /// The group's number.
    pub group_id: u32,
    /// Name of the partition.
    pub partition: &'a str,
    /// The CPUs and nodes that the job asked for.
    pub requested: (u32, u32),
    /// The CPUs and nodes that the job had; `None` if it never started.
    pub allocated: Option<(u32, u32)>,
    /// The state in which the job ended.
    pub end_state: EndState,
    /// The job's time limit.
    pub time_limit: TimeLimit,
    /// When the job was submitted.
    pub submitted: i64,
    /// When the job could have started.
    pub eligible: i64,
    /// When the job started; `None` if it never did.
    pub started: Option<i64>,
    /// When the job ended.
    pub ended: i64,
    /// The job's system comment.
    pub comment: &'a str,
}

/// A text that the reader of archives cannot misread. An empty one is the column's default, which
/// is empty too.
fn push_text(output: &mut String, text: &str) {
    if text.is_empty() {
        output.push_str("default");
        return;
    }
    output.push_str("0x");
    for byte in text.bytes() {
        let _ = write!(output, "{byte:02x}");
    }
}

/// Trackable resources as slurmdbd writes them: 1 is CPUs, 4 nodes, 5 billing, which is CPUs where
/// nothing else is configured.
fn resources((cpus, nodes): (u32, u32)) -> String {
    format!("1={cpus},4={nodes},5={cpus}")
}

/// The archive that adds these jobs to a cluster. A job that is there already, by number and moment
/// of submission, is left as it is.
///
/// Records get their key from the table's counter. From 24.11 on slurmctld makes keys of its own
/// from the time of day, so the keys of records that are added continue those of the last live job
/// and stay below those of the next.
pub fn job_insertion(cluster: &str, jobs: &[PastJob<'_>]) -> String {
    let mut archive = String::with_capacity(400 * jobs.len() + 400);
    archive.push_str(
        "insert into job_table (jobid, cluster, mod_time, associd, qos, uid, gid, account, `partition`, name, nodelist, req_cpus, \
         alloc_nodes, priority, state, exit_code, timelimit, submit, eligible, start, end, system_comment, tres_alloc, tres_req) values ",
    );
    for (position, job) in jobs.iter().enumerate() {
        if position > 0 {
            archive.push_str(", ");
        }
        let _ = write!(archive, "({}, `{cluster}`, {}, {}, ", job.job_id, job.ended, job.association_id);
        // 1 is "normal", which every slurmdbd has.
        let _ = write!(archive, "1, {}, {}, ", job.user_id, job.group_id);
        for text in [job.account, job.partition, job.name, "None assigned"] {
            push_text(&mut archive, text);
            archive.push_str(", ");
        }
        let allocated_nodes = job.allocated.map_or(0, |(_, nodes)| nodes);
        let _ = write!(archive, "{}, {allocated_nodes}, 0, ", job.requested.0);
        let _ = write!(archive, "{}, {}, {}, ", job.end_state.state(), job.end_state.exit_code(), job.time_limit.value());
        let started = job.started.unwrap_or(0);
        let _ = write!(archive, "{}, {}, {started}, {}, ", job.submitted, job.eligible, job.ended);
        push_text(&mut archive, job.comment);
        archive.push_str(", ");
        push_text(&mut archive, &job.allocated.map(resources).unwrap_or_default());
        archive.push_str(", ");
        push_text(&mut archive, &resources(job.requested));
        archive.push(')');
    }
    archive.push_str(" on duplicate key update deleted=0;");
    archive
}
