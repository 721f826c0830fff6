//! Jobs as they came into the queue, whatever has become of them since.

use job_types::number::{JobId, PartitionIndex};
use job_types::time::{Seconds, UnixTime};
use queue_plan::{Resources, RunTimes};

use crate::known::cluster::{Phase, PlanJob};
use crate::known::names::PartitionIndices;

/// A job as it came, or tasks of an array.
#[derive(Debug, Clone)]
pub(super) struct Arrived {
    /// The job's number, or its array's.
    pub(super) number: JobId,
    pub(super) partitions: Vec<PartitionIndex>,
    pub(super) asks: Resources,
    pub(super) tasks: u32,
    pub(super) whole_nodes: bool,
    pub(super) limit: Option<Seconds>,
    pub(super) run_time: RunTimes,
}

/// A job as it came, and from when on it may start; `None` where it holds nodes for a moment more,
/// or something else than resources keeps it waiting.
pub(super) fn arrived(job: &PlanJob, indices: &PartitionIndices, run_time: RunTimes, now: UnixTime) -> Option<(UnixTime, Arrived)> {
    let (eligible, tasks, whole_nodes) = match &job.phase {
        Phase::Pending { tasks, exclusive, eligible, .. } => ((*eligible)?, *tasks, *exclusive),
        Phase::Running { .. } => (now, 1, false),
        Phase::Completing { .. } => return None,
    };
    let arrived = Arrived {
        number: job.array.unwrap_or(job.job_id),
        partitions: job.partitions.iter().filter_map(|name| indices.get(name).copied()).collect(),
        asks: job.size.into(),
        tasks,
        whole_nodes,
        limit: job.limit,
        run_time,
    };
    Some((eligible, arrived))
}
