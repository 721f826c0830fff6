//! The plan of a queue: the starts of all waiting jobs under three assumptions of run times.

use std::cmp::Reverse;

use job_types::time::UnixTime;
use predictor_core::queue_plan::{ExpectedStart, PlanObstacle};

use crate::grid::Grid;
use crate::places::Places;
use crate::resources::Resources;
use crate::schedule::{Assumption, Schedule, expected_start};
use crate::state::{PendingJob, State};

/// The most jobs and tasks of arrays that are placed.
pub const MOST_PLACED: usize = 20_000;

/// The most tasks of one array that are placed.
pub const MOST_TASKS: u32 = 1_000;

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

/// What a plan says of a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionPlan {
    /// When what is free for it from then on, with all that runs and waits: at most [`MOST_STEPS`]
    /// points; where there are more, the least of several stands for them.
    pub free: Vec<(UnixTime, Resources)>,
    /// When a job that is submitted now would start.
    pub grid: Grid,
}

/// Plans the queue of a state: three passes, and the grids of the partitions behind them.
#[must_use]
pub fn plan(state: &State) -> Plan {
    let places = Places::of(state);
    let mut schedules =
        [Assumption::Optimistic, Assumption::Expected, Assumption::Limit].map(|assumption| Schedule::of(state, &places, assumption));
    let mut pending = Vec::with_capacity(state.pending.len());
    let is_complete = place_all(state, &places, &mut schedules, |index, starts| {
        let never = |job: &PendingJob| if job.reservation.is_some() { PlanObstacle::Reservation } else { PlanObstacle::TooLarge };
        let never = state.pending.get(index).map_or(PlanObstacle::TooLarge, never);
        pending.push(PlannedJob { index, start: starts.and_then(|starts| expected_start(starts).ok_or(never)) });
    });
    let partitions = (0..state.partitions.len()).map(|partition| {
        let [_, expected, _] = &schedules;
        let free = coarsened(&expected.free_steps(&places, partition));
        PartitionPlan { free, grid: Grid::of(state, &places, partition, &mut schedules) }
    });
    Plan { at: state.now, pending, partitions: partitions.collect(), is_complete }
}

/// The queue of a state under one assumption of run times: what [`plan()`] says of it, in one pass
/// and without the grids. A replay that plans thousands of times asks for this.
#[derive(Debug)]
pub struct Pass {
    /// The starts of the pending jobs, by their places in [`State::pending`], in the order in which
    /// they are served; of an array the first task's. `None` where there is never room, or where
    /// the start is not known ([`PlanObstacle`]).
    pub starts: Vec<(usize, Option<UnixTime>)>,
    places: Places,
    schedule: Schedule,
}

impl Pass {
    /// Places the jobs of a state.
    #[must_use]
    pub fn of(state: &State, assumption: Assumption) -> Pass {
        let places = Places::of(state);
        let mut schedule = [Schedule::of(state, &places, assumption)];
        let mut starts = Vec::with_capacity(state.pending.len());
        place_all(state, &places, &mut schedule, |index, start| starts.push((index, start.ok().and_then(|[start]| start))));
        let [schedule] = schedule;
        Pass { starts, places, schedule }
    }

    /// From which moments on so much is free for a partition with all that runs and waits, in the
    /// order of time; neighbours differ.
    #[must_use]
    pub fn free(&self, partition: usize) -> Vec<(UnixTime, Resources)> {
        self.schedule.free_steps(&self.places, partition)
    }
}

/// Places the jobs of a state in each of the schedules, in the order in which they are served, and
/// tells `placed` their starts there, or what keeps them from starting at a known time. Returns
/// whether all were placed for which there is room at all.
fn place_all<const PASSES: usize>(
    state: &State,
    places: &Places,
    schedules: &mut [Schedule; PASSES],
    mut placed: impl FnMut(usize, Result<[Option<UnixTime>; PASSES], PlanObstacle>),
) -> bool {
    let (mut count, mut is_complete) = (0, true);
    for index in order(state) {
        let Some(job) = state.pending.get(index) else { continue };
        let starts = match needs(state, places, job) {
            Err(obstacle) => Err(obstacle),
            Ok(_) if count >= MOST_PLACED => {
                is_complete = false;
                Err(PlanObstacle::TooFarBehind)
            }
            Ok(needs) => {
                let tasks = job.tasks.clamp(1, MOST_TASKS).min(u32::try_from(MOST_PLACED - count).unwrap_or(1));
                is_complete &= tasks >= job.tasks;
                count += tasks as usize;
                Ok(schedules.each_mut().map(|schedule| place_tasks(schedule, places, job, &needs, tasks)))
            }
        };
        placed(index, starts);
    }
    is_complete
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

/// The partitions in which a job may run, with what one task needs there; or what keeps it from
/// running in any of them.
fn needs(state: &State, places: &Places, job: &PendingJob) -> Result<Vec<(usize, Resources)>, PlanObstacle> {
    if let Some(obstacle) = job.obstacle {
        return Err(obstacle);
    }
    let mut needs = Vec::with_capacity(job.partitions.len());
    let mut obstacle = PlanObstacle::PartitionDown;
    for index in job.partitions.iter().map(|index| usize::from(*index)) {
        let Some(partition) = state.partitions.get(index).filter(|partition| partition.is_up) else { continue };
        let is_too_long = partition.longest_limit.is_some_and(|longest| job.limit.is_none_or(|limit| limit > longest));
        if is_too_long || partition.most_nodes.is_some_and(|most| job.asks.nodes > most.into()) {
            obstacle = obstacle.max(PlanObstacle::PartitionLimit);
            continue;
        }
        match places.needed(index, job.asks, job.whole_nodes || partition.whole_nodes) {
            Some(needed) => needs.push((index, needed)),
            None => obstacle = obstacle.max(PlanObstacle::TooLarge),
        }
    }
    if needs.is_empty() { Err(obstacle) } else { Ok(needs) }
}

/// Places the tasks of a job one after the other; returns when the first starts.
fn place_tasks(schedule: &mut Schedule, places: &Places, job: &PendingJob, needs: &[(usize, Resources)], tasks: u32) -> Option<UnixTime> {
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
fn coarsened(steps: &[(UnixTime, Resources)]) -> Vec<(UnixTime, Resources)> {
    if steps.len() <= MOST_STEPS {
        return steps.to_vec();
    }
    let (near, far) = steps.split_at(MOST_STEPS / 2);
    let together = far.len().div_ceil(MOST_STEPS - near.len());
    let far = far.chunks(together).filter_map(|chunk| {
        let least = chunk.iter().map(|(_, free)| *free).reduce(Resources::least)?;
        Some((chunk.first()?.0, least))
    });
    near.iter().copied().chain(far).collect()
}
