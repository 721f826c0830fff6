//! The processes of a step, and how long they have run and waited for a CPU.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// What the kernel says of a process (proc_pid_stat(5)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) id: u32,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    /// Stopped by a signal, as Slurm suspends jobs.
    pub(crate) is_stopped: bool,
}

impl Process {
    /// Reads `/proc/PID/stat`. The name, in parentheses, may hold anything.
    pub(crate) fn parse(stat: &str) -> Option<Process> {
        let id = stat.split(' ').next()?.parse().ok()?;
        let (_, after_name) = stat.rsplit_once(')')?;
        let mut fields = after_name.split_whitespace();
        let state = fields.next()?;
        let (parent, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        Some(Process { id, parent, group, is_stopped: state == "T" })
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

/// Time on a CPU, and time ready for one that others had, of some threads together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) run_ns: u64,
    pub(crate) waited_ns: u64,
}

impl Times {
    /// Those of all threads of a process (Documentation/scheduler/sched-stats.rst); none where the
    /// kernel does not keep them.
    pub(crate) fn of(process: u32) -> Times {
        let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().filter_map(Result::ok);
        let of_threads = threads.filter_map(|thread| {
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            let mut numbers = text.split_whitespace().map(|number| number.parse().ok());
            Some(Times { run_ns: numbers.next()??, waited_ns: numbers.next()?? })
        });
        of_threads.fold(Times::default(), |sum, of_thread| Times {
            run_ns: sum.run_ns + of_thread.run_ns,
            waited_ns: sum.waited_ns + of_thread.waited_ns,
        })
    }
}

/// Which part of the time from `earlier` to `later`, both by process, the processes did not lose to
/// others: what did not wait for a CPU went on, be it on a CPU or on a disk. `None` where nothing
/// ran or waited.
pub(crate) fn progress(earlier: &BTreeMap<u32, Times>, later: &BTreeMap<u32, Times>) -> Option<f64> {
    let (mut run, mut waited) = (0_u64, 0_u64);
    for (process, times) in later {
        let before = earlier.get(process).copied().unwrap_or_default();
        run += times.run_ns.saturating_sub(before.run_ns);
        waited += times.waited_ns.saturating_sub(before.waited_ns);
    }
    (run + waited > 0).then(|| run as f64 / (run + waited) as f64)
}
