//! What a state says, prepared once for all questions about it.

use std::borrow::Cow;
use std::cmp::Reverse;

use job_types::number::JobId;
use predictor_core::forecasts::queue_plan::PlanObstacle;

use crate::places::Places;
use crate::resources::Resources;
use crate::state::{PendingJob, Reservation, State};

/// The rank of a job in the order in which jobs are served, and its place in [`State::pending`];
/// the lowest comes first.
pub(crate) type Rank = (bool, Reverse<u32>, Reverse<u32>, JobId, usize);

/// The partitions in which a job may run, with what one task needs there; or what keeps it from
/// running in any of them.
pub(crate) type Needs = Result<Vec<(usize, Resources)>, PlanObstacle>;

/// A state with its places, the order of its jobs and what they need.
#[derive(Debug)]
pub(crate) struct Setting<'s> {
    pub(crate) state: &'s State,
    /// The reservations of the state, or others instead of them.
    pub(crate) reservations: Cow<'s, [Reservation]>,
    pub(crate) places: Places,
    /// The pending jobs in the order in which they are served.
    pub(crate) order: Vec<Rank>,
    /// The needs of each pending job, by its place in [`State::pending`].
    needs: Vec<Needs>,
}

impl<'s> Setting<'s> {
    /// Prepares a state, with these reservations.
    pub(crate) fn of(state: &'s State, reservations: Cow<'s, [Reservation]>) -> Self {
        let places = Places::of(state, &reservations);
        let mut setting = Self { state, reservations, places, order: Vec::new(), needs: Vec::new() };
        setting.order = state.pending.iter().enumerate().map(|(index, job)| setting.rank(index, job)).collect();
        setting.order.sort_unstable();
        setting.needs = state.pending.iter().map(|job| setting.needs(job)).collect();
        setting
    }

    /// The pending job at a place of the state, and what it needs.
    pub(crate) fn pending(&self, index: usize) -> Option<(&'s PendingJob, &Needs)> {
        self.state.pending.get(index).zip(self.needs.get(index))
    }

    /// The rank of a job that is at a place of the state's pending ones.
    pub(crate) fn rank(&self, index: usize, job: &PendingJob) -> Rank {
        let tiers = job.partitions.iter().filter_map(|partition| self.state.partitions.get(usize::from(*partition)));
        let tier = tiers.map(|partition| partition.tier).max().unwrap_or_default();
        (job.reservation.is_none(), Reverse(tier), Reverse(job.priority), job.id, index)
    }

    /// What a job needs.
    pub(crate) fn needs(&self, job: &PendingJob) -> Needs {
        if let Some(obstacle) = job.obstacle {
            return Err(obstacle);
        }
        let mut needs = Vec::with_capacity(job.partitions.len());
        let mut obstacle = PlanObstacle::PartitionDown;
        for index in job.partitions.iter().map(|index| usize::from(*index)) {
            let Some(partition) = self.state.partitions.get(index).filter(|partition| partition.is_up) else { continue };
            let is_too_long = partition.longest_limit.is_some_and(|longest| job.limit.is_none_or(|limit| limit > longest));
            if is_too_long || partition.most_nodes.is_some_and(|most| job.asks.nodes > most.into()) {
                obstacle = obstacle.max(PlanObstacle::PartitionLimit);
                continue;
            }
            match self.places.needed(index, job.asks, job.whole_nodes || partition.whole_nodes) {
                Some(needed) => needs.push((index, needed)),
                None => obstacle = obstacle.max(PlanObstacle::TooLarge),
            }
        }
        if needs.is_empty() { Err(obstacle) } else { Ok(needs) }
    }
}
