//! The report for people.

use command_parts::output::{Lines, count};

use super::Report;

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let mut lines = Lines::default();
    let shown = report.reservations.len();
    if !report.layout.noheader {
        for note in &report.notes {
            lines.line("note", note);
        }
        let asked = if report.is_filtered { " of those asked for" } else { "" };
        lines.plain(match shown {
            0 => format!("no reservations{asked}"),
            1 => format!("1 reservation{asked}"),
            shown => format!("{} reservations{asked}", count(shown as u64)),
        });
        if shown > 0 {
            lines.plain("");
        }
    }
    if shown > 0 {
        report.layout.write(&mut lines, &report.reservations, report.now);
    }
    lines.text()
}
