//! The report for people.

use command_parts::output::{BAD, GOOD, Lines, bar, count, duration, moment_and_distance, table};
use forecast_report::{ClassReport, DoneReport, FilterReport, PlanReport, RunTimeReport, SubmissionOutcome, WaitReport};
use job_types::size::Unit;
use job_types::time::{Seconds, UnixTime};

use super::Report;
use crate::described::given::OptionReport;
use crate::described::{line_of, trajectory};

/// Width of the bar of a certain event.
const BAR_WIDTH: usize = 40;

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let mut lines = Lines::default();
    lines.line("job", line_of(&report.prediction.job));
    if let Some(read) = OptionReport::text(&report.sbatch_options) {
        lines.line("read", read);
    }
    let age = Seconds(report.prediction.snapshot_age_s);
    lines.line("forecast from", format!("snapshot {} of cluster {}, {age} old", report.prediction.generation, report.prediction.cluster));
    for note in &report.prediction.notes {
        lines.line("note", note);
    }
    lines.heading("Wait");
    match &report.prediction.wait {
        Some(wait) => waits(&mut lines, wait, report),
        None => lines.plain("no past waits are known for this partition"),
    }
    lines.heading("Plan of the queue");
    match &report.prediction.plan {
        Some(plan) => planned(&mut lines, plan, report),
        None => lines.plain("the snapshot has none"),
    }
    lines.heading("Run time");
    run_times(&mut lines, &report.prediction.run_time);
    if !report.prediction.done.is_empty() {
        lines.heading("Done by");
        report.prediction.done.iter().for_each(|done| done_by(&mut lines, done, report.now));
    }
    lines.heading("Submit filter");
    filter(&mut lines, &report.prediction.filter);
    if let Some((probabilities, reserved)) = report.prediction.trajectory.as_ref().zip(report.prediction.job.reserve_at) {
        let proposed = &report.prediction.filter.proposed;
        let chosen = proposed.begin.map(|begin| (UnixTime(begin), proposed.limit_s.map(Seconds)));
        trajectory::text(probabilities, &mut lines, UnixTime(reserved), chosen, report.now);
    }
    lines.text()
}

fn waits(lines: &mut Lines, wait: &WaitReport, report: &Report) {
    if let Some(begin) = report.prediction.job.begin.map(UnixTime).filter(|begin| *begin > report.now) {
        lines.line("counted from", moment_and_distance(begin, report.now));
    }
    let rests_on = match &wait.class {
        Some(of) => class(of, wait.jobs),
        None => format!("the state of the cluster, and {} past jobs that were forecast like it", count(wait.jobs.into())),
    };
    lines.line("rests on", rests_on);
    if let Some(pressure) = wait.pressure {
        lines.line("pressure now", format!("{pressure:.2} (CPUs of running and eligible jobs and this one, over the partition's)"));
    }
    lines.line(if wait.class.is_some() { "median" } else { "about" }, duration(Seconds(wait.median_s)));
    let mut bounds = table(&["with probability", "it waits at most"], &["with probability"]);
    for (probability, bound) in &wait.bounds_s {
        let bound = bound.map_or("not known: too few past jobs".to_owned(), |bound| duration(Seconds(bound)));
        bounds.add_row([(*probability).to_owned(), bound]);
    }
    lines.table(&bounds);
    lines.plain(match wait.confidence {
        Some(confidence) => format!("each bound holds with {:.0} % confidence", confidence * 100.0),
        None => "each bound is corrected so as to hold as often as it says".to_owned(),
    });
    let mut starts = table(&["starts within", "probability", ""], &["starts within", "probability"]);
    // Once it is as high as it gets, further rows would tell nothing.
    let highest = wait.starts_within.last().map_or(0.0, |start| start.probability);
    let telling = wait.starts_within.iter().position(|start| start.probability >= highest).map_or(0, |last| last + 1);
    for start in wait.starts_within.iter().take(telling) {
        let within = duration(Seconds(start.duration_s));
        starts.add_row([within, format!("{:.2}", start.probability), bar(start.probability, BAR_WIDTH)]);
    }
    lines.plain("");
    lines.table(&starts);
}

fn planned(lines: &mut Lines, plan: &PlanReport, report: &Report) {
    let Some(start) = &plan.start else {
        lines.plain("it has no start for a job of that size and limit here");
        return;
    };
    let shown = |at: i64| if at <= report.now.0 { "now".to_owned() } else { moment_and_distance(UnixTime(at), report.now) };
    lines.line("expected start", shown(start.expected_start));
    lines.line("earliest", format!("{} (if jobs end early)", shown(start.earliest_start)));
    lines.line("latest", format!("{} (if they run to their time limits)", shown(start.latest_start)));
    lines.plain(if plan.is_complete {
        "behind all that waits; jobs still to come are not foreseen"
    } else {
        "more jobs wait than are planned: it may be later"
    });
}

fn class(class: &ClassReport, jobs: u32) -> String {
    let mut text = format!("{} past {} in {}", count(jobs.into()), if jobs == 1 { "job" } else { "jobs" }, class.partition);
    match class.cpus {
        Some((fewest, Some(most))) if fewest == most => text.push_str(&format!(" on {} {}", fewest, Unit::Cpus.word(fewest))),
        Some((fewest, Some(most))) => text.push_str(&format!(" on {fewest} to {most} CPUs")),
        Some((fewest, None)) => text.push_str(&format!(" on {fewest} or more CPUs")),
        None => text.push_str(" of any size"),
    }
    match class.limits_s {
        Some((0, Some(longest))) => text.push_str(&format!(", time limit up to {}", Seconds(longest))),
        Some((shortest, Some(longest))) => {
            text.push_str(&format!(", time limit over {} up to {}", Seconds(shortest - 1), Seconds(longest)));
        }
        Some((shortest, None)) => text.push_str(&format!(", time limit over {}", Seconds(shortest - 1))),
        None => text.push_str(", any time limit"),
    }
    text
}

fn run_times(lines: &mut Lines, run_time: &RunTimeReport) {
    let unit = match run_time.unit {
        Unit::Nodes => "node count",
        Unit::Cpus => "CPU count",
    };
    let Some(point) = run_time.point_s.filter(|_| !run_time.ranges.is_empty()) else {
        let limit =
            run_time.point_s.map_or("there is no time limit either".to_owned(), |limit| format!("the time limit, {}", Seconds(limit)));
        lines.plain(format!("no past jobs of this user with this {unit} here: {limit}, is taken"));
        return;
    };
    let rests_on = match run_time.jobs {
        0 => format!("past jobs with its time limit or in its partition; this user has none with this {unit} here"),
        1 => format!("1 past job of this user with this {unit}"),
        jobs => format!("{} past jobs of this user with this {unit}", count(jobs.into())),
    };
    lines.line("rests on", rests_on);
    lines.line("about", duration(Seconds(point)));
    let mut ranges = table(&["from", "to", "probability", ""], &["from", "to", "probability"]);
    for range in &run_time.ranges {
        let (lower, upper) = (duration(Seconds(range.lower_s)), duration(Seconds(range.upper_s)));
        ranges.add_row([lower, upper, format!("{:.2}", range.probability), bar(range.probability, BAR_WIDTH)]);
    }
    lines.table(&ranges);
}

fn done_by(lines: &mut Lines, done: &DoneReport, now: UnixTime) {
    let what = if done.is_deadline { " (--deadline)" } else { "" };
    lines.line(&format!("{:.2}", done.probability), format!("{}{what}", moment_and_distance(UnixTime(done.by), now)));
}

fn filter(lines: &mut Lines, filter: &FilterReport) {
    let outcome = match filter.outcome {
        SubmissionOutcome::Left => "leaves the job as it is".to_owned(),
        SubmissionOutcome::Observed => "records its decision in admin_comment and changes nothing else".to_owned(),
        SubmissionOutcome::Advised => "tells its decision and changes nothing".to_owned(),
        SubmissionOutcome::Unchanged => "finds nothing to change".to_owned(),
        SubmissionOutcome::Changed => format!("{GOOD}changes the job{GOOD:#}"),
        SubmissionOutcome::Refused => format!("{BAD}refuses the job{BAD:#}"),
    };
    let why = filter.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    lines.line(&format!("mode {}", filter.mode), format!("{outcome}{why}"));
    if let Some(line) = &filter.line {
        lines.line("it says", format!("queuecast: {line}"));
    }
    if let Some(line) = &filter.line_if_enforced {
        lines.line("if enforced", line);
    }
}
