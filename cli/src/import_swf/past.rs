//! Turns a log's records into jobs of the past: which are taken, how large they are, and when they
//! ran.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};
use std::str::FromStr;

use job_types::time::Seconds;
use simulator::swf::{Header, NO_LIMIT_SECONDS, Record, Status};
use simulator::workload::LoggedJob;
use slurm_sys::accounting::{EndState, TimeLimit};

/// A range of job numbers, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JobNumbers {
    first: u64,
    last: u64,
}

impl FromStr for JobNumbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (first, last) = text.split_once('-')?;
            Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
        };
        match read() {
            Some((first, last)) if first <= last => Ok(Self { first, last }),
            Some(_) => Err("the first number is greater than the last".into()),
            None => Err("give two job numbers, such as 1-5000".into()),
        }
    }
}

/// What all times are multiplied by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TimeScale(f64);

impl FromStr for TimeScale {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(factor) if (1e-6..=1e3).contains(&factor) => Ok(Self(factor)),
            _ => Err("give a number from 0.000001 to 1000, such as 0.01".into()),
        }
    }
}

impl TimeScale {
    fn of(self, seconds: i64) -> i64 {
        (seconds as f64 * self.0).round() as i64
    }
}

/// The machine that the log is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Machine {
    /// The number of processors of the machine; `None` if nothing says it.
    pub(super) processors: Option<u64>,
    /// Processors to a node.
    pub(super) cpus_per_node: u32,
}

impl Machine {
    /// The machine as the user has it, or else the header.
    pub(super) fn of(header: &Header, processors: Option<NonZeroU32>, cpus_per_node: Option<NonZeroU32>) -> Self {
        let by_header = || {
            let whole = header.max_processors()?.checked_div(header.max_nodes()?)?;
            u32::try_from(whole).ok().filter(|&whole| whole > 0)
        };
        Self {
            processors: processors.map(|processors| u64::from(processors.get())).or_else(|| header.max_processors()),
            cpus_per_node: cpus_per_node.map(NonZeroU32::get).or_else(by_header).unwrap_or(1),
        }
    }

    fn nodes(self, processors: u32) -> u32 {
        processors.div_ceil(self.cpus_per_node)
    }
}

/// Why a record is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Skipped {
    /// Not among those asked for.
    NotAskedFor,
    /// The submit time of the job is not known.
    SubmitTimeUnknown,
    /// The job ran, but the log does not say when.
    WaitUnknown,
    /// It was not cancelled, and the log does not say how long it ran.
    RunTimeUnknown,
    /// No processors, allocated or requested.
    SizeUnknown,
    /// More processors than the machine has.
    TooLarge,
}

impl Skipped {
    /// The key in a JSON report.
    pub(super) fn key(self) -> &'static str {
        self.into()
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotAskedFor => "not asked for",
            Self::SubmitTimeUnknown => "submit time not known",
            Self::WaitUnknown => "wait not known",
            Self::RunTimeUnknown => "run time not known",
            Self::SizeUnknown => "size not known",
            Self::TooLarge => "larger than the machine",
        })
    }
}

/// A job of the past. Times are Unix seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Job {
    /// The job's number in the log.
    pub(super) number: u64,
    /// The user, group, application, queue and partition of the job, by their numbers in the log.
    pub(super) user: Option<u64>,
    pub(super) group: Option<u64>,
    pub(super) executable: Option<u64>,
    pub(super) queue: Option<u64>,
    pub(super) partition: Option<u64>,
    /// The CPUs and nodes that the job asked for.
    pub(super) requested: (u32, u32),
    /// The CPUs and nodes that the job had; `None` if it never started.
    pub(super) allocated: Option<(u32, u32)>,
    pub(super) time_limit: TimeLimit,
    pub(super) end_state: EndState,
    pub(super) submitted: i64,
    pub(super) started: Option<i64>,
    pub(super) ended: i64,
}

/// A job that is taken, in seconds of the log.
#[derive(Debug, Clone)]
struct Taken {
    job: Job,
    submit: i64,
    start: Option<i64>,
    end: i64,
    limit: Option<Seconds>,
}

/// What was taken of a log and what was not.
#[derive(Debug)]
pub(super) struct Selected {
    /// The jobs, in the log's order.
    pub(super) jobs: Vec<Job>,
    /// How many records were left out, by reason.
    pub(super) skipped: BTreeMap<Skipped, u64>,
}

/// Takes jobs from the records of a log.
#[derive(Debug)]
pub(super) struct Selection {
    numbers: Option<JobNumbers>,
    last: Option<usize>,
    machine: Machine,
    taken: VecDeque<Taken>,
    skipped: BTreeMap<Skipped, u64>,
}

impl Selection {
    /// Takes jobs in the range of numbers; of those, the last so many.
    pub(super) fn new(numbers: Option<JobNumbers>, last: Option<NonZeroU64>, machine: Machine) -> Self {
        let last = last.map(|count| usize::try_from(count.get()).unwrap_or(usize::MAX));
        Self { numbers, last, machine, taken: VecDeque::new(), skipped: BTreeMap::new() }
    }

    /// Takes a record, or counts why not.
    pub(super) fn add(&mut self, record: &Record) {
        match self.take(record) {
            Ok(taken) => {
                self.taken.push_back(taken);
                if self.last.is_some_and(|last| self.taken.len() > last) {
                    self.taken.pop_front();
                    *self.skipped.entry(Skipped::NotAskedFor).or_default() += 1;
                }
            }
            Err(reason) => *self.skipped.entry(reason).or_default() += 1,
        }
    }

    fn take(&self, record: &Record) -> Result<Taken, Skipped> {
        if self.numbers.is_some_and(|range| !(range.first..=range.last).contains(&record.job_number)) {
            return Err(Skipped::NotAskedFor);
        }
        let logged = LoggedJob::from(record);
        let submit = logged.submit.ok_or(Skipped::SubmitTimeUnknown)?.0;
        // Logs say in two ways that a cancelled job never ran: no run time, or one of zero. Whether
        // another one started is a question of its status alone: forecasts and replays have no use
        // for a job that failed in its first second, slurmdbd has a record of it.
        let never_ran = record.status == Some(Status::Cancelled) && record.run_time_seconds.unwrap_or(0) == 0;
        let (start, end) = if never_ran {
            (None, submit + logged.wait.unwrap_or_default().0)
        } else {
            let run_time = record.run_time_seconds.ok_or(Skipped::RunTimeUnknown)?;
            let start = submit + logged.wait.ok_or(Skipped::WaitUnknown)?.0;
            (Some(start), start.saturating_add_unsigned(run_time))
        };
        let size = |cpus: u32| {
            if cpus == u32::MAX || self.machine.processors.is_some_and(|all| u64::from(cpus) > all) {
                return Err(Skipped::TooLarge);
            }
            Ok((cpus, self.machine.nodes(cpus)))
        };
        let (Some(requested), Some(processors)) = (logged.asked(), logged.occupied()) else { return Err(Skipped::SizeUnknown) };
        Ok(Taken {
            job: Job {
                number: record.job_number,
                user: record.user,
                group: record.group,
                executable: record.executable,
                queue: record.queue,
                partition: record.partition,
                requested: size(requested)?,
                allocated: if never_ran { None } else { Some(size(processors)?) },
                time_limit: TimeLimit::NotGiven,
                end_state: end_state(record.status),
                submitted: 0,
                started: None,
                ended: 0,
            },
            submit,
            start,
            end,
            limit: logged.limit,
        })
    }

    /// The jobs, with the last end at `ends_at` and all times scaled.
    pub(super) fn finish(self, ends_at: i64, scale: TimeScale) -> Selected {
        let log_ends = self.taken.iter().map(|taken| taken.end).max().unwrap_or(0);
        // Each moment is scaled by itself, so that the order of events stays.
        let moment = |seconds: i64| ends_at - scale.of(log_ends - seconds);
        let jobs = self
            .taken
            .into_iter()
            .map(|taken| Job {
                submitted: moment(taken.submit),
                started: taken.start.map(moment),
                ended: moment(taken.end),
                time_limit: time_limit(taken.limit, scale),
                ..taken.job
            })
            .collect();
        Selected { jobs, skipped: self.skipped }
    }
}

fn end_state(status: Option<Status>) -> EndState {
    match status {
        Some(Status::Failed | Status::LastPartFailed) => EndState::Failed,
        Some(Status::Cancelled) => EndState::Cancelled,
        Some(Status::Completed | Status::PartToBeContinued | Status::LastPartCompleted) | None => EndState::Completed,
    }
}

/// Whole minutes, rounded up, at least 1.
fn time_limit(limit: Option<Seconds>, scale: TimeScale) -> TimeLimit {
    const NO_LIMIT: i64 = NO_LIMIT_SECONDS as i64;
    match limit {
        None => TimeLimit::NotGiven,
        Some(Seconds(NO_LIMIT..)) => TimeLimit::Unlimited,
        Some(Seconds(seconds)) => {
            let minutes = (seconds as f64 * scale.0 / 60.0).ceil().max(1.0);
            if minutes < f64::from(i32::MAX) { TimeLimit::Minutes(minutes as u32) } else { TimeLimit::Unlimited }
        }
    }
}

#[cfg(test)]
mod tests;
