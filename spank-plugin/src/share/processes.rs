//! The processes of a step, and how long they have run and waited for a CPU.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use nix::unistd::{SysconfVar, sysconf};

/// The number of fields of `/proc/PID/stat` between the process group and the times.
const FIELDS_BEFORE_TIMES: usize = 8;

/// Clock ticks in a second where the system does not say (time(7), `USER_HZ`).
const USUAL_TICKS_PER_SECOND: i64 = 100;

const NANOSECONDS_PER_SECOND: f64 = 1e9;

/// What the kernel says of a process (proc_pid_stat(5)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) id: u32,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    /// Stopped by a signal, as Slurm suspends jobs.
    pub(crate) is_stopped: bool,
    /// Clock ticks on a CPU of all its threads and of those of its children that it has waited for,
    /// also of threads that have ended; 0 where the kernel does not say.
    pub(crate) ticks: u64,
}

impl Process {
    /// Reads `/proc/PID/stat`. The name, in parentheses, may hold anything.
    pub(crate) fn parse(stat: &str) -> Option<Process> {
        let id = stat.split(' ').next()?.parse().ok()?;
        let (_, after_name) = stat.rsplit_once(')')?;
        let mut fields = after_name.split_whitespace();
        let state = fields.next()?;
        let (parent, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let times = fields.skip(FIELDS_BEFORE_TIMES).take(4).filter_map(|ticks| ticks.parse::<u64>().ok());
        Some(Process { id, parent, group, is_stopped: state == "T", ticks: times.fold(0, u64::saturating_add) })
    }
}

/// All that come from `ancestor`, without itself.
pub(crate) fn below(ancestor: u32, all: &[Process]) -> Vec<Process> {
    let mut found = Vec::new();
    let mut known = BTreeSet::from([ancestor]);
    // A child's number may be smaller than its parent's: numbers begin anew when they are used up.
    loop {
        let before = found.len();
        for process in all {
            if known.contains(&process.parent) && known.insert(process.id) {
                found.push(*process);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// All processes of this node.
pub(crate) fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let numbers = entries.filter(|entry| entry.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit));
    numbers.filter_map(|entry| Process::parse(&String::from_utf8_lossy(&fs::read(entry.path().join("stat")).ok()?))).collect()
}

/// How long a thread was on a CPU, and how long it was ready for one that others had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) run_ns: u64,
    pub(crate) waited_ns: u64,
}

/// What the processes of a step have had of the CPUs by a moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Usage {
    /// The times of each thread that there is, by its number; none where the kernel does not keep
    /// them (Documentation/scheduler/sched-stats.rst).
    pub(crate) threads: BTreeMap<u32, Times>,
    /// CPU time of the processes, with that of threads and children that have ended.
    pub(crate) used_ns: u64,
}

impl Usage {
    /// Reads what the kernel says of the processes.
    pub(crate) fn of(processes: &[Process]) -> Usage {
        let ticks = processes.iter().map(|process| process.ticks).fold(0, u64::saturating_add);
        let per_second = sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(USUAL_TICKS_PER_SECOND).max(1);
        let used_ns = (ticks as f64 * NANOSECONDS_PER_SECOND / per_second as f64) as u64;
        Usage { threads: processes.iter().flat_map(|process| threads(process.id)).collect(), used_ns }
    }
}

/// The threads of a process with their times.
fn threads(process: u32) -> Vec<(u32, Times)> {
    let entries = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().filter_map(Result::ok);
    let of_threads = entries.filter_map(|entry| {
        let thread = entry.file_name().to_str()?.parse().ok()?;
        let text = fs::read_to_string(entry.path().join("schedstat")).ok()?;
        let mut numbers = text.split_whitespace().map(|number| number.parse().ok());
        Some((thread, Times { run_ns: numbers.next()??, waited_ns: numbers.next()?? }))
    });
    of_threads.collect()
}

/// Which part of the time from `earlier` to `later`, in which `elapsed` has passed, the processes
/// did not lose to others: what did not wait for a CPU went on, be it on a CPU or on a disk. `None`
/// where nothing ran or waited.
///
/// Threads of a job with more of them than CPUs wait for each other as well, which is no loss. So
/// what is lost is at most the time for which the thread that was longest ready or running was so,
/// less the time that all of the job's CPUs together ran for the job. Progress is then never below
/// the time on CPUs over `cpus` times `elapsed`.
pub(crate) fn progress(earlier: &Usage, later: &Usage, elapsed: Duration, cpus: u32) -> Option<f64> {
    let (mut run, mut waited, mut longest) = (0_u64, 0_u64, 0_u64);
    for (thread, times) in &later.threads {
        let before = earlier.threads.get(thread).copied().unwrap_or_default();
        let (ran, was_ready) = (times.run_ns.saturating_sub(before.run_ns), times.waited_ns.saturating_sub(before.waited_ns));
        run = run.saturating_add(ran);
        waited = waited.saturating_add(was_ready);
        longest = longest.max(ran.saturating_add(was_ready));
    }
    let either = run.saturating_add(waited);
    if either == 0 {
        return None;
    }
    let elapsed_ns = (elapsed.as_secs_f64() * NANOSECONDS_PER_SECOND).max(1.0);
    let used_ns = run.max(later.used_ns.saturating_sub(earlier.used_ns)) as f64;
    let most_lost_ns = (longest as f64).min(elapsed_ns) - used_ns / f64::from(cpus.max(1));
    let least = 1.0 - most_lost_ns.max(0.0) / elapsed_ns;
    Some((run as f64 / either as f64).max(least).min(1.0))
}
