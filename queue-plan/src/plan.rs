//! The plan of a queue: the starts of all waiting jobs under three assumptions of run times.

use job_types::time::UnixTime;
use predictor_core::forecasts::queue_plan::{ExpectedStart, PlanObstacle};

use crate::grid::{Grid, expected_start};
use crate::occupancy::Occupancy;
use crate::pass::Pass;
use crate::resources::Resources;
use crate::schedule::Assumption;
use crate::state::State;

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
    /// The job's place in [`State::pending`].
    pub index: usize,
    /// When the job starts, of an array's tasks the first; or why that is not known.
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
    let stands = Occupancy::of(state, Assumption::Optimistic);
    let mut passes =
        [Assumption::Optimistic, Assumption::Expected, Assumption::Limit].map(|assumption| Pass::from(&stands.under(assumption)));
    let [optimistic, expected, limit] = &passes;
    let starts = optimistic.starts.iter().zip(&expected.starts).zip(&limit.starts);
    let pending = starts.map(|((optimistic, expected), limit)| {
        let all = || Ok(expected_start([optimistic.1?, expected.1?, limit.1?]));
        PlannedJob { index: expected.0, start: all() }
    });
    let (pending, is_complete) = (pending.collect(), expected.is_complete());
    let partitions = (0..state.partitions.len()).map(|partition| {
        let [_, expected, _] = &passes;
        let free = expected.published_free(partition);
        PartitionPlan { free, grid: Grid::of(partition, &mut passes) }
    });
    Plan { at: state.now, pending, partitions: partitions.collect(), is_complete }
}
