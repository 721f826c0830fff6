//! Admission by the forecast probability of being done in time, without anybody who was admitted
//! before being pushed under theirs.
//!
//! By the plan of the queue, with all that runs and waits, where there is one; what jobs with
//! deadlines have taught ([`DeadlineHistory`]) goes with it.
//!
//! 1. **The run time** is the distribution that is forecast for the user's jobs of that size,
//!    within the time limit, weighed by what the deadline says of it ([`with_deadline`]).
//! 2. **The start**, for each of these run times, is the earliest one at which the plan has room
//!    for it: in CPUs that nobody has, so that nobody is pushed, or before admitted jobs with later
//!    deadlines, which the order by deadline serves later as well, as far as each of them stays
//!    above the probability that it was promised ([`PromisedJob::gives_way`]).
//! 3. **The wait** is longer or shorter than planned as often as it was for others
//!    ([`DeadlineHistory::starts_within`]), and the probability is corrected by how such promises
//!    were kept ([`DeadlineHistory::corrected`]).
//! 4. **A job that runs long leaves room** for those that will come: the longer it is expected to
//!    run, the more CPUs have to be free beside it ([`RoomBesideJob`]). It begins when there is so
//!    much room, which may be later than it could. Without that, long jobs with much time would
//!    keep all CPUs from short jobs that have little.
//!
//! What was admitted since the queue was read has one place in the plan before the job: all of its
//! CPUs together, for as long as its jobs are expected to run in the mean, at the earliest moment
//! at which there is room for them.
//!
//! Without a plan the forecast of the wait takes its place, and more is asked than is wanted where
//! promises of that size and time ahead were kept too seldom
//! ([`level_to_ask`](crate::forecasts::promise::level_to_ask)).

use super::{Admitted, FARTHEST_DEADLINE, NotAdmitted};
use crate::decisions::deadline_methods::room::{Room, steps_behind};
use crate::decisions::{Candidate, DerivedInputs};
use crate::forecasts::deadline_history::DeadlineHistory;
use crate::forecasts::deadline_run_times::with_deadline;
use crate::forecasts::forecast::{Claimed, Forecaster, FreePlan};
use crate::forecasts::promise::{PromiseKind, PromiseShape};
use crate::forecasts::promised_job::{PromisedJob, mean};
use job_types::policy::Admission;
use job_types::time::{Seconds, UnixTime};

/// How much room is left beside a job.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RoomBesideJob {
    /// A job that is expected to run no longer leaves none.
    short: Seconds,
    /// How often that doubles until a job leaves the most.
    doublings: f64,
    /// The part of the CPUs that is the most.
    most: f64,
}

impl Default for RoomBesideJob {
    /// Chosen by what they were worth on workload logs: docs/deadlines.md.
    fn default() -> RoomBesideJob {
        RoomBesideJob { short: Seconds(600), doublings: 8.0, most: 0.5 }
    }
}

impl RoomBesideJob {
    /// The CPUs, of so many, that have to be free beside a job that is expected to run so long.
    fn room_beside(&self, run_time: Seconds, all: u32) -> u64 {
        if run_time <= self.short {
            return 0;
        }
        let doublings = (run_time.0 as f64 / self.short.0.max(1) as f64).log2();
        (f64::from(all) * self.most * (doublings / self.doublings).min(1.0)) as u64
    }
}

/// How a job with a deadline fares by the plan.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Prospect {
    /// The probability that it is done in time, corrected by how such promises were kept.
    probability: f64,
    /// The lowest such probability with which it is admitted.
    least_admitted: f64,
    /// When it is planned to start.
    start: UnixTime,
}

/// Admits a job by the plan of the queue, or else by the wait that is forecast for it as it was
/// decided.
pub(super) fn admission<F>(context: &DerivedInputs<'_, F>, decided: Option<&Candidate>, deadline: UnixTime) -> Result<Admitted, NotAdmitted>
where
    F: Forecaster,
{
    let wanted = context.policy.deadline_probability;
    let (partition, cpus, ahead) = (context.partition.index, context.size.cpus, deadline - context.now);
    let promise = PromiseShape { kind: PromiseKind::Deadline, partition, cpus, ahead };
    let by_plan = decided.and_then(|decided| prospect(context, decided, deadline));
    // Either forecast is corrected by what became of others, once: by how promises at the border
    // were kept, or by size and time ahead.
    let (probability, asked) = match by_plan {
        Some(Prospect { probability, least_admitted, .. }) => (probability, least_admitted),
        None => {
            let Some(forecast) = decided.and_then(|decided| decided.deadline_probability) else { return Err(NotAdmitted::NoWaits) };
            (forecast, context.forecasts.level_to_ask(&promise, wanted))
        }
    };
    if probability < asked {
        return Err(NotAdmitted::unlikely(probability, asked, wanted));
    }
    let begin = by_plan.map(|prospect| prospect.start).filter(|start| *start > context.now && !context.submission.is_interactive);
    Ok(Admitted { by: Admission::Probability, deadline, probability: Some(probability), wanted: Some(wanted), begin })
}

/// What all questions about deadlines in one decision have in common, of which a refusal asks some
/// fifty: what the forecasts say of the partition, with what was claimed since.
#[derive(Debug)]
pub(in crate::decisions) struct DeadlinePlan {
    history: DeadlineHistory,
    /// The number of CPUs that are free from each time on. What was claimed since is in its place,
    /// or left out if there is never room for it.
    steps: Vec<(UnixTime, u32)>,
    /// The jobs that were admitted to the partition.
    admitted: Vec<PromisedJob>,
    /// Whether something was claimed that has a place, if not within the time that it takes.
    has_place_for_claimed: bool,
}

impl DeadlinePlan {
    /// `None` where the queue is not planned or nobody has learnt from deadlines.
    fn of<F>(context: &DerivedInputs<'_, F>) -> Option<DeadlinePlan>
    where
        F: Forecaster,
    {
        let (forecasts, partition) = (context.forecasts, context.partition.index);
        let history = forecasts.deadline_history(partition)?;
        let FreePlan { steps, .. } = forecasts.queue_plan(partition)?;
        let claimed = place_of_claimed(context);
        let free_at_last = steps.last().map_or(0, |(_, free)| u64::from(*free));
        let behind = claimed.and_then(|(cpus, length)| steps_behind(&steps, context.now, cpus, length));
        Some(DeadlinePlan {
            history,
            steps: behind.unwrap_or_else(|| steps.into_owned()),
            admitted: forecasts.promised_jobs(partition).into_owned(),
            has_place_for_claimed: claimed.is_some_and(|(cpus, _)| cpus <= free_at_last),
        })
    }

    fn in_decision<'a, F>(context: &DerivedInputs<'a, F>) -> Option<&'a DeadlinePlan>
    where
        F: Forecaster,
    {
        context.deadline_plan.get_or_init(|| DeadlinePlan::of(context)).as_ref()
    }
}

/// How the job as decided fares by the plan; `None` where there is none.
fn prospect<F>(context: &DerivedInputs<'_, F>, decided: &Candidate, deadline: UnixTime) -> Option<Prospect>
where
    F: Forecaster,
{
    let DeadlinePlan { history, steps, admitted, .. } = DeadlinePlan::in_decision(context)?;
    let partition = &context.partition;
    let now = context.now;
    let left_s = (deadline - now).0 as f64;
    let past = context.past_at(decided.size, decided.limit);
    let run_times = with_deadline(past, decided.limit, deadline - now, &history.given);
    let expected = mean(&run_times);

    let all = partition.cpus;
    let cpus = u64::from(decided.size.cpus);
    let beside = Some(RoomBesideJob::default().room_beside(expected, all)).filter(|beside| cpus + beside <= u64::from(all)).unwrap_or(0);
    let not_before = now + context.delay_as_written();
    let giving_way = |job: &&PromisedJob| job.gives_way(deadline, expected);
    let room = Room::before(steps, admitted.iter().filter(giving_way), not_before, cpus + beside);

    let mut starts = room.starts();
    let mut probability = 0.0;
    for (run_s, weight) in &run_times {
        let Some(start) = starts.start(Seconds(run_s.ceil() as i64)) else { break };
        probability += weight * history.starts_within(left_s - run_s, (start - now).0 as f64);
    }
    let wanted = context.policy.deadline_probability;
    let probability = history.corrected(probability.clamp(0.0, 1.0), wanted);
    Some(Prospect { probability, least_admitted: history.least_admitted(wanted), start: room.earliest(expected).unwrap_or(not_before) })
}

/// The CPUs that were claimed since the queue was read that was planned, and for how long each is
/// expected to be used in the mean; `None` where nothing was claimed.
///
/// By everybody whose jobs were admitted, or by the user alone, if that is more.
fn place_of_claimed<F>(context: &DerivedInputs<'_, F>) -> Option<(u64, Seconds)> {
    let Claimed { admitted, partition, .. } = context.claimed;
    let claims = if partition.cpus > admitted.cpus { partition } else { admitted };
    let length = claims.expected_work.checked_div(claims.cpus)?;
    Some((claims.cpus, Seconds(i64::try_from(length).unwrap_or(i64::MAX)).clamp(Seconds(1), FARTHEST_DEADLINE)))
}

/// Whether there is a plan of the queue with a place for what was claimed since, so that it counts
/// where it will run, and not as work that all others have to wait for.
pub(super) fn has_place_for_claimed<F>(context: &DerivedInputs<'_, F>) -> bool
where
    F: Forecaster,
{
    DeadlinePlan::in_decision(context).is_some_and(|plan| plan.has_place_for_claimed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_a_job_runs_the_more_room_it_leaves() {
        let beside = |run_s| RoomBesideJob::default().room_beside(Seconds(run_s), 1_000);
        assert_eq!([600, 1_200, 4_800, 38_400, 153_600].map(beside), [0, 62, 187, 375, 500]);
    }
}
