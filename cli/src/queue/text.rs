//! The report for people.

use command_parts::output::{Lines, count, moment_and_distance};
use job_types::time::UnixTime;

use super::Report;

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let mut lines = Lines::default();
    if !report.layout.noheader {
        head(&mut lines, report);
    }
    if !report.queue.jobs.is_empty() {
        report.layout.write(&mut lines, &report.queue.jobs, report.now);
    }
    lines.text()
}

/// What stands above the table.
fn head(lines: &mut Lines, report: &Report) {
    for note in &report.queue.notes {
        lines.line("note", note);
    }
    let Some(plan_at) = report.queue.plan_at else { return };
    let pending = report.queue.pending_jobs.unwrap_or_default();
    let of = format!("{}, planned as of {}", report.queue.cluster, moment_and_distance(UnixTime(plan_at), report.now));
    if pending == 0 {
        lines.plain(format!("no jobs wait on cluster {of}"));
        return;
    }
    let waiting = format!("{} {} on cluster {of}", count(pending.into()), if pending == 1 { "job waits" } else { "jobs wait" });
    lines.plain(match (report.is_filtered, report.queue.jobs.len()) {
        (true, 0) => format!("none of the jobs asked for; {waiting}"),
        (true, shown) => format!("{} of the jobs asked for; {waiting}", count(shown as u64)),
        (false, _) => waiting,
    });
    if !report.queue.jobs.is_empty() {
        lines.plain("");
    }
}
