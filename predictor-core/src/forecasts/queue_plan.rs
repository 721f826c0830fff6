//! What a plan says of the queue: when each pending job starts, and where there is room for more.

use crate::forecasts::price::PriceStep;
use crate::forecasts::promised_job::PromisedJob;
use job_types::number::{JobId, PartitionIndex, UserId};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use std::fmt;

/// A plan of the queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueuePlan {
    /// The moment as of which the queue was planned.
    pub at: UnixTime,
    /// How many jobs wait; tasks of an array that slurmctld has as one record count once.
    pub pending_jobs: u32,
    /// Whether every job was placed for which there is room at all.
    pub is_complete: bool,
    /// The jobs that wait, in the order in which they are served; perhaps not those at the end.
    pub jobs: Vec<PlannedJob>,
    /// The partitions that were planned, in any order, each once.
    pub partitions: Vec<PlannedPartition>,
    /// The admitted jobs that wait and could give way to others, by partition, in any order.
    pub promised: Vec<(PartitionIndex, PromisedJob)>,
}

/// A job that waits, as a plan is published: without the account, the quality of service and the
/// moment of eligibility that `job_types::job::WaitingJob` has, which nobody asks of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedJob {
    /// The job's number.
    pub job: JobId,
    /// Numeric id of the job's user.
    pub user: UserId,
    /// Index of the job's partition, of several the first.
    pub partition: PartitionIndex,
    /// The job's nodes and CPUs, of one task where the job stands for several of an array.
    pub size: Size,
    /// How many tasks the job stands for.
    pub tasks: u32,
    /// The job's time limit; `None` is unlimited.
    pub limit: Option<Seconds>,
    /// slurmctld's priority of the job.
    pub priority: u32,
    /// When the job is expected to start, of several tasks the first; or why that is not known.
    pub start: Result<ExpectedStart, PlanObstacle>,
}

/// When a job is expected to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpectedStart {
    /// The start if jobs end early.
    pub lower: UnixTime,
    /// The start if jobs run as long as forecast.
    pub expected: UnixTime,
    /// The start if jobs run to their time limits.
    pub upper: UnixTime,
}

/// What a plan says of a partition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlannedPartition {
    /// The partition's index.
    pub index: PartitionIndex,
    /// CPUs of a node, on average, rounded up; by this a job that gets whole nodes is found in the
    /// grid.
    pub cpus_per_node: u32,
    /// The number of CPUs that are free from each time on, with all that runs and waits; times
    /// ascend.
    pub free: Vec<(UnixTime, u32)>,
    /// The sizes of the grid in CPUs, ascending.
    pub cpus: Vec<u32>,
    /// The time limits of the grid, ascending.
    pub limits: Vec<Seconds>,
    /// When a job submitted now would start, by size and then by limit; `None` where there is never
    /// room.
    pub starts: Vec<Option<ExpectedStart>>,
    /// What its CPUs cost those who wait, and when that was worked out; `None` where nobody asks.
    pub prices: Option<(UnixTime, Vec<PriceStep>)>,
}

/// Why a plan tells no start of a job. In partitions that keep it from starting for different
/// reasons, the last of these is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum PlanObstacle {
    /// The job's user or an operator holds the job.
    Held,
    /// The job waits for another job.
    Dependency,
    /// The job waits for licences, which are not modelled.
    Licences,
    /// A limit of the job's account, its user or its quality of service is reached.
    Limit,
    /// The job's partition does not start jobs.
    PartitionDown,
    /// The job asks for more than the partition allows.
    PartitionLimit,
    /// The job asks for more than there is while nodes are down or drained.
    TooLarge,
    /// The job's reservation is gone or has no place for the job.
    Reservation,
    /// More jobs wait before the job than are planned.
    TooFarBehind,
    /// Nodes that the job needs are down, drained or reserved for others.
    NodesAway,
    /// The job waits for another job, in a way in which that can't end any more.
    DependencyNeverSatisfied,
    /// The job waits for a burst buffer.
    BurstBuffer,
    /// The job waits for power, or for nodes to be allowed to be powered up.
    Power,
    /// The job waits for ports or channels that programs on several nodes speak over.
    Channels,
    /// The job waits for another cluster of the federation.
    Federation,
    /// As many tasks of the job's array run as may run at once.
    ArrayLimit,
    /// The job may not run with its account, its quality of service, or in its partition.
    NotAllowed,
    /// No nodes have what the job asks for.
    Constraints,
    /// slurmctld gives a reason that is not known here.
    NotKnown,
}

impl PlanObstacle {
    /// All of them; a snapshot writes the place of each here, counted from one.
    pub const ALL: &[PlanObstacle] = <PlanObstacle as strum::VariantArray>::VARIANTS;

    /// The name of the reason in reports for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl fmt::Display for PlanObstacle {
    /// The reason in words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PlanObstacle::Held => "held",
            PlanObstacle::Dependency => "waits for another job",
            PlanObstacle::Licences => "waits for licences",
            PlanObstacle::Limit => "a limit of account or quality of service",
            PlanObstacle::PartitionDown => "the partition starts no jobs",
            PlanObstacle::PartitionLimit => "more than the partition allows",
            PlanObstacle::TooLarge => "more than the nodes in use have",
            PlanObstacle::Reservation => "no place in its reservation",
            PlanObstacle::TooFarBehind => "too far behind to be planned",
            PlanObstacle::NodesAway => "needs nodes that are down, drained or reserved",
            PlanObstacle::DependencyNeverSatisfied => "waits for a job in vain",
            PlanObstacle::BurstBuffer => "waits for a burst buffer",
            PlanObstacle::Power => "waits for power",
            PlanObstacle::Channels => "waits for ports or channels",
            PlanObstacle::Federation => "waits for another cluster",
            PlanObstacle::ArrayLimit => "the array's own limit of tasks at once",
            PlanObstacle::NotAllowed => "its account, quality of service or partition does not admit it",
            PlanObstacle::Constraints => "no nodes have what it asks for",
            PlanObstacle::NotKnown => "a reason of slurmctld's that is not known here",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_obstacle_has_a_name_words_and_a_place_of_its_own() {
        let names: BTreeSet<&str> = PlanObstacle::ALL.iter().map(|obstacle| obstacle.name()).collect();
        let words: BTreeSet<String> = PlanObstacle::ALL.iter().map(ToString::to_string).collect();
        assert_eq!((names.len(), words.len()), (PlanObstacle::ALL.len(), PlanObstacle::ALL.len()));
        assert!(PlanObstacle::ALL.is_sorted(), "the last that is declared is the last of all");
    }
}
