//! The report for people.

use command_parts::output::{BAD, GOOD, Lines, moment, moment_and_distance, node_hours};
use job_types::time::UnixTime;

use super::{PartReport, Report};

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
    lines.heading("Firm slots together");
    match (&report.refused, &report.not_known) {
        (Some(refused), _) => {
            lines.plain(format!("{BAD}not to be had{BAD:#}: {}", refused.reason));
            lines.plain("nothing stays reserved");
        }
        (None, Some(why)) => {
            lines.plain(format!("{BAD}it is not known whether the parts are kept{BAD:#}: {why}"));
            lines.plain("the clusters settle by themselves that all are, or none, once they reach each other again");
            for part in &report.parts {
                lines.line("look there", format!("{} reservations", part.command));
            }
        }
        (None, None) => kept(&mut lines, report),
    }
    lines.text()
}

fn kept(lines: &mut Lines, report: &Report) {
    if let (Some(start), Some(end)) = (report.start, report.end) {
        lines.line("from, to", format!("{}, {}", moment_and_distance(UnixTime(start), report.now), moment(UnixTime(end))));
    }
    if let Some(charged) = report.charged_node_s {
        lines.line("charged", format!("{} node-hours, used or not", node_hours(charged as f64 / 3_600.0)));
    }
    for part in &report.parts {
        one(lines, part);
    }
}

fn one(lines: &mut Lines, part: &PartReport) {
    let partition = part.partition.as_deref().unwrap_or_default();
    let name = part.name.as_deref().unwrap_or_default();
    lines.heading(&format!("Cluster {}", part.cluster));
    lines.line("number", part.id.to_string());
    lines.line("nodes", format!("{}, in {partition}", part.nodes));
    lines.line("reservation", format!("{GOOD}{name}{GOOD:#}"));
    lines.line("use it there", format!("srun --reservation={name} --partition={partition} ..."));
    if !part.confirmed {
        lines.plain("it has not been told yet that the parts are kept, and will ask the first cluster by itself");
    }
    lines.line("give it back", format!("{} reservations cancel {}", part.command, part.id));
}
