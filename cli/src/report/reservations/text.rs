//! The report for people.

use comfy_table::Table;
use command_parts::output::{BAD, GOOD, Lines, count, moment, node_hours, table};
use job_types::time::UnixTime;

use super::Report;
use super::tally::Row;

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let mut lines = Lines::default();
    lines.line("cluster", &report.cluster);
    lines.line("jobs ended", format!("{} to {}", moment(UnixTime(report.since)), moment(UnixTime(report.until))));
    if report.withdrawn > 0 {
        lines.line("withdrawn", format!("{}: cancelled before the time without a start, and not counted", count(report.withdrawn)));
    }
    if report.is_empty() {
        lines.plain("no reservations");
        return lines.text();
    }
    lines.heading("Promised and kept");
    lines.table(&kept(report));
    lines.heading("What it cost: node-hours");
    lines.table(&cost(report));
    lines.plain("");
    lines.plain(format!("between: interval of Clopper and Pearson for the part that was kept, {} %", report.confidence * 100.0));
    lines.plain("required: what the jobs ran; used: what they had their nodes, with the waits on them");
    lines.text()
}

/// The rows of each partition, and those of all where there are several partitions.
fn rows(report: &Report) -> impl Iterator<Item = (String, &Row)> {
    let several = report.rows.iter().any(|row| row.partition != report.rows.first().and_then(|first| first.partition.clone()));
    let all = report.all.iter().filter(move |_| several);
    report.rows.iter().chain(all).map(|row| (row.partition.clone().unwrap_or_else(|| "(all)".to_owned()), row))
}

fn kept(report: &Report) -> Table {
    let header = ["partition", "probability", "promised", "kept", "between", "reservations", ""];
    let mut table = table(&header, &["promised", "kept", "reservations"]);
    for (partition, row) in rows(report) {
        let between = row.lower.zip(row.upper).map(|(lower, upper)| format!("{lower:.3} and {upper:.3}")).unwrap_or_default();
        let verdict = if row.is_broken() { format!("{BAD}kept too seldom{BAD:#}") } else { format!("{GOOD}as promised{GOOD:#}") };
        let (promised, kept) = (format!("{:.3}", row.promised), format!("{:.3}", row.kept_part));
        table.add_row([partition, row.class.name(), promised, kept, between, count(row.reservations), verdict]);
    }
    table
}

fn cost(report: &Report) -> Table {
    let header = ["partition", "probability", "required", "used", "used over required"];
    let mut table = table(&header, &["required", "used", "used over required"]);
    for (partition, row) in rows(report) {
        let ratio = row.cost_ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default();
        table.add_row([partition, row.class.name(), node_hours(row.required_node_hours), node_hours(row.used_node_hours), ratio]);
    }
    table
}
