//! The report for people.

use command_parts::output::{BAD, GOOD, Lines, moment, moment_and_distance, node_hours};
use job_types::time::UnixTime;

use super::Report;

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let mut lines = Lines::default();
    if let Some(window) = &report.window {
        lines.line("window", format!("{} to {}", moment(UnixTime(window.earliest)), moment(UnixTime(window.latest))));
    }
    for tried in &report.tried {
        lines.line("lost", format!("{} on {}: {}", moment(UnixTime(tried.start)), tried.cluster, tried.why));
    }
    for note in &report.notes {
        lines.line("note", note);
    }
    lines.heading("Firm slot");
    match (&report.refused, &report.not_known) {
        (Some(refused), _) => lines.plain(format!("{BAD}not to be had{BAD:#}: {}", refused.reason)),
        (None, Some(why)) => not_known(&mut lines, report, why),
        (None, None) => granted(&mut lines, report),
    }
    lines.text()
}

fn not_known(lines: &mut Lines, report: &Report, why: &str) {
    let cluster = report.cluster.as_deref().unwrap_or_default();
    let command = report.command.as_deref().unwrap_or_default();
    lines.line("cluster", cluster);
    lines.plain(format!("{BAD}it is not known whether a slot was made on {cluster}{BAD:#}: {why}"));
    lines.line("look there", format!("{command} reservations"));
    lines.line("give it back", format!("{command} reservations cancel NUMBER"));
    lines.plain("nothing was asked of the other clusters");
}

fn granted(lines: &mut Lines, report: &Report) {
    let cluster = report.cluster.as_deref().unwrap_or_default();
    let id = report.id.map(|id| id.to_string()).unwrap_or_default();
    lines.line("cluster", format!("{GOOD}{cluster}{GOOD:#}"));
    lines.line("number", &id);
    if let (Some(start), Some(end)) = (report.start, report.end) {
        lines.line("from, to", format!("{}, {}", moment_and_distance(UnixTime(start), report.now), moment(UnixTime(end))));
    }
    let partition = report.partition.as_deref().unwrap_or_default();
    lines.line("nodes", format!("{}, in {partition}", report.nodes.unwrap_or_default()));
    if let Some(charged) = report.charged_node_s {
        lines.line("charged", format!("{} node-hours, used or not", node_hours(charged as f64 / 3_600.0)));
    }
    lines.line("go there", report.login.clone().unwrap_or_else(|| format!("a host of cluster {cluster}")));
    let command = report.command.as_deref().unwrap_or_default();
    match &report.name {
        Some(name) => {
            lines.line("reservation", format!("{GOOD}{name}{GOOD:#}"));
            lines.line("use it there", format!("srun --reservation={name} --partition={partition} ..."));
        }
        None => lines.plain(format!("nothing is reserved yet; `{command} reservations` shows what becomes of it")),
    }
    lines.line("give it back", format!("{command} reservations cancel {id}"));
}
