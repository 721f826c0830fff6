//! The plan in a snapshot, read as it lies in memory.

use super::layout::{self, FreeRecord, PlannedJobRecord, PlannedPartitionRecord, PriceRecord, StartRecord, sections};
use super::reader::Snapshot;
use crate::forecasts::price::{PriceStep, Prices};
use crate::forecasts::queue_plan::{ExpectedStart, PlanObstacle, PlannedJob};
use job_types::number::{JobId, PartitionIndex, UserId};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use zerocopy::little_endian::U32;

/// The most prices of a partition that are read.
const MOST_PRICES: usize = 64;

/// The plan in a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct PlanView<'a> {
    /// The moment as of which the queue was planned.
    pub at: UnixTime,
    /// How many jobs wait; those beyond [`PlanView::jobs`] are not in the snapshot.
    pub pending_jobs: u32,
    /// Whether every job was placed for which there is room at all.
    pub is_complete: bool,
    jobs: &'a [PlannedJobRecord],
    partitions: &'a [PlannedPartitionRecord],
    free: &'a [FreeRecord],
}

impl<'a> PlanView<'a> {
    /// The jobs that wait, in the order in which they are served.
    pub fn jobs(&self) -> impl Iterator<Item = PlannedJob> + use<'a> {
        self.jobs.iter().map(planned_job)
    }

    /// Returns the number of CPUs that are free for a partition from each time on, with all that
    /// runs and waits; no steps for a partition that is not planned.
    pub fn free(&self, partition: PartitionIndex) -> impl Iterator<Item = (UnixTime, u32)> + use<'a> {
        let free = planned(self.partitions, partition).and_then(|partition| part(self.free, partition.first_free, partition.free));
        free.unwrap_or(&[]).iter().map(|step| (UnixTime(step.at.get()), step.cpus.get()))
    }
}

impl<B: AsRef<[u8]>> Snapshot<B> {
    /// The plan; `None` where none was made in time.
    #[must_use]
    pub fn plan(&self) -> Option<PlanView<'_>> {
        let plan = self.records(sections::Plan).first()?;
        Some(PlanView {
            at: UnixTime(plan.at.get()),
            pending_jobs: plan.pending_jobs.get(),
            is_complete: plan.is_complete == 1,
            jobs: self.records(sections::PlannedJobs),
            partitions: self.records(sections::PlannedPartitions),
            free: self.records(sections::FreeCpus),
        })
    }

    /// When a job of that size and limit that is submitted to a partition now would start, behind
    /// all that waits: that of the next larger size and the next longer limit of the grid, which
    /// start no sooner. A job without a limit is taken to have the longest. `None` without a plan,
    /// where the job is larger or longer than the partition's grid, and where there is never room.
    /// Takes the logarithm of the grid's size, and allocates nothing.
    #[must_use]
    pub fn expected_start(&self, partition: PartitionIndex, size: Size, limit: Option<Seconds>) -> Option<ExpectedStart> {
        let at = UnixTime(self.records(sections::Plan).first()?.at.get());
        let planned = planned(self.records(sections::PlannedPartitions), partition)?;
        let whole_nodes = self.partition_record(partition).is_some_and(|record| record.whole_nodes == 1);
        let of_nodes = size.nodes.saturating_mul(if whole_nodes { planned.cpus_per_node.get() } else { 1 });
        let sizes: &[U32] = part(self.records(sections::PlanSizes), planned.first_size, planned.sizes)?;
        let limits: &[U32] = part(self.records(sections::PlanLimits), planned.first_limit, planned.limits)?;
        // If nodes differ in CPUs, all of them together may have fewer than their average, rounded
        // up, makes.
        let cpus = size.cpus.max(of_nodes.min(sizes.last()?.get()));
        let row = sizes.partition_point(|size| size.get() < cpus);
        let column = match limit {
            Some(limit) => limits.partition_point(|longest| i64::from(longest.get()) < limit.0),
            None => limits.len().checked_sub(1)?,
        };
        if row >= sizes.len() || column >= limits.len() {
            return None;
        }
        let place = (planned.first_start.get() as usize).checked_add(row.checked_mul(limits.len())?)?.checked_add(column)?;
        expected_start(self.records(sections::PlanStarts).get(place)?, at)
    }
}

impl<B: AsRef<[u8]>> Snapshot<B> {
    /// What a CPU of a partition costs those who wait; `None` where that was not worked out. A
    /// price that is no number, or less than nothing, is nothing.
    pub(super) fn prices_of(&self, partition: PartitionIndex) -> Option<Prices<'_>> {
        let records = self.records(sections::Prices);
        let first = records.partition_point(|record| record.partition.get() < partition.0);
        let records = records.get(first..)?.iter().take_while(|record| record.partition.get() == partition.0).take(MOST_PRICES);
        let at = UnixTime(records.clone().next()?.at.get());
        let sane = |waited: f32| if waited.is_finite() { waited.max(0.0) } else { 0.0 };
        let step = |record: &PriceRecord| PriceStep { until: Seconds(record.until_s.get().into()), waited: sane(record.waited.get()) };
        Some(Prices { at, steps: records.map(step).collect() })
    }
}

fn planned(partitions: &[PlannedPartitionRecord], partition: PartitionIndex) -> Option<&PlannedPartitionRecord> {
    let place = partitions.binary_search_by_key(&partition.0, |record| record.partition.get()).ok()?;
    partitions.get(place)
}

/// `count` records, beginning with the one at `first`; `None` where there are not so many.
fn part<T>(records: &[T], first: U32, count: U32) -> Option<&[T]> {
    let first = first.get() as usize;
    records.get(first..first.checked_add(count.get() as usize)?)
}

fn planned_job(record: &PlannedJobRecord) -> PlannedJob {
    let start = ordered(record.lower.get(), record.expected.get(), record.upper.get());
    PlannedJob {
        job: JobId(record.job.get()),
        user: UserId(record.user.get()),
        partition: PartitionIndex(record.partition.get()),
        size: Size { nodes: record.nodes.get(), cpus: record.cpus.get() },
        tasks: record.tasks.get(),
        limit: layout::seconds(record.limit_s),
        priority: record.priority.get(),
        start: PlanObstacle::of_number(record.obstacle).map_or(Ok(start), Err),
    }
}

fn expected_start(record: &StartRecord, at: UnixTime) -> Option<ExpectedStart> {
    let moment = |after: U32| layout::seconds(after).map(|after| (at + after).0);
    Some(ordered(moment(record.lower_s)?, moment(record.expected_s)?, moment(record.upper_s)?))
}

/// Bounds that hold whatever the snapshot says.
fn ordered(lower: i64, expected: i64, upper: i64) -> ExpectedStart {
    ExpectedStart { lower: UnixTime(lower.min(expected)), expected: UnixTime(expected), upper: UnixTime(upper.max(expected)) }
}
