//! When will each pending job start, given the cluster as it is now?
//!
//! [`plan`] places the jobs that wait, in Slurm's order, each at the earliest time at which there
//! is room for as long as it is expected to run, and never moves one that has been placed:
//! conservative backfilling with run times as they are forecast. It is pure, and the same state
//! gives the same plan.
//!
//! **Order** (src/slurmctld/job_scheduler.c, `sort_job_queue2`): jobs that wait for a reservation,
//! then the partition's tier, then the priority as slurmctld tells it, then the job's number.
//! Priorities are assumed to keep this order, and no job is assumed to be submitted later.
//!
//! **Run times** come from the caller ([`RunTimes`]). What runs ends as jobs do that have run so
//! long, never before now and never beyond its limit. The same jobs are placed three times: with
//! the run times that three of four such jobs exceed, with the expected ones, and with time limits.
//! The starts of the first and the last bound those in the middle. They bound what follows from run
//! times alone: jobs that arrive later with a higher priority delay a job beyond its upper bound.
//!
//! **What is approximated.** CPUs are counted, by pool and partition: which nodes they are on is
//! known of running jobs, reservations and nodes that are down only, so that fragments over nodes
//! count as room. Memory, generic resources, licences, constraints, preemption, and limits of
//! accounts and qualities of service are not modelled; jobs that slurmctld says wait for such a
//! limit get no expected start and take no room. Slurm's own backfilling goes by time limits, and
//! with `bf_max_job_test`, `bf_window` and the like it looks less far; the plan takes it to find
//! every hole. Reservations that recur are known by their next occurrence.
//!
//! **Bounds on the work.** At most [`MOST_PLACED`] jobs and tasks of arrays are placed, of one
//! array at most [`MOST_TASKS`]; jobs behind them are [`PlanObstacle::TooFarBehind`].

mod floors;
mod grid;
mod places;
mod run_time;
mod schedule;
mod state;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;

pub use grid::Grid;
pub use run_time::{LONGEST, RunTimes};
pub use state::{Node, Partition, PendingJob, Reservation, RunningJob, State};

use job_types::time::UnixTime;
use places::Places;
use predictor_core::queue_plan::{ExpectedStart, PlanObstacle};
use schedule::{Assumption, Schedule};

/// The most jobs and tasks of arrays that are placed.
pub const MOST_PLACED: usize = 20_000;

/// The most tasks of one array that are placed.
pub const MOST_TASKS: u32 = 1_000;

/// The most sizes of a grid.
pub const MOST_SIZES: usize = 24;

/// The most points of a free profile that is handed out.
pub const MOST_STEPS: usize = 256;

/// The expected starts of the waiting jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The moment of which the plan is.
    pub at: UnixTime,
    /// The pending jobs in the order in which they are served.
    pub pending: Vec<PlannedJob>,
    /// One for each partition, in the state's order.
    pub partitions: Vec<PartitionPlan>,
    /// Whether all jobs were placed for which there is room at all; otherwise everything is more
    /// crowded than the plan says.
    pub is_complete: bool,
}

/// What is expected of a pending job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedJob {
    /// Its place in [`State::pending`].
    pub index: usize,
    /// When it starts, of an array's tasks the first; or why that is not known.
    pub start: Result<ExpectedStart, PlanObstacle>,
}

/// The start of a job from the three plans. Jobs that end earlier can make another start later, so
/// that the three may be out of order.
fn expected_start([optimistic, expected, limit]: [Option<UnixTime>; 3]) -> Option<ExpectedStart> {
    let expected = expected?;
    let (lower, upper) = (optimistic?.min(expected), limit?.max(expected));
    Some(ExpectedStart { lower, expected, upper })
}

/// What a plan says of a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionPlan {
    /// When how many CPUs are free for it from then on, with all that runs and waits: at most
    /// [`MOST_STEPS`] points; where there are more, the least of several stands for them.
    pub free: Vec<(UnixTime, i64)>,
    /// When a job that is submitted now would start.
    pub grid: Grid,
}

/// Plans the queue of a state.
#[must_use]
pub fn plan(state: &State) -> Plan {
    let places = Places::of(state);
    let mut schedules =
        [Assumption::Optimistic, Assumption::Expected, Assumption::Limit].map(|assumption| Schedule::of(state, &places, assumption));
    let mut placed = 0;
    let mut is_complete = true;
    let mut pending = Vec::with_capacity(state.pending.len());
    for index in order(state) {
        let Some(job) = state.pending.get(index) else { continue };
        let start = match needs(state, &places, job) {
            Err(obstacle) => Err(obstacle),
            Ok(_) if placed >= MOST_PLACED => {
                is_complete = false;
                Err(PlanObstacle::TooFarBehind)
            }
            Ok(needs) => {
                let tasks = job.tasks.clamp(1, MOST_TASKS).min(u32::try_from(MOST_PLACED - placed).unwrap_or(1));
                is_complete &= tasks >= job.tasks;
                placed += tasks as usize;
                let starts = schedules.each_mut().map(|schedule| place_tasks(schedule, &places, job, &needs, tasks));
                expected_start(starts).ok_or(if job.reservation.is_some() { PlanObstacle::Reservation } else { PlanObstacle::TooLarge })
            }
        };
        pending.push(PlannedJob { index, start });
    }
    let partitions = (0..state.partitions.len()).map(|partition| {
        let [_, expected, _] = &schedules;
        let free = coarsened(&expected.free_steps(&places, partition));
        PartitionPlan { free, grid: Grid::of(state, &places, partition, &mut schedules) }
    });
    Plan { at: state.now, pending, partitions: partitions.collect(), is_complete }
}

/// Places of the pending jobs in the order in which they are served.
fn order(state: &State) -> Vec<usize> {
    let tier = |job: &PendingJob| {
        let tiers = job.partitions.iter().filter_map(|partition| state.partitions.get(usize::from(*partition)));
        tiers.map(|partition| partition.tier).max().unwrap_or_default()
    };
    let mut order: Vec<_> = (0..)
        .zip(&state.pending)
        .map(|(index, job)| (job.reservation.is_none(), Reverse(tier(job)), Reverse(job.priority), job.id, index))
        .collect();
    order.sort_unstable();
    order.into_iter().map(|(.., index)| index).collect()
}

/// The partitions in which a job may run, with the CPUs that one task needs there; or what keeps it
/// from running in any of them.
fn needs(state: &State, places: &Places, job: &PendingJob) -> Result<Vec<(usize, i64)>, PlanObstacle> {
    if let Some(obstacle) = job.obstacle {
        return Err(obstacle);
    }
    let mut needs = Vec::with_capacity(job.partitions.len());
    let mut obstacle = PlanObstacle::PartitionDown;
    for index in job.partitions.iter().map(|index| usize::from(*index)) {
        let Some(partition) = state.partitions.get(index).filter(|partition| partition.is_up) else { continue };
        let is_too_long = partition.longest_limit.is_some_and(|longest| job.limit.is_none_or(|limit| limit > longest));
        if is_too_long || partition.most_nodes.is_some_and(|most| job.size.nodes > most) {
            obstacle = obstacle.max(PlanObstacle::PartitionLimit);
            continue;
        }
        match places.needed_cpus(index, job.size, job.whole_nodes || partition.whole_nodes) {
            Some(cpus) => needs.push((index, cpus)),
            None => obstacle = obstacle.max(PlanObstacle::TooLarge),
        }
    }
    if needs.is_empty() { Err(obstacle) } else { Ok(needs) }
}

/// Places the tasks of a job one after the other; returns when the first starts.
fn place_tasks(schedule: &mut Schedule, places: &Places, job: &PendingJob, needs: &[(usize, i64)], tasks: u32) -> Option<UnixTime> {
    let first = schedule.place(places, job, needs, job.eligible)?.start;
    let mut from = first;
    for _ in 1..tasks {
        // A task is like the one before it, and finds nothing where that found nothing.
        let Some(fit) = schedule.place(places, job, needs, from) else { break };
        from = fit.start;
    }
    Some(first)
}

/// At most [`MOST_STEPS`] points: the first half of them as they are, then the least of some in a
/// row.
fn coarsened(steps: &[(UnixTime, i64)]) -> Vec<(UnixTime, i64)> {
    if steps.len() <= MOST_STEPS {
        return steps.to_vec();
    }
    let (near, far) = steps.split_at(MOST_STEPS / 2);
    let together = far.len().div_ceil(MOST_STEPS - near.len());
    let far = far.chunks(together).filter_map(|chunk| {
        let least = chunk.iter().map(|(_, free)| *free).min()?;
        Some((chunk.first()?.0, least))
    });
    near.iter().copied().chain(far).collect()
}
