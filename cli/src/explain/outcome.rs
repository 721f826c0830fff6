//! The forecast held against what happened.

use job_types::options::Mode;
use job_types::promise::{Promise, PromiseState};
use job_types::record::{Forecast, Record};
use job_types::time::{Seconds, UnixTime};
use serde::Serialize;

use super::source::Job;

/// How far a time may be off and count as unchanged: limits are whole minutes.
const TOLERANCE_S: i64 = 60;

/// What happened to the job. Where something is still open it is `None`, or counted until now.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct JobOutcome {
    /// Seconds from the decision to the start or, if the job then waits on its nodes, to the end of
    /// that wait. If it still waits, the seconds so far.
    pub(super) wait_s: Option<i64>,
    /// Seconds from there to the end, suspensions left out. If the job still runs, the seconds so
    /// far.
    pub(super) run_s: Option<i64>,
    /// Seconds that the job waits on its nodes.
    pub(super) held_s: Option<i64>,
    pub(super) wait_within_bound: Option<bool>,
    pub(super) run_time_in_range: Option<bool>,
    pub(super) reservation_kept: Option<bool>,
    pub(super) deadline_met: Option<bool>,
}

/// Something that is not any more what was written.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Change {
    pub(super) what: &'static str,
    /// The value that was written or submitted; `None` is unlimited.
    pub(super) written: Option<i64>,
    pub(super) now: Option<i64>,
}

/// The forecast that is about the job as it really went: in a mode below `enforce` that is the one
/// for the job as submitted.
pub(super) fn forecast_that_holds(record: &Record) -> Option<&Forecast> {
    match record.mode {
        Mode::Enforce => record.forecast.as_ref(),
        _ => record.instead_of.as_ref().or(record.forecast.as_ref()),
    }
}

/// What was written into the job, in the mode that writes.
pub(super) fn written(record: &Record) -> Option<&job_types::record::Written> {
    record.written.as_ref().filter(|_| record.mode == Mode::Enforce)
}

impl JobOutcome {
    /// What has happened until now.
    pub(super) fn of(job: &Job, record: &Record, now: UnixTime) -> Self {
        let over = job.ended.is_some();
        let (end, now) = (job.ended, now.0);
        // slurmdbd has zero where it was never told the limit.
        let limit = job.limit_s.filter(|limit| *limit > 0).map(Seconds);
        // A job that waits on its nodes begins its work when that is over.
        let work = job.started.map(|started| started + record.wait_on_nodes(UnixTime(started), limit).0);
        let held_s = job.started.zip(work).map(|(started, work)| (work.min(end.unwrap_or(now)) - started).max(0)).filter(|held| *held > 0);
        // A job that ended while it waited has no wait to compare; it only did not start.
        let waited_until = match (work, over) {
            (Some(work), _) => Some(work.min(end.unwrap_or(now))),
            (None, false) => Some(now),
            (None, true) => None,
        };
        let wait_s = waited_until.map(|until| (until - record.at.0).max(0));
        let run_s = work.map(|work| (end.unwrap_or(now) - work - job.suspended_s).max(0)).filter(|_| work.is_some_and(|work| work <= now));
        let forecast = forecast_that_holds(record);

        // Something that still goes on can have missed its bound, but not kept it yet.
        let open = |holds: bool, settled: bool| if holds && !settled { None } else { Some(holds) };
        let bound = forecast.and_then(|forecast| forecast.wait_95_s);
        let wait_within_bound =
            wait_s.zip(bound).and_then(|(wait, bound)| open(wait <= bound, work.is_some_and(|work| work <= end.unwrap_or(now))));
        let run_time_in_range = run_s.zip(forecast).and_then(|(run, forecast)| {
            let (shortest, longest) = forecast.run_range_s;
            if over { Some((shortest..=longest).contains(&run)) } else { open(run <= longest, false) }
        });
        let reservation = Promise::standing(record).and_then(Promise::reservation);
        let reservation_kept = reservation.and_then(|reservation| {
            let runs = job.earlier_runs.iter().copied().chain([job.reserved_run()]);
            let state = runs.filter_map(|run| reservation.state(&run, UnixTime(now))).reduce(PromiseState::beside)?;
            if over { state.once_all_is_told(reservation.at, UnixTime(now)) } else { state }.is_kept()
        });
        let deadline_met = record.asked.deadline.and_then(|deadline| match end {
            Some(end) => Some(job.started.is_some() && end <= deadline && job.state != "deadline"),
            None => (now > deadline).then_some(false),
        });
        Self { wait_s, run_s, held_s, wait_within_bound, run_time_in_range, reservation_kept, deadline_met }
    }
}

/// Returns where the job differs from what was written, or from its submission if nothing was
/// written.
pub(super) fn changes(job: &Job, record: &Record) -> Vec<Change> {
    let has_written = written(record).is_some();
    let written = written(record).cloned().unwrap_or_default();
    let mut changes = Vec::new();
    // What the daemon has moved since is what was written last.
    let limit = record.last_limit().map(|limit| limit.0).filter(|_| has_written).or(record.asked.limit_s);
    let off = |one: i64, other: i64| (one - other).abs() >= TOLERANCE_S;
    let limit_differs = match (limit, job.limit_s) {
        // slurmdbd has zero where it was never told.
        (_, Some(0)) | (None, None) => false,
        (Some(written), Some(now)) => off(written, now),
        (Some(_), None) | (None, Some(_)) => true,
    };
    if limit_differs {
        changes.push(Change { what: "limit_s", written: limit, now: job.limit_s });
    }
    let nodes = written.nodes.unwrap_or(record.asked.nodes);
    let cpus = written.cpus.unwrap_or(record.asked.cpus);
    // A job of tasks alone may get other nodes than were thought of; it is changed if its CPUs are
    // others as well.
    let same_by_tasks = record.asked.tasks.is_some() && job.cpus == cpus;
    if job.nodes > 0 && job.nodes != nodes && !same_by_tasks {
        changes.push(Change { what: "nodes", written: Some(nodes.into()), now: Some(job.nodes.into()) });
    }
    let begin = record.last_begin().map(|begin| begin.0).filter(|_| has_written);
    if let Some((begin, eligible)) = begin.zip(job.eligible)
        && off(begin, eligible)
    {
        changes.push(Change { what: "begin", written: Some(begin), now: Some(eligible) });
    }
    changes
}

#[cfg(test)]
pub(super) mod tests;
