//! The report for people.

use command_parts::output::{BAD, GOOD, Lines, count, duration, moment, moment_and_distance, moment_for_options, table};
use job_types::options::{IfMissed, Mode};
use job_types::promise::{Promise, PromiseState};
use job_types::record::{Changed, Forecast, Record, Written};
use job_types::size::Unit;
use job_types::time::{Seconds, UnixTime};

use super::Report;
use super::deadline::{DeadlineReport, Reason};
use super::outcome::{Change, JobOutcome};
use super::slot;
use crate::asked;

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let mut lines = Lines::default();
    job(&mut lines, report);
    let (Some(record), Some(outcome)) = (&report.record, &report.outcome) else { return lines.text() };
    lines.heading("Decision");
    decision(&mut lines, record);
    if let Some(moved) = record.changed.as_ref().and_then(moved) {
        lines.line("moved", moved);
    }
    if let Some(progress) = slot::progress(record, report.now) {
        lines.line("slot", progress);
    }
    for change in &report.changed_since {
        lines.line("changed since", changed(change));
    }
    lines.heading("Forecast and outcome");
    comparison(&mut lines, report, record, outcome);
    if let Some(deadline) = &report.deadline {
        lines.heading("Deadline");
        lines.plain(what_became_of(deadline, report.now));
    }
    lines.text()
}

fn job(lines: &mut Lines, report: &Report) {
    let job = &report.job;
    let name = match job.array_task {
        Some((array, Some(task))) => format!("{} ({array}_{task})", job.id),
        Some((array, None)) => format!("{} (tasks of array {array} that wait)", job.id),
        None => job.id.to_string(),
    };
    let user = job.user.clone().unwrap_or_else(|| job.user_id.to_string());
    let partition = job.partition.as_deref().unwrap_or("(unknown partition)");
    lines.line("job", format!("{name} of {user} in {partition}: {}", job.state));
    lines.line("is", format!("{}, {}", size(job.nodes, job.cpus), limit(job.limit_s)));
    let at = |at: Option<i64>| at.map(|at| moment_and_distance(UnixTime(at), report.now));
    for (label, moment) in [("submitted", job.submitted), ("eligible", job.eligible), ("started", job.started), ("ended", job.ended)] {
        if let Some(moment) = at(moment) {
            lines.line(label, moment);
        }
    }
    if let Some(expected) = at(job.expected_start) {
        lines.line("expected start", format!("{expected}, by slurmctld"));
    }
    if let Some(runs) = job.runs.filter(|runs| *runs > 1) {
        lines.line("runs", format!("{runs}; this is the last"));
    }
}

fn size(nodes: u32, cpus: u32) -> String {
    format!("{} {}, {} {}", count(nodes.into()), Unit::Nodes.word(nodes), count(cpus.into()), Unit::Cpus.word(cpus))
}

fn limit(seconds: Option<i64>) -> String {
    seconds.map_or("no time limit".to_owned(), |seconds| format!("time limit {}", Seconds(seconds)))
}

fn decision(lines: &mut Lines, record: &Record) {
    lines.line("decided", format!("{}, from snapshot {}, mode {}", moment(record.at), record.generation, record.mode));
    let asked = &record.asked;
    let tasks = asked.tasks.map(|tasks| format!(", {tasks} {}", if tasks == 1 { "task" } else { "tasks" })).unwrap_or_default();
    lines.line("asked", format!("{}{tasks}, {}", size(asked.nodes, asked.cpus), limit(asked.limit_s)));
    if !asked.options.is_empty() {
        let options: Vec<String> = asked.options.iter().map(|(variable, value)| asked::as_written(variable, value)).collect();
        lines.line("", options.join(" "));
    }
    if let Some(deadline) = asked.deadline {
        lines.line("", format!("--deadline={}", moment_for_options(UnixTime(deadline))));
    }
    let label = if record.mode == Mode::Enforce { "written" } else { "would be" };
    match &record.written {
        Some(written) => lines.line(label, what_was_written(written)),
        None => lines.line("written", "nothing to change"),
    }
    if let (Some(forecast), Some(instead_of)) = (&record.forecast, &record.instead_of) {
        lines.line("why", why(forecast, instead_of, record));
    }
    record.left.iter().for_each(|left| lines.line("left", left));
}

fn what_was_written(written: &Written) -> String {
    let mut parts = Vec::new();
    if let Some(nodes) = written.nodes {
        parts.push(size(nodes, written.cpus.unwrap_or(0)));
    }
    if let Some(tasks) = written.tasks {
        parts.push(format!("{tasks} {}", if tasks == 1 { "task" } else { "tasks" }));
    }
    if let Some(seconds) = written.limit_s {
        parts.push(limit(Some(seconds)));
    }
    if let Some(begin) = written.begin {
        parts.push(format!("begin {}", moment(UnixTime(begin))));
    }
    if let (Some(rule), Some(deadline)) = (written.admitted_by, written.deadline) {
        parts.push(format!("admitted by {} to be done by {}", rule.as_str(), moment(UnixTime(deadline))));
    }
    if let Some(reserved) = written.reserved_at {
        parts.push(format!("reserved for {}", moment(UnixTime(reserved))));
    }
    if let Some(until) = written.hold_until {
        parts.push(format!("waits on its nodes until {} if it starts early", moment(UnixTime(until))));
    }
    parts.extend(slot::asked(written));
    if let Some((rule, deadline)) = written.admitted_by.zip(written.deadline) {
        let wanted = written.wanted.map(|wanted| format!(", where {wanted} of all are to be kept")).unwrap_or_default();
        parts.push(format!("admitted by {} to be done by {}{wanted}", rule.as_str(), moment(UnixTime(deadline))));
    }
    // The option among those asked for is what its user gave, and this is what holds: perhaps the
    // site's.
    if written.if_missed == IfMissed::Cancel {
        parts.push("cancelled if it has not started by then".to_owned());
    }
    parts.join(", ")
}

fn why(forecast: &Forecast, instead_of: &Forecast, record: &Record) -> String {
    let response = |forecast: &Forecast| forecast.wait_s.map(|wait| Seconds(wait + forecast.run_s).to_string());
    let reserved = record.written.as_ref().and_then(|written| written.reserved_at);
    if let (Some(reserved), Some(probability)) = (reserved, forecast.reservation_probability) {
        return format!("its nodes are there at {} with probability {probability:.2}", moment(UnixTime(reserved)));
    }
    if record.written.as_ref().is_some_and(|written| written.window.is_some()) {
        return "its firm slot may lie in that window only".to_owned();
    }
    let unknown = || "a time not known".to_owned();
    let (then, before) = (response(forecast).unwrap_or_else(unknown), response(instead_of).unwrap_or_else(unknown));
    let deadline = match (forecast.deadline_probability, instead_of.deadline_probability) {
        (Some(then), Some(before)) => format!(", and by the deadline with probability {then:.2} instead of {before:.2}"),
        _ => String::new(),
    };
    format!("forecast to be done about {then} after the decision, instead of {before}{deadline}")
}

/// What the daemon has changed since the submission, as the forecasts did.
fn moved(changed: &Changed) -> Option<String> {
    let begin = changed.begin.map(|at| format!("begin {}", moment(UnixTime(at))));
    let limit = changed.limit_s.map(|limit| format!("time limit {}", Seconds(limit)));
    let parts: Vec<String> = begin.into_iter().chain(limit).collect();
    let stopped = match changed {
        Changed { ended: Some(why), .. } => format!("; the promise has ended: {why}"),
        Changed { withdrawn: true, .. } => "; withdrawn because a job that it belongs together with had its nodes".to_owned(),
        Changed { stopped: true, .. } => "; left alone since somebody else changed the job".to_owned(),
        Changed { .. } => String::new(),
    };
    let renewed = changed.nodes.map(|nodes| format!("; the promise was renewed for {}", size(nodes, changed.cpus.unwrap_or(0))));
    let stopped = format!("{}{stopped}", renewed.unwrap_or_default());
    if parts.is_empty() {
        return (!stopped.is_empty()).then(|| stopped.trim_start_matches("; ").to_owned());
    }
    let times = if changed.count == 1 { "once".to_owned() } else { format!("{} times", changed.count) };
    Some(format!("{times} by queuecastd, last to {}{stopped}", parts.join(", ")))
}

fn changed(change: &Change) -> String {
    let show = |value: Option<i64>| match (change.what, value) {
        (_, None) => "unlimited".to_owned(),
        ("limit_s", Some(seconds)) => Seconds(seconds).to_string(),
        ("begin", Some(at)) => moment(UnixTime(at)),
        (_, Some(number)) => number.to_string(),
    };
    let what = match change.what {
        "limit_s" => "time limit",
        what => what,
    };
    format!("{what}: {} now, {} after the decision", show(change.now), show(change.written))
}

/// What became of a deadline that a job was admitted with, and why.
fn what_became_of(deadline: &DeadlineReport, now: UnixTime) -> String {
    let promised = deadline.promised.map(|promised| format!(" with probability {promised:.2}")).unwrap_or_default();
    let wanted = deadline.wanted.map(|wanted| format!(" (wanted of all: {wanted})")).unwrap_or_default();
    let given = format!("promised by {}{promised}{wanted}", deadline.rule);
    let spare = deadline.spare_s.unwrap_or(deadline.deadline - now.0);
    let became = match deadline.state {
        PromiseState::Kept => format!("{GOOD}kept{GOOD:#} with {} to spare", Seconds(spare)),
        PromiseState::Missed if spare < 0 && deadline.spare_s.is_some() => format!("{BAD}missed{BAD:#} by {}", Seconds(-spare)),
        PromiseState::Missed if spare < 0 => format!("{BAD}missed{BAD:#}: {} ago, and not done yet", Seconds(-spare)),
        PromiseState::Missed => format!("{BAD}missed{BAD:#}: it ended {} before the deadline without being done", Seconds(spare)),
        PromiseState::Withdrawn => "withdrawn: it ended before the deadline without being done, and counts for nobody".to_owned(),
        PromiseState::Open => format!("open for another {}", Seconds(spare)),
    };
    let expected = deadline.expected_end.map(|end| {
        let (late, end) = (end - deadline.deadline, UnixTime(end));
        match late {
            late if late > 0 => format!("; expected to be done {}, {BAD}{} late{BAD:#}", moment(end), Seconds(late)),
            late => format!("; expected to be done {}, with {} to spare", moment(end), Seconds(-late)),
        }
    });
    let reasons: Vec<String> = deadline.reasons.iter().map(why_late).collect();
    let reasons = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join(", ")) };
    format!("{given}; {became}{reasons}{}", expected.unwrap_or_default())
}

fn why_late(reason: &Reason) -> String {
    let by = Seconds(reason.by.unwrap_or_default());
    match reason.what {
        "waited" => format!("it started {by} later than forecast, or has not yet"),
        "ran" => format!("it ran {by} longer than forecast"),
        "suspended" => format!("it was suspended for {by}"),
        "requeued" if by.0 == 1 => "it was put back into the queue once".to_owned(),
        "requeued" => format!("it was put back into the queue {} times", by.0),
        "changed" => "somebody else changed it".to_owned(),
        "ended_as_late" => "queuecastd ended it, because it could not be done in time any more".to_owned(),
        "limit" => "it ran into the time limit that queuecast wrote".to_owned(),
        "cancelled" => "it was cancelled".to_owned(),
        "failed" => "it failed".to_owned(),
        "slurms_deadline" => "Slurm ended it for its deadline".to_owned(),
        _ => format!("the deadline was {by} too early for the wait and the run time that were forecast"),
    }
}

/// A word for how a comparison came out.
fn verdict(holds: Option<bool>, yes: &str, no: &str) -> String {
    match holds {
        Some(true) => format!("{GOOD}{yes}{GOOD:#}"),
        Some(false) => format!("{BAD}{no}{BAD:#}"),
        None => "open".to_owned(),
    }
}

/// How the deadline came out: that of an admitted job by the rule of what counts as kept.
fn deadline_verdict(report: &Report, outcome: &JobOutcome) -> String {
    match &report.deadline {
        Some(deadline) if deadline.state == PromiseState::Withdrawn => "withdrawn".to_owned(),
        Some(deadline) => verdict(deadline.state.is_kept(), "kept", "missed"),
        None => verdict(outcome.deadline_met, "met", "missed"),
    }
}

fn comparison(lines: &mut Lines, report: &Report, record: &Record, outcome: &JobOutcome) {
    let job = &report.job;
    let mut rows = table(&["", "forecast", "happened", ""], &[]);
    let so_far = |seconds: Option<i64>, is_over: bool, none: &str| match (seconds, is_over) {
        (Some(seconds), true) => duration(Seconds(seconds)),
        (Some(seconds), false) => format!("{} so far", duration(Seconds(seconds))),
        (None, _) => none.to_owned(),
    };
    if let Some(forecast) = &report.forecast {
        let past = |jobs: u32| format!("from {} past {}", count(jobs.into()), if jobs == 1 { "job" } else { "jobs" });
        let wait = match (forecast.wait_s, forecast.wait_95_s) {
            (Some(median), Some(bound)) if median == bound => duration(Seconds(median)),
            (Some(median), Some(bound)) => {
                format!("about {}, with 0.95 at most {}, {}", duration(Seconds(median)), duration(Seconds(bound)), past(forecast.wait_jobs))
            }
            (Some(median), None) => format!("about {}, {}", duration(Seconds(median)), past(forecast.wait_jobs)),
            (None, _) => "not known".to_owned(),
        };
        let waits = so_far(outcome.wait_s, job.started.is_some(), "it never started");
        rows.add_row(["wait".to_owned(), wait, waits, verdict(outcome.wait_within_bound, "within the bound", "beyond the bound")]);
        let (shortest, longest) = forecast.run_range_s;
        let run = match forecast.run_jobs {
            0 if shortest == longest => format!("{}, the time limit, as there are no past jobs", duration(Seconds(forecast.run_s))),
            jobs => {
                let [run, shortest, longest] = [forecast.run_s, shortest, longest].map(|seconds| duration(Seconds(seconds)));
                let by = if jobs == 0 { "by past jobs with its limit or in its partition".to_owned() } else { past(jobs) };
                format!("about {run}, {shortest} to {longest}, {by}")
            }
        };
        let runs = so_far(outcome.run_s, job.ended.is_some(), "not yet");
        rows.add_row(["run time".to_owned(), run, runs, verdict(outcome.run_time_in_range, "in its range", "outside its range")]);
    }
    let started = job.started.map_or("not started".to_owned(), |started| format!("started {}", moment(UnixTime(started))));
    if let Some(reservation) = Promise::given(record).and_then(Promise::reservation) {
        let probability = reservation.promised.map(|probability| format!(" with {probability:.2}")).unwrap_or_default();
        let promised = format!("{}{probability}", moment(reservation.at));
        let held = outcome.held_s.map(|held| format!(", waited {} on its nodes", duration(Seconds(held)))).unwrap_or_default();
        let happened = format!("{started}{held}");
        rows.add_row(["reservation".to_owned(), promised, happened, verdict(outcome.reservation_kept, "kept", "broken")]);
    }
    if let Some(deadline) = record.asked.deadline {
        let probability = report.forecast.as_ref().and_then(|forecast| forecast.deadline_probability);
        let probability = probability.map(|probability| format!(" with {probability:.2}")).unwrap_or_default();
        let promised = format!("{}{probability}", moment(UnixTime(deadline)));
        let ended = job.ended.map_or("not ended".to_owned(), |ended| format!("ended {}", moment(UnixTime(ended))));
        rows.add_row(["deadline".to_owned(), promised, ended, deadline_verdict(report, outcome)]);
    }
    lines.table(&rows);
    if record.mode != Mode::Enforce && record.written.is_some() {
        lines.plain("the forecast is that of the job as submitted, as nothing was changed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::policy::Admission;

    #[test]
    fn an_admitted_job_is_told_with_its_rule_and_what_was_wanted() {
        let written = |admitted_by, wanted| what_was_written(&Written { admitted_by, deadline: Some(1_000), wanted, ..Written::default() });
        assert!(written(Some(Admission::Edf), None).starts_with("admitted by edf to be done by "));
        assert!(written(Some(Admission::Probability), Some(0.9)).ends_with(", where 0.9 of all are to be kept"));
        assert_eq!(written(None, None), "");
    }

    #[test]
    fn what_becomes_of_a_missed_job_is_told_as_it_holds_whoever_asked_for_it() {
        let written = |if_missed| what_was_written(&Written { nodes: Some(2), cpus: Some(8), if_missed, ..Written::default() });
        assert!(written(IfMissed::Cancel).ends_with("cancelled if it has not started by then"), "{}", written(IfMissed::Cancel));
        assert!(!written(IfMissed::Run).contains("cancelled"), "{}", written(IfMissed::Run));
    }
}
