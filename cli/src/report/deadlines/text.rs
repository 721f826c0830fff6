//! The report for people.

use comfy_table::Table;
use command_parts::output::{BAD, Lines, count, duration, moment, table};
use job_types::time::{Seconds, UnixTime};

use super::Report;
use super::open::{OpenJob, distance};
use super::tally::Counts;
use crate::report::interval::note_on_between;
use crate::report::kept::{promised_and_kept, verdict};

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let mut lines = Lines::default();
    lines.line("cluster", &report.cluster);
    lines.line("jobs ended", format!("{} to {}, and those in the queue", moment(UnixTime(report.since)), moment(UnixTime(report.until))));
    if let Some(submissions) = &report.submissions {
        let (admitted, refused) = (count(submissions.admitted), count(submissions.refused));
        let since = moment(UnixTime(submissions.since));
        lines.line("submissions", format!("{admitted} admitted and {refused} refused for their deadline, counted since {since}"));
    }
    for note in &report.notes {
        lines.line("note", note);
    }
    if let Some(since) = report.refused_since {
        let what = "by whole days of UTC, in the tables below";
        lines.line("refused", format!("{} since {}, {what}", count(report.all.refused.unwrap_or(0)), moment(UnixTime(since))));
    }
    if report.all.admitted == 0 && report.all.refused.unwrap_or(0) == 0 {
        lines.plain("no admitted jobs");
        return lines.text();
    }
    for (heading, counts) in [("partition", &report.by_partition), ("user", &report.by_user), ("rule", &report.by_rule)] {
        lines.heading(&format!("By {heading}"));
        lines.table(&tallied(heading, counts, &report.all));
    }
    if !report.reliability.is_empty() {
        lines.heading("Promised and kept");
        let several = report.by_partition.len() > 1;
        let rows = report.reliability.iter().map(|row| &row.kept).filter(|row| several || row.partition.is_some());
        lines.table(&promised_and_kept("deadlines", rows));
    }
    if let Some(jobs) = &report.open_jobs {
        lines.heading("In the queue");
        if jobs.is_empty() {
            lines.plain("no admitted jobs");
        } else {
            lines.table(&in_the_queue(jobs, UnixTime(report.until)));
        }
    }
    lines.plain("");
    lines.plain(note_on_between());
    lines.plain("withdrawn: ended before the deadline without being done, by its user, by itself or at its user's limit; not counted");
    lines.text()
}

/// The rows, and that of all where there are several.
fn tallied(heading: &str, rows: &[Counts], all: &Counts) -> Table {
    let header = [heading, "admitted", "refused", "kept", "missed", "withdrawn", "open", "promised", "kept part", "between", ""];
    let mut table = table(&header, &["admitted", "refused", "kept", "missed", "withdrawn", "open", "promised", "kept part"]);
    let part = |part: Option<f64>| part.map_or_else(String::new, |part| format!("{part:.3}"));
    for counts in rows.iter().chain(Some(all).filter(|_| rows.len() > 1)) {
        let judged = counts.promised.is_some() && counts.kept_part.is_some();
        table.add_row([
            counts.name.clone().unwrap_or_else(|| "(all)".to_owned()),
            count(counts.admitted),
            counts.refused.map_or_else(String::new, count),
            count(counts.kept),
            count(counts.missed),
            count(counts.withdrawn),
            count(counts.open),
            part(counts.promised),
            part(counts.kept_part),
            counts.interval.ends(),
            if judged { verdict(counts.is_broken()) } else { String::new() },
        ]);
    }
    table
}

fn in_the_queue(jobs: &[OpenJob], now: UnixTime) -> Table {
    let header = ["job", "user", "partition", "deadline", "", "state", "promised", "expected to be done", "at the latest"];
    let mut table = table(&header, &["job", "promised"]);
    for job in jobs {
        let [number, user] = job.job_and_user();
        let deadline = UnixTime(job.deadline);
        let done = job.expected_end.map_or_else(String::new, |end| {
            let late = job.late_s.map(|late| format!(", {BAD}{} late{BAD:#}", duration(Seconds(late)))).unwrap_or_default();
            format!("{}{late}", distance(UnixTime(end), now))
        });
        table.add_row([
            number,
            user,
            job.partition.clone(),
            moment(deadline),
            distance(deadline, now),
            job.state.to_owned(),
            job.promised.map_or_else(String::new, |promised| format!("{promised:.2}")),
            done,
            job.latest_end().map_or_else(String::new, |end| distance(end, now)),
        ]);
    }
    table
}
