//! The report for people.

use command_parts::output::{BAD, GOOD, Lines, moment, moment_and_distance, node_hours};
use job_types::time::UnixTime;

use super::Report;
use crate::described::line_of;

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let mut lines = Lines::default();
    lines.line("job", line_of(&report.job));
    let (earliest, latest) = (UnixTime(report.window.earliest), UnixTime(report.window.latest));
    lines.line("window", format!("{} to {}", moment(earliest), moment(latest)));
    for note in &report.notes {
        lines.line("note", note);
    }
    lines.heading("Firm slot");
    if report.is_refused() {
        refused(&mut lines, report);
    } else if report.name.is_some() {
        granted(&mut lines, report);
    } else {
        asked(&mut lines, report);
    }
    lines.text()
}

fn refused(lines: &mut Lines, report: &Report) {
    let why = report.refused.as_ref().map_or_else(|| report.state.to_string(), |refused| refused.reason.clone());
    lines.plain(format!("{BAD}not to be had{BAD:#}: {why}"));
    if let Some(nearest) = report.refused.as_ref().and_then(|refused| refused.nearest.as_ref()) {
        lines.line("nearest", format!("--between {nearest}"));
    }
}

fn granted(lines: &mut Lines, report: &Report) {
    let id = report.id.map(|id| id.to_string()).unwrap_or_default();
    lines.line("number", &id);
    lines.line("reservation", format!("{GOOD}{}{GOOD:#}", report.name.as_deref().unwrap_or_default()));
    if let (Some(start), Some(end)) = (report.start, report.end) {
        lines.line("from, to", format!("{}, {}", moment_and_distance(UnixTime(start), report.now), moment(UnixTime(end))));
    }
    lines.line("nodes", format!("{}, in {}", report.nodes, report.partition.as_deref().unwrap_or_default()));
    match report.fixed_at.map(UnixTime) {
        Some(fixed_at) if fixed_at > report.now => lines.line("may move", format!("until {}", moment_and_distance(fixed_at, report.now))),
        _ => lines.line("may move", "no more"),
    }
    if let Some(charged) = report.charged_node_s {
        let hours = node_hours(charged as f64 / 3_600.0);
        let account = report.account.as_ref().map(|account| format!(" to {account}")).unwrap_or_default();
        lines.line("charged", format!("{hours} node-hours{account}, used or not"));
    }
    if let Some(options) = report.options() {
        lines.line("use it", format!("srun {options} ..."));
        lines.line("", format!("sbatch {options} ..."));
    }
    lines.line("give it back", format!("queuecast reservations cancel {id}"));
}

fn asked(lines: &mut Lines, report: &Report) {
    match report.job_id {
        Some(job) => lines.line("submitted", format!("job {job}")),
        None => lines.line("asked for", report.id.map_or_else(String::new, |id| format!("number {id}"))),
    }
    report.said.lines().for_each(|said| lines.line("", said));
    lines.plain("nothing is reserved yet; `queuecast reservations` shows what becomes of it");
}
