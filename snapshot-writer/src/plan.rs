//! A plan of the queue, as records of the snapshot.

use job_types::time::UnixTime;
use predictor_core::forecasts::queue_plan::{ExpectedStart, PlannedJob, PlannedPartition, QueuePlan};
use predictor_core::snapshot::layout::{self, FreeRecord, PlanRecord, PlannedJobRecord, PlannedPartitionRecord, PriceRecord, StartRecord};
use zerocopy::little_endian::U32;

/// The sections of a plan; empty without one.
#[derive(Default)]
pub(super) struct PlanRecords {
    pub(super) plan: Vec<PlanRecord>,
    pub(super) jobs: Vec<PlannedJobRecord>,
    pub(super) partitions: Vec<PlannedPartitionRecord>,
    pub(super) free: Vec<FreeRecord>,
    pub(super) sizes: Vec<U32>,
    pub(super) limits: Vec<U32>,
    pub(super) starts: Vec<StartRecord>,
    pub(super) prices: Vec<PriceRecord>,
}

impl From<&QueuePlan> for PlanRecords {
    fn from(plan: &QueuePlan) -> Self {
        let header = PlanRecord {
            at: plan.at.0.into(),
            pending_jobs: plan.pending_jobs.into(),
            is_complete: plan.is_complete.into(),
            reserved: [0; 3],
        };
        let mut records = PlanRecords { plan: vec![header], jobs: plan.jobs.iter().map(job_record).collect(), ..PlanRecords::default() };
        let mut partitions: Vec<&PlannedPartition> = plan.partitions.iter().collect();
        partitions.sort_by_key(|partition| partition.index);
        for partition in partitions {
            records.add(partition, plan.at);
        }
        records
    }
}

impl PlanRecords {
    fn add(&mut self, partition: &PlannedPartition, at: UnixTime) {
        self.partitions.push(PlannedPartitionRecord {
            partition: partition.index.0.into(),
            reserved: [0; 2],
            cpus_per_node: partition.cpus_per_node.into(),
            first_free: count(&self.free),
            free: count(&partition.free),
            first_size: count(&self.sizes),
            sizes: count(&partition.cpus),
            first_limit: count(&self.limits),
            limits: count(&partition.limits),
            first_start: count(&self.starts),
        });
        self.free.extend(partition.free.iter().map(|(at, cpus)| FreeRecord { at: at.0.into(), cpus: (*cpus).into() }));
        self.sizes.extend(partition.cpus.iter().map(|cpus| U32::new(*cpus)));
        self.limits.extend(partition.limits.iter().map(|limit| U32::new(limit.clamped_u32())));
        if let Some((made_at, steps)) = &partition.prices {
            self.prices.extend(steps.iter().map(|step| PriceRecord {
                partition: partition.index.0.into(),
                reserved: [0; 2],
                until_s: step.until.clamped_u32().into(),
                waited: step.waited.into(),
                at: made_at.0.into(),
            }));
        }
        self.starts.extend(partition.starts.iter().map(|start| start_record(start.as_ref(), at)));
    }
}

fn count<T>(records: &[T]) -> U32 {
    U32::new(records.len() as u32)
}

fn job_record(job: &PlannedJob) -> PlannedJobRecord {
    let none = ExpectedStart { lower: UnixTime(0), expected: UnixTime(0), upper: UnixTime(0) };
    let start = job.start.unwrap_or(none);
    PlannedJobRecord {
        job: job.job.0.into(),
        user: job.user.0.into(),
        partition: job.partition.0.into(),
        obstacle: job.start.err().map_or(0, |obstacle| obstacle.number()),
        reserved: 0,
        nodes: job.size.nodes.into(),
        cpus: job.size.cpus.into(),
        tasks: job.tasks.into(),
        limit_s: layout::seconds_or_none(job.limit),
        priority: job.priority.into(),
        lower: start.lower.0.into(),
        expected: start.expected.0.into(),
        upper: start.upper.0.into(),
    }
}

fn start_record(start: Option<&ExpectedStart>, at: UnixTime) -> StartRecord {
    let after = |moment: fn(&ExpectedStart) -> UnixTime| layout::seconds_or_none(start.map(|start| moment(start) - at));
    StartRecord { lower_s: after(|start| start.lower), expected_s: after(|start| start.expected), upper_s: after(|start| start.upper) }
}
