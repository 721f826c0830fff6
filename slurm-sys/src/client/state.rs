//! The state of a job.

use crate::bindings;
use job_types::job::Ending;
use serde::{Deserialize, Serialize};

/// The state of a job, as slurmctld has it or as its record ended. Its text is the one of sacct, in
/// small letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum JobState {
    /// The job waits.
    Pending,
    /// The job runs.
    Running,
    /// Has nodes, but is stopped.
    Suspended,
    /// Has ended but its nodes are not yet free (epilog).
    Completing,
    /// Ended with exit status 0.
    Completed,
    /// Ended by its user or an operator.
    Cancelled,
    /// Ended with another exit status.
    Failed,
    /// Ended at its time limit.
    #[strum(serialize = "timeout")]
    TimedOut,
    /// Ended because a node failed.
    #[strum(serialize = "node_fail")]
    NodeFailed,
    /// Ended in favour of another job.
    Preempted,
    /// Ended because a node did not boot.
    #[strum(serialize = "boot_fail")]
    BootFailed,
    /// Ended, or never started, because of its deadline.
    #[strum(serialize = "deadline")]
    DeadlineMissed,
    /// Ended because memory ran out.
    OutOfMemory,
    /// This run of the job ended because the job was put back into the queue.
    Requeued,
    /// This record ended because the job's size changed.
    #[strum(serialize = "resizing")]
    Resized,
    /// The job ran on another cluster of the federation.
    Revoked,
    /// A state that this version does not know.
    Unknown(u32),
}

impl JobState {
    /// Whether the run ended although its program had not: its job was put back into the queue or
    /// gave way to another one, or a node failed.
    #[must_use]
    pub fn is_interruption(self) -> bool {
        self.ending() == Some(Ending::Interrupted)
    }

    /// How the run ended; `None` where it has not, or the state is not known.
    #[must_use]
    pub fn ending(self) -> Option<Ending> {
        match self {
            Self::Pending | Self::Running | Self::Suspended | Self::Completing | Self::Unknown(_) => None,
            Self::Completed => Some(Ending::Completed),
            Self::Failed | Self::OutOfMemory => Some(Ending::Failed),
            Self::TimedOut => Some(Ending::TimedOut),
            Self::Cancelled => Some(Ending::Cancelled),
            Self::Requeued | Self::Preempted | Self::NodeFailed | Self::BootFailed | Self::Resized | Self::Revoked => {
                Some(Ending::Interrupted)
            }
            Self::DeadlineMissed => Some(Ending::SlurmsDeadline),
        }
    }

    /// The state that Slurm's number stands for, flags included (slurm/slurm.h, `enum job_states`
    /// and `JOB_STATE_FLAGS`).
    #[must_use]
    pub fn from_raw(raw: u32) -> Self {
        for (flag, state) in [
            (bindings::FLAG_JOB_REVOKED, Self::Revoked),
            (bindings::FLAG_JOB_RESIZING, Self::Resized),
            (bindings::FLAG_JOB_REQUEUE, Self::Requeued),
            (bindings::FLAG_JOB_COMPLETING, Self::Completing),
        ] {
            if raw & flag != 0 {
                return state;
            }
        }
        match raw & bindings::JOB_STATE_BASE {
            bindings::JOB_PENDING => Self::Pending,
            bindings::JOB_RUNNING => Self::Running,
            bindings::JOB_SUSPENDED => Self::Suspended,
            bindings::JOB_COMPLETE => Self::Completed,
            bindings::JOB_CANCELLED => Self::Cancelled,
            bindings::JOB_FAILED => Self::Failed,
            bindings::JOB_TIMEOUT => Self::TimedOut,
            bindings::JOB_NODE_FAIL => Self::NodeFailed,
            bindings::JOB_PREEMPTED => Self::Preempted,
            bindings::JOB_BOOT_FAIL => Self::BootFailed,
            bindings::JOB_DEADLINE => Self::DeadlineMissed,
            bindings::JOB_OOM => Self::OutOfMemory,
            _ => Self::Unknown(raw),
        }
    }
}

/// The states, as slurmdbd takes them in a condition, of records that have ended: those that the
/// database then compares by their end.
pub(super) const ENDED: [u32; 10] = [
    bindings::JOB_COMPLETE,
    bindings::JOB_CANCELLED,
    bindings::JOB_FAILED,
    bindings::JOB_TIMEOUT,
    bindings::JOB_NODE_FAIL,
    bindings::JOB_PREEMPTED,
    bindings::JOB_BOOT_FAIL,
    bindings::JOB_DEADLINE,
    bindings::JOB_OOM,
    bindings::FLAG_JOB_REQUEUE,
];
