//! Values as sacct prints them.

use job_types::tres;
use slurm_conf::duration;

use crate::accounting::Limit;
use crate::swf::Status;

/// What a column says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Said<T> {
    /// This.
    Known(T),
    /// Nothing is said: the value is empty, or a word for that, such as `Unknown`.
    Nothing,
    /// A value that has no meaning, such as `INVALID`.
    Undefined,
}

impl<T> Said<T> {
    pub(super) fn map<U>(self, change: impl FnOnce(T) -> U) -> Said<U> {
        match self {
            Self::Known(value) => Said::Known(change(value)),
            Self::Nothing => Said::Nothing,
            Self::Undefined => Said::Undefined,
        }
    }
}

/// A text without meaning, or without any; `None` where it says something.
fn unsaid<T>(text: &str) -> Option<Said<T>> {
    match text {
        "" | "Unknown" | "None" | "N/A" | "(null)" => Some(Said::Nothing),
        "INVALID" => Some(Said::Undefined),
        _ => None,
    }
}

/// What tells a job from others, and whether the record is of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JobNumber {
    pub(super) id: u64,
    pub(super) is_step: bool,
}

/// Reads `1234`, `1234_7` and `1234_[8-10%2]` of arrays, `1234+1` of heterogeneous jobs, and each
/// with `.batch` or another step behind it.
pub(super) fn job_number(text: &str) -> Option<JobNumber> {
    let (job, is_step) = text.split_once('.').map_or((text, false), |(job, _)| (job, true));
    let digits = job.bytes().take_while(u8::is_ascii_digit).count();
    let number: u32 = job.get(..digits)?.parse().ok()?;
    let rest = job.get(digits..)?;
    let part: u32 = match rest.split_at_checked(1) {
        None => 0,
        Some(("_", tasks)) if tasks.starts_with('[') && tasks.ends_with(']') => u32::MAX,
        // Slurm's arrays have at most some four million tasks, its heterogeneous jobs 128 parts.
        Some(("_", task)) => task.parse::<u32>().ok()?.min(1 << 30) + 1,
        Some(("+", part)) => (1 << 31) + part.parse::<u32>().ok()?.min(1 << 20),
        Some(_) => return None,
    };
    Some(JobNumber { id: u64::from(number) << 32 | u64::from(part), is_step })
}

/// How a record's job fares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The job ended with this status.
    Ended(Status),
    /// It was put back into the queue while it ran; the next run has a record of its own.
    Requeued,
    /// The job waits, runs, or is about to do either.
    NotEnded,
    /// It went to another cluster of the federation.
    Elsewhere,
}

/// Reads a state (src/common/slurm_protocol_defs.c, `job_state_string`), such as
/// `CANCELLED by 1000`.
pub(super) fn state(text: &str) -> Said<State> {
    let word = text.split([' ', '+']).next().unwrap_or_default();
    if word.is_empty() {
        return Said::Nothing;
    }
    Said::Known(match word.to_ascii_uppercase().as_str() {
        "COMPLETED" => State::Ended(Status::Completed),
        "FAILED" | "TIMEOUT" | "OUT_OF_MEMORY" | "NODE_FAIL" | "BOOT_FAIL" | "DEADLINE" | "LAUNCH_FAILED" | "PREEMPTED" => {
            State::Ended(Status::Failed)
        }
        "CANCELLED" => State::Ended(Status::Cancelled),
        // The job goes on with another size, in a record of its own.
        "RESIZING" => State::Ended(Status::PartToBeContinued),
        "REQUEUED" => State::Requeued,
        "REVOKED" => State::Elsewhere,
        "PENDING" | "RUNNING" | "SUSPENDED" | "COMPLETING" | "CONFIGURING" | "STOPPED" | "SIGNALING" | "STAGE_OUT" | "REQUEUE_HOLD"
        | "REQUEUE_FED" | "RESV_DEL_HOLD" | "SPECIAL_EXIT" | "POWER_UP_NODE" | "RECONFIG_FAIL" | "EXPEDITING" => State::NotEnded,
        _ => return Said::Undefined,
    })
}

/// Reads a count, such as `16`, or `4K` for 4,096 (src/common/slurm_protocol_api.c,
/// `convert_num_unit`).
pub(super) fn count(text: &str) -> Option<Said<u64>> {
    unsaid(text).or_else(|| {
        let number = scaled(text)?;
        (number < 1e15).then_some(Said::Known(number.round() as u64))
    })
}

/// A number of no less than 0 with a unit of 1,024 or a power of it behind it.
fn scaled(text: &str) -> Option<f64> {
    const UNITS: [char; 6] = ['K', 'M', 'G', 'T', 'P', 'E'];
    let (digits, power) = match text.chars().last().map(|unit| unit.to_ascii_uppercase()) {
        Some(unit) if UNITS.contains(&unit) => {
            (text.get(..text.len() - 1)?, UNITS.iter().position(|known| *known == unit).map_or(0, |place| place as i32 + 1))
        }
        _ => (text, 0),
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    digits.parse::<f64>().ok().map(|number| number * 1_024_f64.powi(power))
}

/// The CPUs in a list of resources such as `billing=4,cpu=4,mem=1M,node=1`; nothing where the list
/// names none.
pub(super) fn cpus(text: &str) -> Option<Said<u64>> {
    listed(text, "cpu")
}

/// The nodes in such a list.
pub(super) fn nodes(text: &str) -> Option<Said<u64>> {
    listed(text, "node")
}

fn listed(text: &str, resource: &str) -> Option<Said<u64>> {
    tres::amount(text, resource).map_or(Some(Said::Nothing), count)
}

/// Memory that was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Memory {
    /// Kilobytes for each CPU.
    PerCpu(f64),
    /// Kilobytes for the whole job; of each node before Slurm 21.08, which then has an `n` behind
    /// it.
    Whole(f64),
    PerNode,
}

/// Reads what was asked for of memory: `3000M` for the job, and `4Gc` for each CPU or `4Gn` for
/// each node, as it was written before Slurm 21.08. Without a unit it is megabytes.
pub(super) fn memory(text: &str) -> Option<Said<Memory>> {
    unsaid(text).or_else(|| {
        let (size, is_per_cpu, is_per_node) = match (text.strip_suffix('c'), text.strip_suffix('n')) {
            (Some(size), _) => (size, true, false),
            (_, Some(size)) => (size, false, true),
            _ => (text, false, false),
        };
        let has_unit = size.chars().last().is_some_and(|unit| unit.is_ascii_alphabetic());
        let kilobytes = scaled(size)? / if has_unit { 1_024.0 } else { 1.0 / 1_024.0 };
        if !kilobytes.is_finite() {
            return None;
        }
        Some(match (is_per_cpu, is_per_node) {
            (true, _) => Said::Known(Memory::PerCpu(kilobytes)),
            (_, true) => Said::Known(Memory::PerNode),
            _ => Said::Known(Memory::Whole(kilobytes)),
        })
    })
}

/// Reads a length of time such as `1-02:03:04`, or `17:30.250`; seconds.
pub(super) fn seconds(text: &str) -> Option<Said<u64>> {
    unsaid(text).or_else(|| {
        let whole = text.split('.').next().unwrap_or_default();
        duration::parse(whole).ok().and_then(|seconds| u64::try_from(seconds).ok()).map(Said::Known)
    })
}

/// Reads a number of seconds.
pub(super) fn raw_seconds(text: &str) -> Option<Said<u64>> {
    unsaid(text).or_else(|| text.parse().ok().map(Said::Known))
}

/// Reads a time limit: `1-00:00:00`, `UNLIMITED`, or `Partition_Limit` where the record has none.
pub(super) fn limit(text: &str) -> Option<Said<Limit>> {
    named_limit(text).or_else(|| Some(seconds(text)?.map(Limit::Seconds)))
}

/// Reads a time limit in minutes, or as [`limit`] has it.
pub(super) fn raw_limit(text: &str) -> Option<Said<Limit>> {
    named_limit(text).or_else(|| text.parse::<u64>().ok()?.checked_mul(60).map(|limit| Said::Known(Limit::Seconds(limit))))
}

fn named_limit(text: &str) -> Option<Said<Limit>> {
    match text {
        "UNLIMITED" => Some(Said::Known(Limit::Unlimited)),
        "Partition_Limit" => Some(Said::Nothing),
        _ => unsaid(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_jobs_tasks_and_steps_are_told_apart() {
        let number = |text: &str| job_number(text).unwrap();
        let jobs = ["12", "12_0", "12_1", "12_[3-9%2]", "12+0", "12+1", "13"].map(|text| number(text).id);
        assert!(jobs.iter().all(|id| jobs.iter().filter(|other| *other == id).count() == 1), "{jobs:?}");
        for (step, job) in [("12.batch", "12"), ("12_1.0", "12_1"), ("12+1.extern", "12+1"), ("12.interactive", "12")] {
            assert_eq!(number(step), JobNumber { is_step: true, ..number(job) }, "{step}");
        }
        for text in ["", "x", "12x", "12_", "12_x", "12+", "99999999999", "-1"] {
            assert_eq!(job_number(text), None, "{text}");
        }
    }

    #[test]
    fn states_are_read_with_what_stands_behind_them() {
        assert_eq!(state("CANCELLED by 1000"), Said::Known(State::Ended(Status::Cancelled)));
        assert_eq!(state("CANCELLED+"), Said::Known(State::Ended(Status::Cancelled)));
        assert_eq!(state("TIMEOUT"), Said::Known(State::Ended(Status::Failed)));
        assert_eq!(state("RUNNING"), Said::Known(State::NotEnded));
        assert_eq!(state("HAUNTED"), Said::Undefined);
    }

    #[test]
    fn sizes_have_units_of_1024() {
        assert_eq!([count("16"), count("4K"), count("1.5K")], [16, 4_096, 1_536].map(|number| Some(Said::Known(number))));
        assert_eq!([count(""), count("many"), count("-4")], [Some(Said::Nothing), None, None]);
        assert_eq!(cpus("billing=4,cpu=4,mem=1M,node=1"), Some(Said::Known(4)));
        assert_eq!([nodes("billing=4,cpu=4,mem=1M,node=2"), nodes("cpu=4")], [Some(Said::Known(2)), Some(Said::Nothing)]);
        assert_eq!([cpus(""), cpus("mem=1M"), cpus("gres/gpu=2")], [Some(Said::Nothing); 3]);
        assert_eq!(cpus("cpu=many"), None);
        let memory = |text| memory(text).unwrap();
        assert_eq!(memory("3000M"), Said::Known(Memory::Whole(3_072_000.0)));
        assert_eq!(memory("4K"), Said::Known(Memory::Whole(4.0)));
        assert_eq!(memory("1Gc"), Said::Known(Memory::PerCpu(1_048_576.0)));
        assert_eq!(memory("1Gn"), Said::Known(Memory::PerNode));
        assert_eq!(memory("2"), Said::Known(Memory::Whole(2_048.0)));
    }

    #[test]
    fn times_and_limits_are_read_in_both_forms() {
        assert_eq!([seconds("1-02:03:04"), raw_seconds("93784")], [Some(Said::Known(93_784)); 2]);
        assert_eq!(seconds("17:30.250"), Some(Said::Known(1_050)));
        assert_eq!([limit("02:00:00"), raw_limit("120")], [Some(Said::Known(Limit::Seconds(7_200))); 2]);
        assert_eq!([limit("UNLIMITED"), raw_limit("UNLIMITED")], [Some(Said::Known(Limit::Unlimited)); 2]);
        assert_eq!([limit("Partition_Limit"), raw_limit("Partition_Limit")], [Some(Said::Nothing); 2]);
        assert_eq!([limit("INVALID"), limit("long")], [Some(Said::Undefined), None]);
    }
}
