//! Why a job waits.

use crate::bindings;

/// Why a job waits, as far as it matters when it will start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PendingReason {
    /// For its turn, for nodes, or for its time to come.
    Resources,
    /// Its user or an operator holds it.
    Held,
    /// It waits for another job.
    Dependency,
    /// It waits for licences.
    Licences,
    /// Its partition is down or takes no jobs.
    PartitionDown,
    /// It asks for more nodes or time than its partition allows.
    PartitionLimit,
    /// It waits for its reservation.
    Reservation,
    /// A limit of its account, its user or its quality of service, or whatever else Slurm has.
    Other,
}

impl PendingReason {
    /// What Slurm's number stands for (slurm/slurm.h, `enum job_state_reason`).
    #[must_use]
    pub fn from_raw(raw: u32) -> Self {
        match raw {
            bindings::WAIT_NO_REASON
            | bindings::WAIT_PRIORITY
            | bindings::WAIT_RESOURCES
            | bindings::WAIT_TIME
            | bindings::WAIT_NODE_NOT_AVAIL
            | bindings::WAIT_CLEANING
            | bindings::WAIT_PROLOG => Self::Resources,
            bindings::WAIT_HELD | bindings::WAIT_HELD_USER => Self::Held,
            bindings::WAIT_DEPENDENCY | bindings::WAIT_DEP_INVALID => Self::Dependency,
            bindings::WAIT_LICENSES => Self::Licences,
            bindings::WAIT_PART_DOWN | bindings::WAIT_PART_INACTIVE => Self::PartitionDown,
            bindings::WAIT_PART_NODE_LIMIT | bindings::WAIT_PART_TIME_LIMIT => Self::PartitionLimit,
            bindings::WAIT_RESERVATION => Self::Reservation,
            _ => Self::Other,
        }
    }
}
