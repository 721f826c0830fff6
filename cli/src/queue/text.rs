//! The report for people.

use job_types::time::{Seconds, UnixTime};

use super::{JobReport, Report};
use crate::output::{Lines, count, moment, moment_and_distance, table};

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let mut lines = Lines::default();
    for note in &report.notes {
        lines.line("note", note);
    }
    let Some(plan_at) = report.plan_at else { return lines.text() };
    let pending = report.pending_jobs.unwrap_or_default();
    let of = format!("{}, planned as of {}", report.cluster, moment_and_distance(UnixTime(plan_at), report.now));
    if pending == 0 {
        lines.plain(format!("no jobs wait on cluster {of}"));
        return lines.text();
    }
    let waiting = format!("{} {} on cluster {of}", count(pending.into()), if pending == 1 { "job waits" } else { "jobs wait" });
    lines.plain(match (report.is_filtered, report.jobs.len()) {
        (true, 0) => format!("none of the jobs asked for; {waiting}"),
        (true, shown) => format!("{} of the jobs asked for; {waiting}", count(shown as u64)),
        (false, _) => waiting,
    });
    if report.jobs.is_empty() {
        return lines.text();
    }
    let header = ["job", "partition", "user", "nodes", "CPUs", "limit", "expected start", "in", "earliest in", "latest in"];
    let mut jobs = table(&header, &["job", "nodes", "CPUs"]);
    for job in &report.jobs {
        jobs.add_row(row(job, report.now));
    }
    lines.plain("");
    lines.table(&jobs);
    lines.text()
}

fn row(job: &JobReport, now: UnixTime) -> [String; 10] {
    let tasks = if job.tasks > 1 { format!(" x {}", count(job.tasks.into())) } else { String::new() };
    let start = job.expected_start.map(|start| moment(UnixTime(start)));
    // Without a start, the reason stands in its place.
    let start = start.or_else(|| job.why.clone()).unwrap_or_default();
    let distance = |at: Option<i64>| {
        at.map_or_else(String::new, |at| match UnixTime(at) - now {
            past if past <= Seconds::ZERO => "now".to_owned(),
            distance => distance.to_string(),
        })
    };
    [
        job.job_id.to_string(),
        job.partition.clone(),
        job.user_name.clone().unwrap_or_else(|| job.user.to_string()),
        job.nodes.to_string(),
        format!("{}{tasks}", job.cpus),
        job.limit_s.map_or_else(|| "none".to_owned(), |limit| Seconds(limit).to_string()),
        start,
        distance(job.expected_start),
        distance(job.earliest_start),
        distance(job.latest_start),
    ]
}
