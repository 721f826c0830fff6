//! Makes a workload log of runs of jobs.

use std::collections::HashMap;

use job_types::number::QosIndex;
use job_types::time::{Seconds, UnixTime};

use super::{AccountedRun, Limit, machine};
use crate::remarks::Remarks;
use crate::swf::{Accounted, Header, Log, NO_LIMIT_SECONDS, Record, Status};

/// What the log is to say of its machine, and of the names of its jobs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choices<'a> {
    /// Where the jobs are from, for the header.
    pub source: &'a str,
    /// CPUs of the machine.
    pub processors: Option<u64>,
    /// The CPUs that the cluster has now, used if `processors` is not known. If more were in use at
    /// once, the machine of the log was larger; it is taken to have had that many. The same holds
    /// if neither number is known.
    pub processors_now: Option<u64>,
    /// Nodes of the machine.
    pub nodes: Option<u64>,
    /// Whether the header tells the names of the partitions; they are numbers otherwise.
    pub with_partition_names: bool,
}

/// Numbers for names, in the order in which they are asked for.
#[derive(Debug, Default)]
struct Numbers(HashMap<Box<str>, u32>);

impl Numbers {
    fn of(&mut self, name: &str) -> u32 {
        if let Some(number) = self.0.get(name) {
            return *number;
        }
        let number = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        self.0.insert(name.into(), number);
        number
    }

    /// The names by their numbers.
    fn in_order(self) -> Vec<Box<str>> {
        let mut names: Vec<(Box<str>, u32)> = self.0.into_iter().collect();
        names.sort_unstable_by_key(|(_, number)| *number);
        names.into_iter().map(|(name, _)| name).collect()
    }
}

/// Numbers from 1 in the order in which things first appear in the log, so that they do not depend
/// on the order in which accounting told of them.
#[derive(Debug, Default)]
struct FromOne(HashMap<u32, u64>);

impl FromOne {
    fn of(&mut self, number: Option<u32>) -> Option<u64> {
        let next = self.0.len() as u64 + 1;
        number.map(|number| *self.0.entry(number).or_insert(next))
    }
}

/// A run as it is kept until all are known.
#[derive(Debug, Clone, PartialEq)]
struct Kept {
    eligible: UnixTime,
    id: u64,
    submitted: UnixTime,
    started: Option<UnixTime>,
    ended: UnixTime,
    run_time: Option<Seconds>,
    suspended: bool,
    allocated: Option<u64>,
    requested: Option<u64>,
    allocated_nodes: Option<u32>,
    requested_nodes: Option<u32>,
    kilobytes: Option<f64>,
    limit: Limit,
    ending: Option<Status>,
    user: Option<u32>,
    account: Option<u32>,
    partition: Option<u32>,
    qos: Option<u32>,
    name: Option<u32>,
}

/// How far local times are set back at once where summer ends.
const FURTHEST_BACK: Seconds = Seconds(3_600);

/// Takes runs in any order and makes a log of them.
#[derive(Debug, Default)]
pub struct LogBuilder {
    runs: Vec<Kept>,
    users: Numbers,
    accounts: Numbers,
    partitions: Numbers,
    qos: Numbers,
    names: Numbers,
    not_ended: u64,
    never_eligible: u64,
    without_submission: u64,
    start_not_known: u64,
    out_of_order: u64,
}

impl LogBuilder {
    /// A log without jobs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many runs were taken.
    #[must_use]
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Whether no run was taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Takes a run, or counts why not.
    pub fn add(&mut self, run: &AccountedRun<'_>) {
        let Some(ended) = run.ended else {
            self.not_ended += 1;
            return;
        };
        if run.submitted.or(run.eligible).is_none() {
            self.without_submission += 1;
            return;
        }
        // Held until it was cancelled, say: it was never in the queue.
        let Some(eligible) = run.eligible.or(run.started) else {
            self.never_eligible += 1;
            return;
        };
        // A job that is eligible or submitted only after its end was never in the queue either. One
        // that started was, where local times were set back by no more than an hour in between.
        let late = eligible.max(run.submitted.unwrap_or(eligible)) - ended;
        if late > if run.started.is_some() { FURTHEST_BACK } else { Seconds::ZERO } {
            self.never_eligible += 1;
            return;
        }
        let mut started = run.started;
        if run.is_requeued && started.is_none() {
            self.start_not_known += 1;
        }
        // Clocks that were set, or local times on the day on which they change.
        if started.is_some_and(|started| started < eligible) || started.unwrap_or(eligible) > ended {
            self.out_of_order += 1;
            started = started.map(|started| started.max(eligible));
        }
        let by_times = || started.map(|started| ended - started - run.suspended).filter(|run_time| *run_time >= Seconds::ZERO);
        let named = |numbers: &mut Numbers, name: &str| (!name.is_empty()).then(|| numbers.of(name));
        let at_least_one = |nodes: Option<u32>| nodes.filter(|nodes| *nodes > 0);
        let first_partition = run.partition.split(',').next().unwrap_or_default();
        self.runs.push(Kept {
            eligible,
            id: run.id,
            submitted: run.submitted.unwrap_or(eligible),
            started,
            ended: ended.max(started.unwrap_or(eligible)),
            run_time: started.and(run.run_time.or_else(by_times)),
            suspended: run.suspended > Seconds::ZERO,
            allocated: started.and(run.allocated_cpus),
            requested: run.requested_cpus,
            allocated_nodes: at_least_one(run.allocated_nodes),
            requested_nodes: at_least_one(run.requested_nodes),
            kilobytes: run.requested_kilobytes_per_cpu,
            limit: run.limit,
            // If the start of a requeued run is not known, nobody knows when it left the queue.
            ending: if run.is_requeued && started.is_none() { None } else { run.ending },
            user: named(&mut self.users, run.user),
            account: named(&mut self.accounts, run.account),
            partition: named(&mut self.partitions, first_partition),
            qos: named(&mut self.qos, run.qos),
            name: named(&mut self.names, run.name),
        });
    }

    /// The log: its jobs are in the order in which they became eligible, numbered from 1, and its
    /// time begins with the first of them. Also what was left out, or taken as not known.
    #[must_use]
    pub fn finish(mut self, choices: &Choices<'_>) -> (Log, Remarks) {
        let order = |run: &Kept| (run.eligible, run.submitted, run.id, run.ended, run.started);
        self.runs.sort_by_key(order);
        let taken = self.runs.len();
        // Windows of time that overlap tell of a job twice.
        self.runs.dedup_by_key(|run| order(run));
        let twice = (taken - self.runs.len()) as u64;
        let mut remarks = Remarks::default();
        remarks.count(self.not_ended, "of jobs that had not ended, left out");
        remarks.count(self.never_eligible, "of jobs that were never eligible to run, as held ones, or whose times can't be, left out");
        remarks.count(self.without_submission, "without a submission, left out");
        remarks.count(twice, "that were there twice, of which one was taken");
        remarks.count(self.start_not_known, "of requeued jobs whose start is not known");
        remarks.count(self.out_of_order, "with a start before they were eligible, or an end before the start, moved together");
        let count = |is_one: fn(&Kept) -> bool| self.runs.iter().filter(|run| is_one(run)).count() as u64;
        remarks.count(count(|run| run.suspended), "of jobs that were suspended, for a time that is taken off their run times");
        remarks.count(count(|run| run.user.is_none()), "without a user");
        remarks.count(count(|run| run.started.is_some() && run.allocated.is_none()), "of jobs that ran, without the CPUs that they had");
        remarks.count(
            count(|run| run.started.is_some() && run.limit == Limit::NotKnown),
            "of jobs that ran, without a time limit that is known",
        );

        let begin = self.runs.first().map(|run| run.eligible).unwrap_or_default();
        let peak = machine::peak(self.runs.iter().filter_map(|run| Some((run.started?, run.ended, run.allocated?))));
        let now = choices.processors_now.unwrap_or(0);
        let processors = choices.processors.or(Some(now.max(peak)).filter(|processors| *processors > 0));
        if choices.processors.is_none() && peak > now {
            remarks.note(format!(
                "the machine is taken to have {} processors, the most that were in use at once",
                job_types::text::count(usize::try_from(peak).unwrap_or(usize::MAX))
            ));
        }
        // A cluster that was larger had other nodes, too.
        let nodes = choices.nodes.filter(|_| choices.processors.is_some() || peak <= now);
        let choices = Choices { processors, nodes, ..choices.clone() };
        let (mut users, mut accounts, mut partitions) = (FromOne::default(), FromOne::default(), FromOne::default());
        let (mut qos, mut names) = (FromOne::default(), FromOne::default());
        let records: Vec<Record> = (1..)
            .zip(&self.runs)
            .map(|(job_number, run)| Record {
                job_number,
                submit_time_seconds: seconds(run.eligible - begin),
                wait_time_seconds: wait(run),
                run_time_seconds: run.run_time.and_then(seconds),
                allocated_processors: run.allocated,
                requested_processors: run.requested,
                requested_time_seconds: match run.limit {
                    Limit::NotKnown => None,
                    Limit::Unlimited => Some(NO_LIMIT_SECONDS),
                    Limit::Seconds(limit) => Some(limit.min(NO_LIMIT_SECONDS)),
                },
                requested_memory_kilobytes: run.kilobytes,
                status: run.ending,
                user: users.of(run.user),
                group: accounts.of(run.account),
                executable: names.of(run.name),
                partition: partitions.of(run.partition),
                accounted: Accounted {
                    requested_nodes: run.requested_nodes,
                    allocated_nodes: run.allocated_nodes,
                    qos: qos.of(run.qos).map(qos_index),
                },
                ..Record::default()
            })
            .collect();
        let named_partitions = self.partitions.in_order();
        let header = header(&choices, begin, records.len(), || {
            let mut named: Vec<(u64, &str)> = partitions
                .0
                .iter()
                .filter_map(|(kept, number)| Some((*number, named_partitions.get(usize::try_from(*kept).ok()?)?.as_ref())))
                .collect();
            named.sort_unstable();
            named
        });
        (Log { header, records }, remarks)
    }
}

/// Returns the seconds from when a run became eligible until it left the queue. A run without a
/// start left it at its end; `None` if how it ended is not known either.
fn wait(run: &Kept) -> Option<u64> {
    match run.started {
        Some(started) => seconds(started - run.eligible),
        None => run.ending.and_then(|_| seconds(run.ended - run.eligible)),
    }
}

/// Returns the index of a quality of service. All that have no index left count together as one
/// that is not known, as they do in the daemon.
fn qos_index(number: u64) -> QosIndex {
    u16::try_from(number).map_or(QosIndex::UNKNOWN, QosIndex)
}

fn seconds(seconds: Seconds) -> Option<u64> {
    u64::try_from(seconds.0).ok()
}

fn header<'a>(choices: &Choices<'_>, begin: UnixTime, records: usize, partitions: impl FnOnce() -> Vec<(u64, &'a str)>) -> Header {
    let mut header = Header::new();
    header.push("Version", "2.2");
    header.push("Conversion", choices.source);
    header.push("MaxJobs", &records.to_string());
    header.push("MaxRecords", &records.to_string());
    header.push("UnixStartTime", &begin.0.to_string());
    for (key, value) in [("MaxProcs", choices.processors), ("MaxNodes", choices.nodes)] {
        if let Some(value) = value {
            header.push(key, &value.to_string());
        }
    }
    if choices.with_partition_names {
        for (number, name) in partitions() {
            header.push("Partition", &format!("{number} {name}"));
        }
    }
    header.push("Note", "the submit time is the moment from which on only resources and priority kept the job waiting");
    header.push("Note", "the run time is without the time for which the job was suspended");
    header.push("Note", "users, groups (accounts), executables (job names) and partitions are numbered by their first job");
    header
}

#[cfg(test)]
mod tests;
