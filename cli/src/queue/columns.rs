//! The columns of the queue: squeue's, where squeue has them.

use command_parts::output::{duration, moment};
use job_types::text::is_obeyed;
use job_types::time::{Seconds, UnixTime};

use super::ListedJob;
use crate::columns::{Column, Key};

/// The columns without a wish.
pub(super) const DEFAULT: &str =
    "jobid,partition,username,numnodes,numcpus,arraytasks,timelimit,starttime,startin,earliestin,latestin,reason";

/// The columns that slurmctld is asked for.
pub(super) const OF_SLURMCTLD: [&str; 4] = ["name", "account", "qos", "submittime"];

/// squeue's word for what is not known.
const UNKNOWN: &str = "N/A";

/// All columns.
pub(super) static COLUMNS: [Column<ListedJob>; 24] = [
    column("jobid", Some('i'), "JOBID", true, |job, _| job.waiting.job_id.to_string(), |job| Key::Number(job.waiting.job_id.0.into())),
    column(
        "partition",
        Some('P'),
        "PARTITION",
        false,
        |job, _| job.waiting.partition.clone(),
        |job| Key::named(Some(&job.waiting.partition)),
    ),
    column("name", Some('j'), "NAME", false, |job, _| named(job.name.as_deref()), |job| Key::named(job.name.as_deref())),
    column("username", Some('u'), "USER", false, |job, _| job.waiting.user(), |job| Key::named(Some(&job.waiting.user()))),
    column("userid", Some('U'), "UID", true, |job, _| job.waiting.user.to_string(), |job| Key::Number(job.waiting.user.0.into())),
    column("account", Some('a'), "ACCOUNT", false, |job, _| named(job.account.as_deref()), |job| Key::named(job.account.as_deref())),
    column("qos", Some('q'), "QOS", false, |job, _| named(job.qos.as_deref()), |job| Key::named(job.qos.as_deref())),
    column("numnodes", Some('D'), "NODES", true, |job, _| job.waiting.nodes.to_string(), |job| Key::Number(job.waiting.nodes.into())),
    column("numcpus", Some('C'), "CPUS", true, |job, _| job.waiting.cpus.to_string(), |job| Key::Number(job.waiting.cpus.into())),
    column("arraytasks", None, "TASKS", true, |job, _| job.waiting.tasks.to_string(), |job| Key::Number(job.waiting.tasks.into())),
    column(
        "timelimit",
        Some('l'),
        "TIME_LIMIT",
        true,
        |job, _| limit(job.waiting.limit_s),
        |job| Key::Number(job.waiting.limit_s.unwrap_or(i64::MAX)),
    ),
    column(
        "priority",
        Some('p'),
        "PRIORITY",
        true,
        |job, _| job.waiting.priority.to_string(),
        |job| Key::Number(job.waiting.priority.into()),
    ),
    column("statecompact", Some('t'), "ST", false, |_, _| "PD".to_owned(), |_| Key::Unknown),
    column("state", Some('T'), "STATE", false, |_, _| "PENDING".to_owned(), |_| Key::Unknown),
    column("timeused", Some('M'), "TIME", true, |_, _| duration(Seconds::ZERO), |_| Key::Unknown),
    column("submittime", Some('V'), "SUBMIT_TIME", false, |job, _| at(job.submitted), |job| Key::of(job.submitted)),
    column("starttime", Some('S'), "START_TIME", false, |job, _| at(job.waiting.expected_start), |job| Key::of(job.waiting.expected_start)),
    column("startin", None, "START_IN", true, |job, now| ahead(job.waiting.expected_start, now), |job| Key::of(job.waiting.expected_start)),
    column("earlieststart", None, "EARLIEST", false, |job, _| at(job.waiting.earliest_start), |job| Key::of(job.waiting.earliest_start)),
    column(
        "earliestin",
        None,
        "EARLIEST_IN",
        true,
        |job, now| ahead(job.waiting.earliest_start, now),
        |job| Key::of(job.waiting.earliest_start),
    ),
    column("lateststart", None, "LATEST", false, |job, _| at(job.waiting.latest_start), |job| Key::of(job.waiting.latest_start)),
    column("latestin", None, "LATEST_IN", true, |job, now| ahead(job.waiting.latest_start, now), |job| Key::of(job.waiting.latest_start)),
    column(
        "reason",
        Some('r'),
        "REASON",
        false,
        |job, _| job.waiting.why.clone().unwrap_or_default(),
        |job| Key::named(job.waiting.why.as_deref()),
    ),
    column("reasonlist", Some('R'), "NODELIST(REASON)", false, |job, _| nodes_or_reason(job), |job| Key::named(job.waiting.why.as_deref())),
];

const fn column(
    name: &'static str,
    letter: Option<char>,
    header: &'static str,
    right: bool,
    cell: fn(&ListedJob, UnixTime) -> String,
    key: fn(&ListedJob) -> Key,
) -> Column<ListedJob> {
    Column { name, letter, header, right, cell, key }
}

/// A name, which may be any text of a user's, in characters that a terminal shows and does not
/// obey.
fn named(name: Option<&str>) -> String {
    name.unwrap_or(UNKNOWN).replace(is_obeyed, "?")
}

/// Returns why a job has no expected start, in brackets, as squeue shows the reason of a job that
/// waits; empty if it has one.
fn nodes_or_reason(job: &ListedJob) -> String {
    job.waiting.why.as_ref().map_or_else(String::new, |why| format!("({why})"))
}

fn limit(seconds: Option<i64>) -> String {
    seconds.map_or_else(|| "UNLIMITED".to_owned(), |seconds| duration(Seconds(seconds)))
}

fn at(seconds: Option<i64>) -> String {
    seconds.map_or_else(|| UNKNOWN.to_owned(), |seconds| moment(UnixTime(seconds)))
}

fn ahead(seconds: Option<i64>, now: UnixTime) -> String {
    seconds.map_or_else(String::new, |seconds| match UnixTime(seconds) - now {
        past if past <= Seconds::ZERO => "now".to_owned(),
        distance => duration(distance),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_user_names_a_job_does_not_reach_the_terminal_as_a_command() {
        assert_eq!(named(Some("a\u{1b}[2Jb\nc\u{9b}d e")), "a?[2Jb?c?d e");
        assert_eq!(named(Some("a\u{202e}b\u{2066}c\u{200f}d")), "a?b?c?d");
        assert_eq!((named(Some("")), named(None)), (String::new(), "N/A".to_owned()));
    }
}
