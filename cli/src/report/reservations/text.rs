//! The report for people.

use comfy_table::Table;
use command_parts::output::{Lines, count, moment, node_hours, table};
use job_types::time::UnixTime;

use super::Report;
use super::firm::{FirmReservations, FirmSlots};
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
        lines.plain("no virtual reservations");
    } else {
        add_virtual(&mut lines, report);
    }
    add_firm(&mut lines, report);
    lines.text()
}

fn add_virtual(lines: &mut Lines, report: &Report) {
    lines.heading("Promised and kept");
    lines.table(&promised_and_kept("reservations", rows(report).map(|row| &row.kept)));
    lines.heading("What it cost: node-hours");
    lines.table(&cost(report));
    lines.plain("");
    lines.plain(note_on_between());
    lines.plain("required: what the jobs ran; used: what they had their nodes, with the waits on them");
}

fn add_firm(lines: &mut Lines, report: &Report) {
    let FirmSlots { slots, kept, moved, early, returned, refused, lost, cancelled, open, observed, would_reserve, would_refuse } =
        report.firm;
    let reserved = report.firm_reservations.as_ref().filter(|reserved| reserved.reservations > 0);
    if slots + observed == 0 && reserved.is_none() {
        return;
    }
    lines.heading("Firm slots");
    let rows = [
        ("asked for", slots, "by jobs"),
        ("kept", kept, "the job started in its slot, inside its window"),
        ("early", early, "the job started before it needed its slot"),
        ("returned", returned, "the job was held or changed, or did not come"),
        ("refused", refused, "there was no slot in the window"),
        ("lost", lost, "the slot was taken away, and there was no other"),
        ("cancelled", cancelled, "the slot, or the job before it started"),
        ("open", open, "it is not known yet"),
        ("moved", moved, "of all: to another time, at least once"),
        ("observed", observed, "asked for in a mode that makes none, and not counted above"),
    ];
    for (label, number, meaning) in rows {
        lines.line(label, format!("{}: {meaning}", count(number)));
    }
    let of_observed = [
        ("would reserve", would_reserve, "of those observed: a slot was to be had, by the plan of that moment"),
        ("would refuse", would_refuse, "of those observed: there was none"),
    ];
    for (label, number, meaning) in of_observed {
        if let Some(number) = number.filter(|_| observed > 0) {
            lines.line(label, format!("{}: {meaning}", count(number)));
        }
    }
    if let Some(FirmReservations { reservations, unused, node_hours: all, idle_node_hours: idle }) = reserved {
        let (all, idle) = (node_hours(*all), node_hours(*idle));
        lines.line("reserved", format!("{all} node-hours, of which {idle} idle, by {} reservations", count(*reservations)));
        lines.line("unused", format!("{}: of these reservations, which nobody used", count(*unused)));
    }
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
