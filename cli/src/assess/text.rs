//! The report as lines of text.

use comfy_table::CellAlignment;
use command_parts::output::{self, HEADING, Lines};

use super::document::{Block, Document, Item, Table};

/// The whole report.
pub(super) fn text(document: &Document) -> String {
    let mut lines = Lines::default();
    lines.heading(&document.title);
    lines.plain(&document.rests_on);
    lines.plain("");
    for (place, sentence) in document.verdict.sentences.iter().enumerate() {
        lines.plain(if place == 0 { format!("{HEADING}{sentence}{HEADING:#}") } else { sentence.clone() });
    }
    lines.plain("");
    for finding in &document.verdict.findings {
        lines.plain(format!("{:<36}{:>8}   {}", finding.label, finding.figure, finding.note));
        for row in &finding.rows {
            let figures = finding.columns.iter().zip(&row.figures).map(|(column, figure)| format!("{figure} {column}"));
            lines.plain(format!("    {:<14}{}", row.name, figures.collect::<Vec<_>>().join(", ")));
        }
    }
    if !document.limits.is_empty() {
        lines.heading("What limits this answer");
        items(&mut lines, &document.limits);
    }
    for section in &document.sections {
        lines.heading(section.title);
        for (place, block) in section.blocks.iter().enumerate() {
            match block {
                Block::Text(text) => lines.plain(text),
                Block::List(list) => items(&mut lines, list),
                // A picture shows what a table beside it says.
                Block::Picture(_) => {}
                Block::Table(found) => {
                    if place > 0 {
                        lines.plain("");
                    }
                    lines.plain(format!("{}:", found.caption));
                    lines.table(&table(found));
                }
            }
        }
    }
    lines.text()
}

fn items(lines: &mut Lines, items: &[Item]) {
    for item in items {
        lines.plain(format!("- {}: {}", item.about, item.what));
    }
}

fn table(found: &Table) -> comfy_table::Table {
    let header: Vec<&str> = found.header.iter().map(String::as_str).collect();
    let mut table = output::table(&header, &[]);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for row in &found.rows {
        table.add_row(row.iter().map(|cell| cell.text.as_str()));
    }
    table
}
