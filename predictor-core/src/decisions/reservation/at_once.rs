//! Reservations for a time near by on nodes that are free now.
//!
//! Forecasts of waits rest on jobs of the past, and where those waited they say so although nodes
//! are idle now. The plan of the queue knows what is free. It does not know who will come, so that
//! it is asked about jobs that become eligible now and about times near by alone.

use super::trajectory::{Reservable, TrajectoryPoint};
use crate::decisions::DerivedInputs;
use crate::decisions::choice::earliest;
use crate::forecasts::forecast::QueueForecaster;
use job_types::time::Seconds;

/// How far ahead such a time may be. From the moment at which it becomes eligible until then the
/// job keeps its nodes, which is paid for.
const NEAR: Seconds = Seconds(1_800);

/// The least that the time has to be ahead, so that slurmctld has tried to start the job before.
const LEAST_AHEAD: Seconds = Seconds(60);

/// The probability that a job for which there is room now starts before a time near by: the most
/// that forecasts tell. CPUs that are free may be on too many nodes, and jobs of a higher priority
/// may come first. Where such promises are missed more is asked for than this
/// ([`Reservable::level_to_ask`]), and they are no longer given.
const PROBABILITY: f64 = 0.99;

/// The reservation of a job that becomes eligible now, where the plan of the queue has room for it
/// from now on, as long as its padded time limit and beside all that waits. `None` where there is
/// no plan, or no room, or where the time is not near by.
pub(super) fn at_once<F: QueueForecaster>(
    context: &DerivedInputs<'_, F>,
    job: &Reservable<'_, F>,
    ahead: Seconds,
) -> Option<TrajectoryPoint> {
    // A job that asks for certain nodes may find only others free.
    if !(LEAST_AHEAD..=NEAR).contains(&ahead) || context.submission.placement.is_some() {
        return None;
    }
    let padded_limit = (job.shape.limit? + ahead).rounded_up_to_minutes();
    if job.longest_limit.is_some_and(|longest| padded_limit > longest) {
        return None;
    }
    let plan = context.forecasts.queue_plan(context.partition.index)?;
    // Jobs that were decided about since the plan was made take their CPUs at the same time.
    let cpus = u64::from(job.shape.size.cpus).saturating_add(context.claimed.partition.cpus);
    let has_room = earliest(&plan.steps, context.now, cpus, padded_limit) == Some(context.now);
    has_room.then_some(TrajectoryPoint { begin: context.now, padded_limit, probability: PROBABILITY, mean_early: ahead })
}
