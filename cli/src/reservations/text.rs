//! The report for people.

use command_parts::output::{Lines, count};

use super::{Report, firm};

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let mut lines = Lines::default();
    let (shown, firm) = (report.reservations.with_probability.len(), &report.reservations.firm);
    if !report.layout.noheader {
        for note in &report.notes {
            lines.line("note", note);
        }
        let asked = if report.is_filtered { " of those asked for" } else { "" };
        match shown {
            0 if firm.is_empty() => lines.plain(format!("no reservations{asked}")),
            0 => {}
            1 => lines.plain(format!("1 reservation{asked}")),
            shown => lines.plain(format!("{} reservations{asked}", count(shown as u64))),
        }
        if shown > 0 {
            lines.plain("");
        }
    }
    if shown > 0 {
        report.layout.write(&mut lines, &report.reservations.with_probability, report.now);
    }
    if firm.is_empty() {
        return lines.text();
    }
    let rows = firm::rows(firm, report.now);
    if report.layout.noheader {
        lines.table_without_header(&rows);
    } else {
        lines.heading("Firm slots");
        lines.table(&rows);
    }
    lines.text()
}
