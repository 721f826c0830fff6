//! The report for people.

use comfy_table::Table;
use command_parts::output::{Lines, count, moment, node_hours, table};
use job_types::time::UnixTime;

use super::Report;
use super::tally::Row;
use crate::report::interval::note_on_between;
use crate::report::kept::promised_and_kept;

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let mut lines = Lines::default();
    lines.line("cluster", &report.cluster);
    lines.line("jobs ended", format!("{} to {}, and those in the queue", moment(UnixTime(report.since)), moment(UnixTime(report.until))));
    if report.withdrawn > 0 {
        lines.line("withdrawn", format!("{}: cancelled before the time, and not counted", count(report.withdrawn)));
    }
    if report.is_empty() {
        lines.plain("no reservations");
        return lines.text();
    }
    lines.heading("Promised and kept");
    lines.table(&promised_and_kept("reservations", rows(report).map(|row| &row.kept)));
    lines.heading("What it cost: node-hours");
    lines.table(&cost(report));
    lines.plain("");
    lines.plain(note_on_between());
    lines.plain("required: what the jobs ran; used: what they had their nodes, with the waits on them");
    lines.text()
}

/// The rows of each partition, and those of all where there are several partitions.
fn rows(report: &Report) -> impl Iterator<Item = &Row> {
    let first = report.rows.first().map(|row| &row.kept.partition);
    let several = report.rows.iter().any(|row| Some(&row.kept.partition) != first);
    report.rows.iter().chain(report.all.iter().filter(move |_| several))
}

fn cost(report: &Report) -> Table {
    let header = ["partition", "probability", "required", "used", "used over required"];
    let mut table = table(&header, &["required", "used", "used over required"]);
    for row in rows(report) {
        table.add_row([
            row.kept.partition_name(),
            row.kept.class.name(),
            node_hours(row.required_node_hours),
            node_hours(row.used_node_hours),
            row.cost_ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
        ]);
    }
    table
}
