//! What `scontrol update JobId=... KEY=VALUE ...` asks to change, as the fields that slurmctld
//! gets.
//!
//! Keys and how far they may be shortened are those of `scontrol_update_job`
//! (src/scontrol/update_job.c of 24.11).

use crate::command_line::values::{self, NodeCounts};
use crate::described::DescribedJob;
use crate::literal;
use crate::problem::suggestion;
use jiff::tz::TimeZone;
use job_types::time::{Seconds, UnixTime};
use site_rules::data::OwnedValue;
use site_rules::field::{MAIL_TYPES, Name};
use slurm_conf::{duration, moment};
use std::collections::BTreeMap;
use thiserror::Error;

/// Why a modification is not understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ModificationError {
    /// It does not begin with `scontrol update`.
    #[error("a modification begins with scontrol update, as in scontrol update JobId=12 TimeLimit=60")]
    OtherCommand,
    /// A word is no key with a value.
    #[error("{0:?} is not KEY=VALUE")]
    NoPair(String),
    /// scontrol has no such key, or it is not evaluated here.
    #[error("the key {key} is not evaluated here{closest}")]
    UnknownKey {
        /// The key.
        key: String,
        /// A remedy, or nothing.
        closest: String,
    },
    /// A value has another form than its key takes.
    #[error("{key}: {message}")]
    Value {
        /// The key.
        key: String,
        /// What is wrong.
        message: String,
    },
}

/// How a value is read.
#[derive(Clone, Copy)]
enum Reading {
    Text(Name),
    Resources(Name),
    Number(Name),
    /// MiB, with or without a unit.
    Memory(Name),
    /// A time limit in Slurm's forms.
    Limit(Name),
    /// Seconds.
    Seconds(Name),
    Moment(Name),
    /// `yes` or `no`.
    YesOrNo(Name),
    /// A number that is 0 or not.
    Truth(Name),
    /// A number, or the fewest and the most.
    Range(Name, Name),
    /// A number of nodes, a range or a list.
    Nodes,
    Shared,
    MailType,
    Switches,
    JobId,
}

/// The keys with the fewest letters that stand for each, in the order in which scontrol asks.
const KEYS: [(&str, usize, Reading); 68] = [
    ("JobId", 3, Reading::JobId),
    ("AdminComment", 6, Reading::Text(Name::AdminComment)),
    ("SiteFactor", 5, Reading::Number(Name::SiteFactor)),
    ("Comment", 3, Reading::Text(Name::Comment)),
    ("Clusters", 8, Reading::Text(Name::Clusters)),
    ("ClusterFeatures", 8, Reading::Text(Name::ClusterFeatures)),
    ("DelayBoot", 5, Reading::Limit(Name::DelayBoot)),
    ("Extra", 3, Reading::Text(Name::Extra)),
    ("TimeLimit", 5, Reading::Limit(Name::TimeLimit)),
    ("TimeMin", 5, Reading::Limit(Name::TimeMin)),
    ("Priority", 2, Reading::Number(Name::Priority)),
    ("Nice", 2, Reading::Number(Name::Nice)),
    ("CPUsPerTask", 9, Reading::Number(Name::CpusPerTask)),
    ("CpusPerTres", 9, Reading::Resources(Name::CpusPerTres)),
    ("NumCPUs", 6, Reading::Range(Name::MinCpus, Name::MaxCpus)),
    ("NumTasks", 8, Reading::Number(Name::NumTasks)),
    ("ReqProcs", 8, Reading::Number(Name::NumTasks)),
    ("Requeue", 4, Reading::Truth(Name::Requeue)),
    ("ReqNodes", 8, Reading::Nodes),
    ("NumNodes", 8, Reading::Nodes),
    ("ReqSockets", 4, Reading::Number(Name::SocketsPerNode)),
    ("ReqCores", 4, Reading::Number(Name::CoresPerSocket)),
    ("TasksPerNode", 2, Reading::Number(Name::NtasksPerNode)),
    ("ReqThreads", 4, Reading::Number(Name::ThreadsPerCore)),
    ("MinCPUsNode", 4, Reading::Number(Name::PnMinCpus)),
    ("MinMemoryNode", 10, Reading::Memory(Name::MemoryPerNode)),
    ("MinMemoryCPU", 10, Reading::Memory(Name::MemoryPerCpu)),
    ("MinTmpDiskNode", 5, Reading::Memory(Name::PnMinTmpDisk)),
    ("Partition", 2, Reading::Text(Name::Partition)),
    ("QOS", 2, Reading::Text(Name::Qos)),
    ("ReservationName", 3, Reading::Text(Name::Reservation)),
    ("Name", 2, Reading::Text(Name::JobName)),
    ("JobName", 4, Reading::Text(Name::JobName)),
    ("WCKey", 1, Reading::Text(Name::Wckey)),
    ("StdErr", 6, Reading::Text(Name::StdErr)),
    ("StdIn", 5, Reading::Text(Name::StdIn)),
    ("StdOut", 6, Reading::Text(Name::StdOut)),
    ("Switches", 5, Reading::Switches),
    ("wait-for-switch", 5, Reading::Seconds(Name::Wait4switch)),
    ("OverSubscribe", 2, Reading::Shared),
    ("Shared", 2, Reading::Shared),
    ("Contiguous", 3, Reading::YesOrNo(Name::Contiguous)),
    ("CoreSpec", 4, Reading::Number(Name::CoreSpec)),
    ("MemPerTres", 5, Reading::Resources(Name::MemPerTres)),
    ("ThreadSpec", 4, Reading::Number(Name::ThreadSpec)),
    ("TresPerJob", 8, Reading::Resources(Name::TresPerJob)),
    ("TresPerNode", 8, Reading::Resources(Name::TresPerNode)),
    ("TresPerSocket", 8, Reading::Resources(Name::TresPerSocket)),
    ("TresPerTask", 8, Reading::Resources(Name::TresPerTask)),
    ("ExcNodeList", 3, Reading::Text(Name::ExcNodes)),
    ("NodeList", 8, Reading::Text(Name::ReqNodes)),
    ("ReqNodeList", 8, Reading::Text(Name::ReqNodes)),
    ("Features", 1, Reading::Text(Name::Features)),
    ("Prefer", 3, Reading::Text(Name::Prefer)),
    ("Gres", 2, Reading::Resources(Name::TresPerNode)),
    ("Account", 1, Reading::Text(Name::Account)),
    ("Licenses", 1, Reading::Text(Name::Licenses)),
    ("EligibleTime", 2, Reading::Moment(Name::BeginTime)),
    ("StartTime", 2, Reading::Moment(Name::BeginTime)),
    ("EndTime", 2, Reading::Moment(Name::EndTime)),
    ("Deadline", 3, Reading::Moment(Name::Deadline)),
    ("BurstBuffer", 1, Reading::Text(Name::BurstBuffer)),
    ("Dependency", 1, Reading::Text(Name::Dependency)),
    ("MailType", 5, Reading::MailType),
    ("MailUser", 5, Reading::Text(Name::MailUser)),
    ("Reboot", 3, Reading::YesOrNo(Name::Reboot)),
    ("TresBind", 5, Reading::Text(Name::TresBind)),
    ("WorkDir", 2, Reading::Text(Name::WorkDir)),
];

/// Reads `scontrol update` with its keys, at a time and in a zone: what is asked to change.
///
/// # Errors
/// [`ModificationError`] says what is not understood.
pub fn of(command: &[String], now: UnixTime, zone: &TimeZone) -> Result<DescribedJob, ModificationError> {
    let words = match command {
        [program, update, words @ ..] if is_program(program) && update.eq_ignore_ascii_case("update") => words,
        _ => return Err(ModificationError::OtherCommand),
    };
    // `scontrol update job 12 ...` is the same as JobId=12.
    let mut values = BTreeMap::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (key, value) = match word.split_once('=') {
            Some(pair) => pair,
            None if ["job", "jobid"].iter().any(|name| word.eq_ignore_ascii_case(name)) => match words.next() {
                Some(number) => ("JobId", number.strip_prefix('=').unwrap_or(number)),
                None => return Err(ModificationError::NoPair(word.clone())),
            },
            None => return Err(ModificationError::NoPair(word.clone())),
        };
        read(key, value, now, zone, &mut values)?;
    }
    Ok(DescribedJob::new(values, BTreeMap::new()))
}

/// Whether a command is one of scontrol, by its name or its path.
#[must_use]
pub fn is_program(program: &str) -> bool {
    program.rsplit('/').next() == Some("scontrol")
}

fn read(key: &str, value: &str, now: UnixTime, zone: &TimeZone, values: &mut BTreeMap<Name, OwnedValue>) -> Result<(), ModificationError> {
    let stands_for = |(name, least, _): &&(&str, usize, Reading)| {
        key.len() >= *least && name.get(..key.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(key))
    };
    let Some((name, _, reading)) = KEYS.iter().find(stands_for) else {
        let closest = suggestion(key, KEYS.iter().map(|(name, ..)| *name));
        return Err(ModificationError::UnknownKey { key: key.to_owned(), closest });
    };
    let wrong = |message: String| ModificationError::Value { key: (*name).to_owned(), message };
    let number = |text: &str| text.parse::<i64>().map_err(|_| wrong(format!("{text:?} is no whole number")));
    let limit = |text: &str| duration::parse(text).map_err(|error| wrong(error.to_string()));
    let (name, value) = match *reading {
        Reading::Text(name) => (name, OwnedValue::Text(value.to_owned())),
        Reading::Resources(name) => (name, OwnedValue::Resources(value.to_owned())),
        Reading::Number(name) => (name, OwnedValue::Integer(number(value)?)),
        Reading::Memory(name) => (name, OwnedValue::Integer(literal::bytes(value).map_err(wrong)?)),
        Reading::Limit(Name::TimeLimit) if ["UNLIMITED", "INFINITE"].iter().any(|word| value.eq_ignore_ascii_case(word)) => {
            (Name::TimeLimitIsUnlimited, OwnedValue::Truth(true))
        }
        Reading::Limit(_) if value.starts_with(['+', '-']) => {
            return Err(wrong(format!("{value:?} counts from what the job has, which is not evaluated here: write the new value")));
        }
        Reading::Limit(name) => (name, OwnedValue::Duration(Seconds(limit(value)?))),
        Reading::Seconds(name) => (name, OwnedValue::Duration(Seconds(number(value)?))),
        Reading::Moment(name) => {
            let at = moment::parse(value, now.0, zone).map_err(|error| wrong(error.to_string()))?;
            (name, OwnedValue::Moment(UnixTime(at)))
        }
        Reading::YesOrNo(name) => (name, OwnedValue::Truth(yes_or_no(value).ok_or_else(|| wrong("yes or no is expected".to_owned()))?)),
        Reading::Truth(name) => (name, OwnedValue::Truth(number(value)? != 0)),
        Reading::Range(least, most) => {
            let count = |text: &str| values::count_of(text).ok_or_else(|| wrong(format!("{text:?} is no number and no range such as 2-4")));
            let (from, to) = value.split_once('-').map_or((value, None), |(from, to)| (from, Some(to)));
            let from = count(from)?;
            let to = to.map(count).transpose()?.filter(|to| *to != 0);
            if from == 0 || to.is_some_and(|to| to < from) {
                return Err(wrong(format!("{value:?} is no number of 1 or more, and no range that ascends")));
            }
            values.insert(least, OwnedValue::Integer(from));
            let Some(to) = to else { return Ok(()) };
            (most, OwnedValue::Integer(to))
        }
        Reading::Nodes => {
            let NodeCounts { least, most, listed } =
                values::nodes(value).ok_or_else(|| wrong(format!("{value:?} is no number of nodes, no range such as 2-4 and no list")))?;
            if most != 0 {
                values.insert(Name::MaxNodes, OwnedValue::Integer(most));
            }
            if let Some(listed) = listed {
                values.insert(Name::JobSizeStr, OwnedValue::Text(listed));
            }
            (Name::MinNodes, OwnedValue::Integer(least))
        }
        Reading::Shared => {
            let is_shared = yes_or_no(value).ok_or_else(|| wrong("yes or no is expected".to_owned()))?;
            (Name::Shared, OwnedValue::Text(if is_shared { "ok" } else { "none" }.to_owned()))
        }
        Reading::MailType => {
            let types = values::mail_types(value)
                .ok_or_else(|| wrong(format!("{value:?} has other words than ALL, NONE, {}", MAIL_TYPES.join(", "))))?;
            (Name::MailType, OwnedValue::Texts(types))
        }
        Reading::Switches => {
            let (count, wait) = value.split_once('@').map_or((value, None), |(count, wait)| (count, Some(wait)));
            if let Some(wait) = wait {
                values.insert(Name::Wait4switch, OwnedValue::Duration(Seconds(limit(wait)?)));
            }
            (Name::ReqSwitch, OwnedValue::Integer(number(count)?))
        }
        Reading::JobId => {
            if let Ok(number) = value.parse::<u32>() {
                values.insert(Name::JobId, OwnedValue::Integer(i64::from(number)));
            }
            (Name::JobIdStr, OwnedValue::Text(value.to_owned()))
        }
    };
    values.insert(name, value);
    Ok(())
}

/// Reads yes or no as scontrol does, which needs one letter.
fn yes_or_no(word: &str) -> Option<bool> {
    let begins = |whole: &str| !word.is_empty() && whole.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
    if begins("yes") { Some(true) } else { begins("no").then_some(false) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use site_rules::field::{FieldNumber, Fields as _};

    fn read(words: &str) -> Result<DescribedJob, ModificationError> {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        of(&words, UnixTime(1_000_000), &TimeZone::UTC)
    }

    #[test]
    fn a_modification_has_the_fields_that_slurmctld_gets() {
        let job = read(
            "scontrol update JobId=12_3 TimeLimit=1-0 Part=gpu NumNodes=2-4 MinMemoryNode=2000 Requeue=0 Feat=a Gres=gpu:2 \
             Switches=1@5 MailType=end,fail OverSubscribe=n StartTime=now+60",
        );
        let job = job.unwrap();
        for (name, expected) in [
            (Name::JobIdStr, Some("12_3")),
            (Name::JobId, None),
            (Name::TimeLimit, Some("86400s")),
            (Name::Partition, Some("gpu")),
            (Name::MinNodes, Some("2")),
            (Name::MaxNodes, Some("4")),
            (Name::MemoryPerNode, Some("2097152000")),
            (Name::Requeue, Some("false")),
            (Name::Features, Some("a")),
            (Name::Gpus, Some("4")),
            (Name::ReqSwitch, Some("1")),
            (Name::Wait4switch, Some("300s")),
            (Name::MailType, Some("END|FAIL")),
            (Name::Shared, Some("none")),
            (Name::BeginTime, Some("@1000060")),
            (Name::Account, None),
        ] {
            let value = job.field(FieldNumber::from(name)).map(|value| value.to_string());
            assert_eq!(value.as_deref(), expected, "{name:?}");
        }
        let field = |words: &str, name| read(words).unwrap().field(FieldNumber::from(name)).map(|value| value.to_string());
        for (words, expected) in [
            ("NumNodes=8", [Some("8"), Some("8"), None]),
            ("ReqNodes=1k", [Some("1024"), Some("1024"), None]),
            ("NumNodes=2-4", [Some("2"), Some("4"), None]),
            ("NumNodes=4,2", [Some("2"), Some("4"), Some("2,4")]),
            ("NumNodes=2-8:2", [Some("2"), Some("6"), Some("2,4,6")]),
            ("NumNodes=0", [Some("0"), None, None]),
        ] {
            let words = format!("scontrol update JobId=12 {words}");
            let read = [Name::MinNodes, Name::MaxNodes, Name::JobSizeStr].map(|name| field(&words, name));
            assert_eq!(read.each_ref().map(Option::as_deref), expected, "{words}");
        }
        for (words, expected) in
            [("NumCPUs=8", [Some("8"), None]), ("NumCPUs=1k-2K", [Some("1024"), Some("2048")]), ("NumCPUs=4-0", [Some("4"), None])]
        {
            let words = format!("scontrol update JobId=12 {words}");
            let read = [Name::MinCpus, Name::MaxCpus].map(|name| field(&words, name));
            assert_eq!(read.each_ref().map(Option::as_deref), expected, "{words}");
        }
        for (types, expected) in [("ALL", "BEGIN|END|FAIL|REQUEUE|STAGE_OUT|INVALID_DEPEND"), ("none", "")] {
            let read = field(&format!("scontrol update JobId=12 MailType={types}"), Name::MailType);
            let mut read: Vec<&str> = read.as_deref().unwrap().split('|').collect();
            let mut expected: Vec<&str> = expected.split('|').collect();
            read.sort_unstable();
            expected.sort_unstable();
            assert_eq!(read, expected, "{types}");
        }
        let unlimited = read("/usr/bin/scontrol update job 7 timelimit=UNLIMITED").unwrap();
        let field = |name| unlimited.field(FieldNumber::from(name)).map(|value| value.to_string());
        assert_eq!((field(Name::JobId).as_deref(), field(Name::TimeLimitIsUnlimited).as_deref()), (Some("7"), Some("true")));
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for (words, message) in [
            ("sbatch job.sh", "a modification begins with scontrol update"),
            ("scontrol update JobId=1 Partitio", "\"Partitio\" is not KEY=VALUE"),
            ("scontrol update JobId=1 Partitions=a", "the key Partitions is not evaluated here; did you mean Partition?"),
            ("scontrol update JobId=1 TimeLimit=+5", "TimeLimit: \"+5\" counts from what the job has"),
            ("scontrol update JobId=1 NumTasks=x", "NumTasks: \"x\" is no whole number"),
            ("scontrol update JobId=1 NumCPUs=4-2", "NumCPUs: \"4-2\" is no number of 1 or more"),
            ("scontrol update JobId=1 NumCPUs=0", "NumCPUs: \"0\" is no number of 1 or more"),
            ("scontrol update JobId=1 NumNodes=4-2", "NumNodes: \"4-2\" is no number of nodes"),
            ("scontrol update JobId=1 NumNodes=ALL", "NumNodes: \"ALL\" is no number of nodes"),
            ("scontrol update JobId=1 MailType=SOMETIMES", "MailType: \"SOMETIMES\" has other words than ALL, NONE, BEGIN, "),
            ("scontrol update JobId=1 MailType=", "MailType: \"\" has other words than ALL, NONE, BEGIN, "),
        ] {
            let error = read(words).unwrap_err().to_string();
            assert!(error.contains(message), "{words}: {error}");
        }
    }
}
