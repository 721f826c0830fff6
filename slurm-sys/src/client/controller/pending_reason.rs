//! Why a job waits.

use serde::{Deserialize, Serialize};

/// Why a job waits, as far as it matters when it will start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PendingReason {
    /// The job waits for its turn, for nodes, or for its time to come.
    Resources,
    /// The job waits for nodes that are down or drained.
    NodesAway,
    /// The job waits for nodes that are down, drained, or reserved for jobs in partitions of a
    /// higher priority: slurmctld does not say which.
    NodesAwayOrInTurn,
    /// The job's user or an operator holds the job, or it was put back into the queue too often.
    Held,
    /// The job waits for another job.
    Dependency,
    /// The job waits for another job, in a way in which that can't end any more.
    DependencyNeverSatisfied,
    /// The job waits for licences.
    Licences,
    /// The job waits for a burst buffer, or its burst buffer failed.
    BurstBuffer,
    /// The job waits for power, or for nodes to be allowed to be powered up.
    Power,
    /// The job waits for ports or channels that programs on several nodes speak over.
    Channels,
    /// The job waits for another cluster of the federation.
    Federation,
    /// The job's partition is down or takes no jobs.
    PartitionDown,
    /// The job asks for more nodes, time or memory than its partition allows.
    PartitionLimit,
    /// The job waits for its reservation.
    Reservation,
    /// The job's reservation was deleted or is not valid any more.
    ReservationGone,
    /// As many tasks of the job's array run as may run at once.
    ArrayLimit,
    /// A limit of the job's account, its user or its quality of service keeps it from starting.
    AccountLimit,
    /// The job may not run with its account, its quality of service, or in its partition.
    NotAllowed,
    /// No nodes have what the job asks for.
    Constraints,
    /// The job waits for nothing but its turn. The reason is how its last run ended, after which it
    /// was put back into the queue.
    LastRunFailed,
    /// The headers of this release do not name the reason.
    NotKnown,
}

/// The names of slurmctld's reasons by their numbers (slurm/slurm.h, `enum job_state_reason`), some
/// of which mean other things in other releases.
const NAMES: &[(i32, &str)] = include!(concat!(env!("OUT_DIR"), "/pending_reasons.rs"));

/// What stands beside the reason where reservations alone keep a job from nodes.
const RESERVED: [&str; 2] = ["Reserved for maintenance", "May be reserved for other job"];

impl PendingReason {
    /// What slurmctld's number stands for, with what slurmctld says beside it (`state_desc`).
    #[must_use]
    pub fn from_raw(raw: u32, description: Option<&str>) -> Self {
        let name = i32::try_from(raw).ok().and_then(|raw| NAMES.binary_search_by_key(&raw, |(number, _)| *number).ok());
        let name = name.and_then(|place| NAMES.get(place)).map_or("", |(_, name)| name);
        match (Self::of_name(name).unwrap_or(Self::NotKnown), description) {
            // src/slurmctld/job_scheduler.c, node_scheduler.c. Reservations are known, for
            // maintenance and for other jobs, and so is when they end.
            (Self::Resources, Some(text)) if text.starts_with("Nodes required for job are DOWN") => Self::NodesAwayOrInTurn,
            (Self::NodesAway, Some(text)) if RESERVED.iter().any(|reserved| text.ends_with(reserved)) => Self::Resources,
            (reason, _) => reason,
        }
    }

    /// What a name of slurm.h of any release stands for.
    fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "WAIT_NO_REASON" | "WAIT_PRIORITY" | "WAIT_RESOURCES" | "WAIT_TIME" | "WAIT_CLEANING" | "WAIT_PROLOG" | "FAIL_DEFER" => {
                Self::Resources
            }
            "WAIT_NODE_NOT_AVAIL" | "WAIT_FRONT_END" | "WAIT_BLOCK_MAX_ERR" | "WAIT_BLOCK_D_ACTION" | "FAIL_DOWN_NODE" => Self::NodesAway,
            "WAIT_HELD" | "WAIT_HELD_USER" | "WAIT_MAX_REQUEUE" => Self::Held,
            "WAIT_DEPENDENCY" => Self::Dependency,
            "WAIT_DEP_INVALID" => Self::DependencyNeverSatisfied,
            "WAIT_LICENSES" => Self::Licences,
            "WAIT_BURST_BUFFER_RESOURCE" | "WAIT_BURST_BUFFER_STAGING" | "FAIL_BURST_BUFFER_OP" => Self::BurstBuffer,
            "WAIT_POWER_NOT_AVAIL" | "WAIT_POWER_RESERVED" | "WAIT_MAX_POWERED_NODES" => Self::Power,
            "WAIT_MPI_PORTS_BUSY" | "WAIT_NVIDIA_IMEX_CHANNELS" => Self::Channels,
            "WAIT_FED_JOB_LOCK" => Self::Federation,
            "WAIT_PART_DOWN" | "WAIT_PART_INACTIVE" | "FAIL_DOWN_PARTITION" => Self::PartitionDown,
            "WAIT_PART_NODE_LIMIT" | "WAIT_PART_TIME_LIMIT" | "WAIT_PN_MEM_LIMIT" => Self::PartitionLimit,
            "WAIT_RESERVATION" => Self::Reservation,
            "WAIT_RESV_DELETED" | "WAIT_RESV_INVALID" => Self::ReservationGone,
            "WAIT_ARRAY_TASK_LIMIT" => Self::ArrayLimit,
            "WAIT_ACCOUNT" | "WAIT_QOS" | "FAIL_ACCOUNT" | "FAIL_QOS" | "WAIT_PART_CONFIG" => Self::NotAllowed,
            "FAIL_BAD_CONSTRAINTS" | "FAIL_CONSTRAINTS" => Self::Constraints,
            "FAIL_SYSTEM"
            | "FAIL_LAUNCH"
            | "FAIL_EXIT_CODE"
            | "FAIL_TIMEOUT"
            | "FAIL_INACTIVE_LIMIT"
            | "FAIL_SIGNAL"
            | "FAIL_OOM"
            | "FAIL_DEADLINE" => Self::LastRunFailed,
            "WAIT_ACCOUNT_POLICY" => Self::AccountLimit,
            limit if limit.starts_with("WAIT_ASSOC_") || limit.starts_with("WAIT_QOS_") => Self::AccountLimit,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings;

    #[test]
    fn each_reason_of_this_release_is_known() {
        let unknown: Vec<&str> = NAMES.iter().map(|(_, name)| *name).filter(|name| PendingReason::of_name(name).is_none()).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        assert!(NAMES.len() > 180, "{}", NAMES.len());
        assert!(NAMES.iter().all(|(number, _)| PendingReason::from_raw(number.unsigned_abs(), None) != PendingReason::NotKnown));
        assert_eq!(PendingReason::from_raw(u32::MAX, None), PendingReason::NotKnown);
    }

    #[test]
    fn reasons_mean_what_their_numbers_mean_in_this_release() {
        for (number, reason) in [
            (bindings::WAIT_NO_REASON, PendingReason::Resources),
            (bindings::WAIT_NODE_NOT_AVAIL, PendingReason::NodesAway),
            (bindings::WAIT_HELD_USER, PendingReason::Held),
            (bindings::WAIT_MAX_REQUEUE, PendingReason::Held),
            (bindings::WAIT_DEPENDENCY, PendingReason::Dependency),
            (bindings::WAIT_DEP_INVALID, PendingReason::DependencyNeverSatisfied),
            (bindings::WAIT_LICENSES, PendingReason::Licences),
            (bindings::WAIT_BURST_BUFFER_STAGING, PendingReason::BurstBuffer),
            (bindings::WAIT_FED_JOB_LOCK, PendingReason::Federation),
            (bindings::WAIT_PART_DOWN, PendingReason::PartitionDown),
            (bindings::WAIT_PART_TIME_LIMIT, PendingReason::PartitionLimit),
            (bindings::WAIT_RESERVATION, PendingReason::Reservation),
            (bindings::WAIT_RESV_DELETED, PendingReason::ReservationGone),
            (bindings::WAIT_ARRAY_TASK_LIMIT, PendingReason::ArrayLimit),
            (bindings::WAIT_QOS_GRP_CPU, PendingReason::AccountLimit),
            (bindings::WAIT_ASSOC_MAX_JOBS, PendingReason::AccountLimit),
            (bindings::WAIT_QOS_MIN_BILLING, PendingReason::AccountLimit),
            (bindings::WAIT_QOS, PendingReason::NotAllowed),
            (bindings::WAIT_PART_CONFIG, PendingReason::NotAllowed),
            (bindings::FAIL_BAD_CONSTRAINTS, PendingReason::Constraints),
            (bindings::FAIL_LAUNCH, PendingReason::LastRunFailed),
        ] {
            assert_eq!(PendingReason::from_raw(number, None), reason, "{number}");
        }
    }

    #[test]
    fn names_of_some_releases_alone_are_known_in_each() {
        for (name, reason) in [
            ("WAIT_FRONT_END", PendingReason::NodesAway),
            ("WAIT_POWER_RESERVED", PendingReason::Power),
            ("WAIT_MAX_POWERED_NODES", PendingReason::Power),
            ("WAIT_MPI_PORTS_BUSY", PendingReason::Channels),
            ("WAIT_NVIDIA_IMEX_CHANNELS", PendingReason::Channels),
            ("WAIT_RESV_INVALID", PendingReason::ReservationGone),
            ("FAIL_CONSTRAINTS", PendingReason::Constraints),
            ("FAIL_SIGNAL", PendingReason::LastRunFailed),
        ] {
            assert_eq!(PendingReason::of_name(name), Some(reason), "{name}");
        }
    }

    #[test]
    fn nodes_that_are_away_are_told_by_what_stands_beside_the_reason() {
        let resources = |text| PendingReason::from_raw(bindings::WAIT_RESOURCES, Some(text));
        let text = "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions";
        assert_eq!([resources(text), resources("")], [PendingReason::NodesAwayOrInTurn, PendingReason::Resources]);
        let unavailable = |text| PendingReason::from_raw(bindings::WAIT_NODE_NOT_AVAIL, Some(text));
        assert_eq!(unavailable("ReqNodeNotAvail, UnavailableNodes:n1"), PendingReason::NodesAway);
        assert_eq!(unavailable("ReqNodeNotAvail, May be reserved for other job"), PendingReason::Resources);
        assert_eq!(unavailable("ReqNodeNotAvail, Reserved for maintenance"), PendingReason::Resources);
    }
}
