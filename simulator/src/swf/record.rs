//! One job of a log.

use job_types::number::QosIndex;

/// The fields of a job in the order of the format, as error messages call them.
pub const FIELD_NAMES: [&str; 18] = [
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
];

/// How a job ended (field 11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// 0: it ran and failed.
    Failed,
    /// 1: it ran to its end.
    Completed,
    /// 2: a part of a job that was checkpointed; more parts follow.
    PartToBeContinued,
    /// 3: the last part of a checkpointed job, which completed.
    LastPartCompleted,
    /// 4: the last part of a checkpointed job, which failed.
    LastPartFailed,
    /// 5: it was cancelled, before it started or while it ran.
    Cancelled,
}

impl Status {
    /// The status that a number of the format stands for.
    pub fn from_number(number: i64) -> Option<Self> {
        Some(match number {
            0 => Self::Failed,
            1 => Self::Completed,
            2 => Self::PartToBeContinued,
            3 => Self::LastPartCompleted,
            4 => Self::LastPartFailed,
            5 => Self::Cancelled,
            _ => return None,
        })
    }

    /// The number of the format.
    pub fn number(self) -> i64 {
        match self {
            Self::Failed => 0,
            Self::Completed => 1,
            Self::PartToBeContinued => 2,
            Self::LastPartCompleted => 3,
            Self::LastPartFailed => 4,
            Self::Cancelled => 5,
        }
    }
}

/// How logs write a requested time without end, in seconds: the largest number of 31 bits.
pub const NO_LIMIT_SECONDS: u64 = i32::MAX as u64;

/// What Slurm's accounting tells of a job and the format has no field for. What it does not know is
/// `None`, as all of it is of a log in the format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Accounted {
    /// Nodes asked for, at least 1.
    pub requested_nodes: Option<u32>,
    /// Nodes that the job had, at least 1.
    pub allocated_nodes: Option<u32>,
    /// The quality of service: its number in the log, from 1.
    pub qos: Option<QosIndex>,
}

/// One job. What the log does not know is `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Record {
    /// Field 1: the job's number in the log, from 1; cleaned logs have gaps. 0 where it is not
    /// known.
    pub job_number: u64,
    /// Field 2: seconds from the beginning of the log.
    pub submit_time_seconds: Option<u64>,
    /// Field 3: seconds from submission to start.
    pub wait_time_seconds: Option<u64>,
    /// Field 4: seconds from start to end; some logs say 0 where a job never started.
    pub run_time_seconds: Option<u64>,
    /// Field 5: processors that the job had.
    pub allocated_processors: Option<u64>,
    /// Field 6: CPU seconds used, averaged over the processors.
    pub average_cpu_time_seconds: Option<f64>,
    /// Field 7: average memory used per processor.
    pub used_memory_kilobytes: Option<f64>,
    /// Field 8: processors asked for.
    pub requested_processors: Option<u64>,
    /// Field 9: the time limit that the user gave; [`NO_LIMIT_SECONDS`] or more is none.
    pub requested_time_seconds: Option<u64>,
    /// Field 10: memory asked for per processor.
    pub requested_memory_kilobytes: Option<f64>,
    /// Field 11.
    pub status: Option<Status>,
    /// Field 12: the user's number.
    pub user: Option<u64>,
    /// Field 13: the group's number.
    pub group: Option<u64>,
    /// Field 14: the application's number.
    pub executable: Option<u64>,
    /// Field 15: the queue's number, named in the header; 0 is the convention for interactive jobs.
    pub queue: Option<u64>,
    /// Field 16: the partition's number, named in the header.
    pub partition: Option<u64>,
    /// Field 17: the number of a job that must end before this one is submitted.
    pub preceding_job: Option<u64>,
    /// Field 18: seconds from the end of the preceding job to this submission.
    pub think_time_seconds: Option<u64>,
    /// No field of the format: it is neither read from a log nor written.
    pub accounted: Accounted,
}

/// Logs write 0 for a size that nobody noted.
fn known(size: Option<u64>) -> Option<u64> {
    size.filter(|&processors| processors > 0)
}

impl Record {
    /// The processors that the job occupied: those allocated, or those asked for where the log
    /// lacks the former or says 0.
    pub fn processors(&self) -> Option<u64> {
        known(self.allocated_processors).or(known(self.requested_processors))
    }
}
