//! Sizes of a submission, with what is forecast for each.

use super::super::{DerivedInputs, Limit};
use crate::forecasts::forecast::{Forecaster, RunTimeRange, WaitForecast, point};
use crate::forecasts::price::Area;
use job_types::record::WaitSource;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};

/// A size with what is forecast for it.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The number of nodes or CPUs, in the unit of the submission.
    pub count: u32,
    /// The nodes and CPUs of a job of this size.
    pub size: Size,
    /// The number of tasks at this size, where the submission gives tasks.
    pub tasks: Option<u32>,
    /// The time limit that a job of this size has; `None` is unlimited.
    pub limit: Option<Seconds>,
    /// Forecast of the wait: the median, and the bound that holds with 95 %.
    pub wait: Option<(Seconds, Option<Seconds>)>,
    /// Jobs on which the forecast of the wait rests; 0 where none was needed.
    pub wait_jobs: u32,
    /// The source of the forecast of the wait; `None` where there is no forecast or none was
    /// needed.
    pub wait_source: Option<WaitSource>,
    /// Point forecast of the run time.
    pub run_time: Seconds,
    /// Shortest and longest forecast run time.
    pub run_time_range: (Seconds, Seconds),
    /// Past jobs of the user on which the forecast of the run time rests; 0 where it is the time
    /// limit.
    pub run_time_jobs: u32,
    /// Gain of the size's response-time ranges (IV.A), between 0 and 1.
    pub score: f64,
    /// Probability of being done by the submission's deadline; `None` where it has none, or where
    /// nothing is known of waits and a start now would still be in time.
    pub deadline_probability: Option<f64>,
}

impl Candidate {
    /// Point forecast of the response: wait and run time.
    #[must_use]
    pub fn response(&self) -> Seconds {
        self.wait.map_or(Seconds::ZERO, |(median, _)| median) + self.run_time
    }

    /// What it takes of the machine, from when it is forecast to start.
    pub(in crate::decisions) fn area(&self, now: UnixTime) -> Area {
        Area { start: now + self.response() - self.run_time, time: self.run_time, cpus: self.size.cpus }
    }
}

/// What a forecast at a size assumes.
#[derive(Clone, Copy, Debug)]
pub(in crate::decisions) struct Assumption {
    /// Time from now until the job is eligible, or starts where `starts_then`.
    pub(in crate::decisions) delay: Seconds,
    /// Whether the job starts at that time without a wait (a virtual reservation).
    pub(in crate::decisions) starts_then: bool,
}

/// A size as it would be written, before its wait is forecast.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) count: u32,
    pub(super) size: Size,
    pub(super) tasks: Option<u32>,
    pub(super) limit: Option<Seconds>,
    /// Run times, and the past jobs that they rest on.
    pub(super) ranges: Vec<RunTimeRange>,
    pub(super) run_time_jobs: u32,
}

/// Why a size is not among those that are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NoDraft {
    /// It can't be made of the job's tasks, or does not fit before the deadline.
    Impossible,
    /// Something forbids it.
    Forbidden(Limit),
}

/// Forecasts sizes, all their waits at once.
pub(super) fn forecast<F>(
    context: &DerivedInputs<'_, F>,
    drafts: Vec<Draft>,
    assumption: &Assumption,
) -> Vec<(Candidate, Vec<RunTimeRange>)>
where
    F: Forecaster,
{
    let moment = context.moment(assumption.delay);
    // A job that starts at a reserved time does not wait.
    let asked: Vec<_> =
        drafts.iter().filter(|_| !assumption.starts_then).map(|draft| (context.shape(draft.size, draft.limit), Some(moment))).collect();
    let mut waits = context.forecasts.waits(&asked).into_iter();
    let candidates = drafts.into_iter().map(|draft| {
        let wait = waits.next().flatten();
        let Draft { count, size, tasks, limit, ranges, run_time_jobs } = draft;
        let waited = match (&wait, assumption.starts_then) {
            (_, true) => Some((assumption.delay, Some(assumption.delay))),
            (Some(wait), false) => Some((assumption.delay + wait.median, wait.bound(0.95).map(|bound| assumption.delay + bound))),
            (None, false) => None,
        };
        let deadline = context.submission.deadline;
        let candidate = Candidate {
            count,
            size,
            tasks,
            limit,
            wait: waited,
            wait_jobs: wait.as_ref().map_or(0, |wait| wait.jobs),
            wait_source: wait.as_ref().map(|wait| wait.source),
            run_time: point(&ranges),
            run_time_range: (
                ranges.first().map_or(Seconds::ZERO, RunTimeRange::lower),
                ranges.last().map_or(Seconds::ZERO, RunTimeRange::upper),
            ),
            run_time_jobs,
            score: 0.0,
            deadline_probability: deadline
                .and_then(|deadline| probability_done(wait.as_ref(), &ranges, deadline - context.now, assumption)),
        };
        (candidate, ranges)
    });
    candidates.collect()
}

/// Probability of being done within `time_left`: over the run-time ranges, each taken at its longer
/// end, that of starting early enough. `None` where that depends on a wait of which nothing is
/// known.
fn probability_done(wait: Option<&WaitForecast<'_>>, ranges: &[RunTimeRange], time_left: Seconds, assumption: &Assumption) -> Option<f64> {
    let starts_in_time = |latest_start: Seconds| match wait {
        _ if latest_start < Seconds::ZERO => Some(0.0),
        _ if assumption.starts_then => Some(1.0),
        wait => Some(wait?.probability_within(latest_start)),
    };
    let by_range = |range: &RunTimeRange| {
        let latest_start = time_left - assumption.delay - range.upper();
        Some(range.probability() * starts_in_time(latest_start)?)
    };
    let probability: f64 = ranges.iter().map(by_range).sum::<Option<f64>>()?;
    Some(probability.clamp(0.0, 1.0))
}
