//! How likely an admitted job is to be done by its deadline, as forecast now.

use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::deadline_run_times::unknown;
use predictor_core::forecasts::forecast::{JobShape, Moment, RunTimeForecaster, RunTimeQuestion, RunTimeRange, WaitForecaster};
use predictor_core::forecasts::run_time_models::of_size;

/// How long after a job became eligible the state of the cluster is still that in which it did.
const FRESH: Seconds = Seconds(120);

/// A job as it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Present {
    /// What forecasts of waits need to know of it; of one that has a share of its nodes, with its
    /// user's estimate as its limit.
    pub(super) shape: JobShape,
    /// Whether it has a share of its nodes.
    pub(super) has_share: bool,
    /// Whether it was admitted by what is forecast of run times, and not by its time limit.
    pub(super) is_forecast: bool,
    /// When it becomes or became eligible.
    pub(super) eligible: UnixTime,
    /// When it started, where it runs.
    pub(super) started: Option<UnixTime>,
    /// For how much of the time since then it was suspended.
    pub(super) suspended: Seconds,
    /// The present.
    pub(super) now: UnixTime,
}

/// The probability that a job which has not ended is done by a deadline; `None` where that depends
/// on a wait of which nothing is known, and of a job that has a share of its nodes where it has run
/// for longer than is known of it, which it may do and be in time.
///
/// The run time is that of the user's past jobs of that size, or else the time limit, or anything
/// up to that for a job that was admitted so; of a job that runs, that of those which ran longer
/// than it has. The wait of a job that has just become eligible, as after a requeue, is forecast
/// anew from the present state of the cluster; that of one which has waited for longer is that of
/// waits which were at least as long as its own so far.
pub(super) fn present_probability<F>(job: &Present, deadline: UnixTime, forecasts: &F) -> Option<f64>
where
    F: WaitForecaster + RunTimeForecaster,
{
    let Present { shape, has_share, is_forecast, eligible, started, suspended, now } = *job;
    let left = deadline - now;
    if left <= Seconds::ZERO {
        return Some(0.0);
    }
    let ranges = run_times(&shape, is_forecast, forecasts);
    if let Some(started) = started {
        if shape.limit.is_some_and(|limit| started + suspended + limit <= deadline) {
            return Some(1.0);
        }
        let elapsed = (now - started - suspended).max(Seconds::ZERO);
        let mass = |holds: &dyn Fn(&RunTimeRange) -> bool| -> f64 {
            let held = ranges.iter().filter(|range| range.upper() > elapsed && holds(range));
            // The sum of no numbers is a negative zero.
            held.map(RunTimeRange::probability).fold(0.0, |sum, probability| sum + probability)
        };
        let longer = mass(&|_| true);
        // A job that has outlived all that is known goes on to its limit, which is too late.
        let known = (longer > 0.0).then(|| mass(&|range| range.upper() <= elapsed + left) / longer);
        return known.or((!has_share).then_some(0.0));
    }
    if ranges.iter().all(|range| range.upper() > left) {
        return Some(0.0);
    }
    let waited = (now - eligible).max(Seconds::ZERO);
    let moment = (waited <= FRESH).then(|| Moment::present(now).at(eligible));
    let wait = forecasts.wait(&shape, moment.as_ref())?;
    let over = if moment.is_none() { wait.probability_within(waited) } else { 0.0 };
    let from = if moment.is_none() { eligible } else { eligible.max(now) };
    let starts_by = |start: UnixTime| {
        let within = wait.probability_within(start - from);
        if over < 1.0 { ((within - over) / (1.0 - over)).clamp(0.0, 1.0) } else { 0.0 }
    };
    let done = ranges.iter().map(|range| range.probability() * starts_by(deadline - range.upper())).sum::<f64>();
    Some(done.clamp(0.0, 1.0))
}

/// The ranges of the run time within the time limit; without both nothing is known of it, and
/// there is none.
fn run_times<F: RunTimeForecaster>(shape: &JobShape, is_forecast: bool, forecasts: &F) -> Vec<RunTimeRange> {
    let JobShape { user, partition, size, limit, .. } = *shape;
    let past = of_size(size, |unit, count| forecasts.run_time(&RunTimeQuestion { user, partition, unit, count, limit }));
    match (past, shape.limit) {
        (Some(past), limit) => past.within(limit),
        (None, Some(limit)) if is_forecast => unknown(limit),
        (None, Some(limit)) => vec![RunTimeRange::new(limit.clamped_u32(), limit.clamped_u32(), 1.0)],
        (None, None) => Vec::new(),
    }
}
