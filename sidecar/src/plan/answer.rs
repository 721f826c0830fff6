//! A plan in the words of the snapshot.

use job_types::number::PartitionIndex;
use predictor_core::forecasts::queue_plan::{PlannedJob, PlannedPartition, QueuePlan};
use queue_plan::{Plan, Resources};

use super::prices::Pricer;
use super::state::Question;

/// The most pending jobs in a snapshot, which every submission's reader checks: some 560 KB.
const MOST_JOBS: usize = 10_000;

/// The plan as it is published.
pub(super) fn published(question: &Question, plan: &Plan, pricer: &Pricer) -> QueuePlan {
    let state = &question.state;
    let index_of = |partition: usize| question.partition_indices.get(partition).copied().flatten();
    let jobs = plan.pending.iter().filter_map(|planned| {
        let job = state.pending.get(planned.index)?;
        Some(PlannedJob {
            job: job.id,
            user: *question.users.get(planned.index)?,
            partition: job.partitions.first().and_then(|partition| index_of(usize::from(*partition))).unwrap_or(PartitionIndex::UNKNOWN),
            size: job.asks.size(),
            tasks: job.tasks,
            limit: job.limit,
            priority: job.priority,
            start: planned.start,
        })
    });
    let partitions = plan.partitions.iter().enumerate().filter_map(|(place, partition)| {
        let index = index_of(place)?;
        Some(PlannedPartition {
            index,
            cpus_per_node: cpus_per_node(question, place),
            free: partition.free.iter().map(|(at, free)| (*at, free.size().cpus)).collect(),
            cpus: partition.grid.cpus.clone(),
            limits: partition.grid.limits.clone(),
            starts: partition.grid.starts.clone(),
            prices: pricer.of(index),
        })
    });
    // The planned starts, by the places of the pending jobs.
    let mut starts = vec![None; state.pending.len()];
    for planned in &plan.pending {
        if let Some(place) = starts.get_mut(planned.index) {
            *place = planned.start.ok();
        }
    }
    let promised = question.promised.iter().filter_map(|promised| {
        let start = (*starts.get(promised.place)?)?;
        Some(promised.planned(start.expected, state.pending.get(promised.place)?.asks.size().cpus))
    });
    QueuePlan {
        at: plan.at,
        pending_jobs: u32::try_from(plan.pending.len()).unwrap_or(u32::MAX),
        is_complete: plan.is_complete,
        jobs: jobs.take(MOST_JOBS).collect(),
        partitions: partitions.collect(),
        promised: promised.collect(),
    }
}

/// CPUs of a node that takes jobs, on average, rounded up.
fn cpus_per_node(question: &Question, partition: usize) -> u32 {
    let nodes = question.state.partitions.get(partition).map_or(&[][..], |partition| &partition.nodes);
    let nodes = nodes.iter().filter_map(|node| question.state.nodes.get(*node as usize)).filter(|node| node.takes_jobs);
    let all: Resources = nodes.map(|node| node.offers).sum();
    all.on_average_nodes(1).size().cpus
}
