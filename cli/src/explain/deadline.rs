//! The deadline that a job was admitted with, held against what happened.

use job_types::job::Ending;
use job_types::promise::{Promise, PromiseState};
use job_types::record::{Forecast, Record};
use job_types::time::{Seconds, UnixTime};
use serde::Serialize;

use super::outcome::{Change, JobOutcome};
use super::source::Job;
use crate::expected;

/// What was promised of a deadline, and what has become of it.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct DeadlineReport {
    pub(super) rule: &'static str,
    pub(super) deadline: i64,
    /// The probability that the rule wanted.
    pub(super) wanted: Option<f64>,
    /// The probability that was promised.
    pub(super) promised: Option<f64>,
    pub(super) state: PromiseState,
    /// How long before the deadline the job ended; negative where it was later.
    pub(super) spare_s: Option<i64>,
    /// When it is expected to be done, where it has not ended.
    pub(super) expected_end: Option<i64>,
    /// What made it late, where it is.
    pub(super) reasons: Vec<Reason>,
}

/// Something that made a job late.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Reason {
    /// One of `waited`, `ran`, `suspended`, `requeued`, `changed`, `ended_as_late`, `limit`,
    /// `cancelled`, `failed`, `slurms_deadline`, `no_room`.
    pub(super) what: &'static str,
    /// By how many seconds; for a requeued job, how often. `None` if there is no such number.
    pub(super) by: Option<i64>,
}

impl Reason {
    fn new(what: &'static str, by: Option<i64>) -> Self {
        Self { what, by }
    }
}

impl DeadlineReport {
    /// Reports on a job that was admitted; `None` for any other. `expected_start` is the start in
    /// the plan of the queue.
    pub(super) fn of(
        job: &Job,
        record: &Record,
        outcome: &JobOutcome,
        changes: &[Change],
        expected_start: Option<i64>,
        now: UnixTime,
    ) -> Option<Self> {
        let given = Promise::standing(record)?.deadline()?;
        let end = job.ended.map(UnixTime).zip(job.ending);
        let state = given.state(end, now);
        let forecast = record.forecast.as_ref();
        let start = job.started.or(expected_start).map(UnixTime).filter(|_| job.ended.is_none());
        let run = forecast.map(|forecast| Seconds(forecast.run_s.saturating_add(job.suspended_s)));
        let timed_out_at_ours = given.limit_is_ours && matches!(end, Some((_, Ending::TimedOut)));
        let reasons = if state == PromiseState::Missed { reasons(job, record, outcome, changes, timed_out_at_ours) } else { Vec::new() };
        Some(Self {
            rule: given.by.as_str(),
            deadline: given.deadline.0,
            wanted: given.wanted,
            promised: given.promised(),
            state,
            spare_s: job.ended.map(|end| given.deadline.0 - end),
            expected_end: start.zip(run).map(|(start, run)| expected::end(start, run, now).0),
            reasons,
        })
    }
}

/// What made a job late, as far as its record and its times tell.
fn reasons(job: &Job, record: &Record, outcome: &JobOutcome, changes: &[Change], timed_out_at_ours: bool) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let longer = |happened: Option<i64>, forecast: Option<i64>| happened.zip(forecast).map(|(one, other)| one - other).filter(|by| *by > 0);
    let forecast = record.forecast.as_ref();
    if let Some(by) = longer(outcome.wait_s, forecast.and_then(|forecast| forecast.wait_s)) {
        reasons.push(Reason::new("waited", Some(by)));
    }
    if let Some(by) = longer(outcome.run_s, forecast.map(|forecast| forecast.run_s)) {
        reasons.push(Reason::new("ran", Some(by)));
    }
    if job.suspended_s > 0 {
        reasons.push(Reason::new("suspended", Some(job.suspended_s)));
    }
    if let Some(runs) = job.runs.and_then(|runs| i64::try_from(runs).ok()).filter(|runs| *runs > 1) {
        reasons.push(Reason::new("requeued", Some(runs - 1)));
    }
    if !changes.is_empty() || record.changed.as_ref().is_some_and(|changed| changed.stopped) {
        reasons.push(Reason::new("changed", None));
    }
    let by_its_end = match job.ending {
        Some(Ending::Cancelled | Ending::SlurmsDeadline) if record.changed.as_ref().is_some_and(|changed| changed.late.is_some()) => {
            Some("ended_as_late")
        }
        Some(Ending::TimedOut) if timed_out_at_ours => Some("limit"),
        Some(Ending::Cancelled) => Some("cancelled"),
        Some(Ending::Failed) => Some("failed"),
        Some(Ending::SlurmsDeadline) => Some("slurms_deadline"),
        _ => None,
    };
    reasons.extend(by_its_end.map(|what| Reason::new(what, None)));
    if reasons.is_empty() {
        // A rule that goes by time limits alone, or a forecast that was not for sure.
        let foreseen = |forecast: &Forecast| Some(forecast.wait_s? + forecast.run_s);
        let room = record.asked.deadline.map(|deadline| deadline - record.at.0);
        let missing = forecast.and_then(foreseen).zip(room).map(|(foreseen, room)| foreseen - room).filter(|missing| *missing > 0);
        reasons.extend(missing.map(|missing| Reason::new("no_room", Some(missing))));
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::super::outcome::tests::{job, pending, record};
    use super::*;
    use job_types::policy::Admission;
    use job_types::record::{AskedFor, Changed, Written};

    /// The job of the tests, admitted with a deadline. It is forecast to wait for 100 s from 10,000
    /// on and to run for 1,000 s.
    fn admitted(deadline: i64) -> Record {
        let written =
            Written { admitted_by: Some(Admission::Probability), deadline: Some(deadline), wanted: Some(0.9), ..Written::default() };
        let record = record();
        let forecast = Forecast { deadline_probability: Some(0.93), ..record.forecast.clone().unwrap() };
        let asked = AskedFor { deadline: Some(deadline), ..record.asked.clone() };
        Record { asked, written: Some(written), forecast: Some(forecast), ..record }
    }

    fn of(job: &Job, record: &Record, expected_start: Option<i64>, now: i64) -> DeadlineReport {
        let now = UnixTime(now);
        let changes = super::super::outcome::changes(job, record);
        DeadlineReport::of(job, record, &JobOutcome::of(job, record, now), &changes, expected_start, now).unwrap()
    }

    fn whys(report: &DeadlineReport) -> Vec<(&'static str, Option<i64>)> {
        report.reasons.iter().map(|reason| (reason.what, reason.by)).collect()
    }

    #[test]
    fn a_kept_deadline_is_told_with_what_was_to_spare() {
        let kept = of(&job(), &admitted(12_000), None, 20_000);
        assert_eq!((kept.state, kept.spare_s, kept.promised, kept.wanted), (PromiseState::Kept, Some(800), Some(0.93), Some(0.9)));
        assert_eq!((kept.rule, whys(&kept), kept.expected_end), ("probability", Vec::new(), None));
    }

    #[test]
    fn a_missed_one_is_told_with_all_that_made_it_late() {
        let late = Job { started: Some(10_600), ended: Some(12_200), suspended_s: 300, runs: Some(2), ..job() };
        let missed = of(&late, &admitted(12_000), None, 20_000);
        assert_eq!((missed.state, missed.spare_s), (PromiseState::Missed, Some(-200)));
        // 600 s from the decision to the start, and 1,300 s of running.
        assert_eq!(whys(&missed), [("waited", Some(500)), ("ran", Some(300)), ("suspended", Some(300)), ("requeued", Some(1))]);
        let stopped = Changed { stopped: true, ..Changed::default() };
        let changed = of(&job(), &Record { changed: Some(stopped), ..admitted(11_100) }, None, 20_000);
        assert_eq!(whys(&changed), [("waited", Some(100)), ("changed", None)]);
    }

    #[test]
    fn a_deadline_without_room_for_what_was_forecast_is_said_to_have_had_none() {
        let on_time = Job { started: Some(10_100), ended: Some(11_100), ..job() };
        assert_eq!(whys(&of(&on_time, &admitted(11_000), None, 20_000)), [("no_room", Some(100))]);
    }

    #[test]
    fn a_job_that_has_not_ended_is_told_when_it_is_expected_to_be_done() {
        let waits = of(&pending(), &admitted(12_000), Some(10_900), 10_500);
        assert_eq!((waits.state, waits.expected_end, waits.spare_s), (PromiseState::Open, Some(11_900), None));
        let running = Job { started: Some(10_200), ..pending() };
        assert_eq!(of(&running, &admitted(12_000), None, 11_500).expected_end, Some(11_500), "it has outlived its forecast");
        let late = of(&pending(), &admitted(12_000), None, 12_001);
        assert_eq!((late.state, whys(&late)), (PromiseState::Missed, vec![("waited", Some(1_901))]));
    }

    #[test]
    fn what_was_cancelled_before_its_deadline_is_withdrawn_and_nothing_made_it_late() {
        let cancelled = Job { ending: Some(Ending::Cancelled), state: "cancelled", ..job() };
        let report = of(&cancelled, &admitted(12_000), None, 20_000);
        assert_eq!((report.state, whys(&report)), (PromiseState::Withdrawn, Vec::new()));
    }
}
