//! The tables of docs/placement.md.

use super::{Cell, Found, Mean, PUBLISHED};
use crate::page::{NamedTable, Stored, markdown, title};

/// The tables with the line that says what they were measured on.
pub(super) fn of_stored(stored: &Stored<Found>) -> Vec<NamedTable> {
    let measured = format!("\nMeasured on commit {} by `ci/bench-placement --publish`.\n", stored.commit);
    of_page(&stored.logs).into_iter().map(|(name, table)| (name, table + &measured)).collect()
}

/// The tables by the names that they have on the page.
pub(super) fn of_page(found: &[Found]) -> Vec<NamedTable> {
    let published: Vec<&Found> = found.iter().filter(|found| found.log.starts_with(PUBLISHED)).collect();
    vec![
        ("placement success", success(found)),
        ("placement windows", windows(&published)),
        ("placement delayed", delayed(&published)),
        ("placement added", added(found)),
    ]
}

const HOUR_S: f64 = 3_600.0;

fn hours(seconds: i64) -> String {
    format!("{} h", seconds as f64 / HOUR_S)
}

fn percent(part: Option<f64>) -> String {
    part.map_or_else(|| "-".to_owned(), |part| format!("{:.1}", part * 100.0))
}

/// A mean with its standard error, each over `unit`.
fn with_error(mean: Mean, unit: f64) -> String {
    let error = mean.standard_error.map_or_else(String::new, |error| format!(" ± {:.0}", error / unit));
    format!("{:.0}{error}", mean.mean / unit)
}

/// What was granted, by log and method.
fn success(found: &[Found]) -> String {
    let headings = ["log", "by", "all, %", "small, %", "high load, %", "of all, %", "makespan, %"];
    let mut rows = Vec::new();
    for found in found {
        if found.log.starts_with(PUBLISHED) {
            // Sections 5.2 and 5.3 of Röblitz and Rzadca 2006.
            rows.push(["SDSC Blue, published", "`load`", "80", "38", "58", "", "+1 to +8"].map(str::to_owned).to_vec());
            rows.push(["SDSC Blue, published", "`what-if`", "97", "92", "92", "", "+1 to +8"].map(str::to_owned).to_vec());
        }
        rows.extend(found.summary.iter().map(|summary| {
            vec![
                title(&found.log).to_owned(),
                format!("`{}`", summary.method),
                percent(Some(summary.success_rate)),
                percent(summary.small_success_rate),
                percent(summary.high_load_success_rate),
                percent(summary.high_load_of_all_success_rate),
                format!("{:+.1} to {:+.1}", summary.makespan_growth[0] * 100.0, summary.makespan_growth[1] * 100.0),
            ]
        }));
    }
    markdown(&headings, 2, &rows)
}

fn sorted<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// What was granted by book-ahead and window (figure 3).
fn windows(published: &[&Found]) -> String {
    let cells = || published.iter().flat_map(|found| found.cells.iter());
    let windows = sorted(cells().map(|cell| cell.window_s));
    let mut headings = vec!["by".to_owned(), "book-ahead".to_owned()];
    headings.extend(windows.iter().map(|window| hours(*window)));
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let mut rows = Vec::new();
    for method in ["load", "what-if"] {
        for book_ahead in sorted(cells().map(|cell| cell.book_ahead_s)) {
            let mut row = vec![format!("`{method}`"), hours(book_ahead)];
            let of = |window: &i64| {
                cells().find(|cell| (cell.method.as_str(), cell.book_ahead_s, cell.window_s) == (method, book_ahead, *window))
            };
            row.extend(
                windows
                    .iter()
                    .map(|window| of(window).map_or_else(|| "-".to_owned(), |cell| format!("{:.0}", cell.success_rate.mean * 100.0))),
            );
            rows.push(row);
        }
    }
    markdown(&headings, 2, &rows)
}

/// Table 1 of Röblitz and Rzadca 2006: book-ahead in hours; delayed jobs, original and affected
/// wait in seconds, of load and of what-if under their scheduler Mica.
const TABLE_1: [(i64, [u32; 3], [u32; 3]); 6] = [
    (0, [284, 2_532, 7_853], [172, 4_155, 8_112]),
    (2, [341, 2_138, 11_572], [280, 3_594, 8_744]),
    (4, [372, 1_782, 11_167], [319, 3_491, 9_193]),
    (6, [357, 1_984, 11_036], [429, 2_426, 11_081]),
    (12, [390, 2_244, 15_405], [393, 1_926, 16_649]),
    (24, [411, 1_638, 12_832], [407, 1_646, 13_011]),
];

/// Delayed jobs at a window of 30 hours, beside the published ones.
fn delayed(published: &[&Found]) -> String {
    let headings = [
        "by",
        "book-ahead",
        "published: jobs",
        "original, s",
        "affected, s",
        "jobs",
        "original, s",
        "affected, s",
        "added, h",
        "gained jobs",
        "net wait, s",
        "idle, h",
    ];
    let cells = || published.iter().flat_map(|found| found.cells.iter());
    let row = |cell: &Cell| {
        let theirs = TABLE_1.iter().find(|(hours, ..)| hours * 3_600 == cell.book_ahead_s);
        let theirs = theirs.and_then(|(_, load, what_if)| match cell.method.as_str() {
            "load" => Some(load),
            "what-if" => Some(what_if),
            _ => None,
        });
        let mut row = vec![format!("`{}`", cell.method), hours(cell.book_ahead_s)];
        row.extend((0..3).map(|place| theirs.map_or_else(|| "-".to_owned(), |theirs| theirs[place].to_string())));
        row.extend([cell.delayed_jobs, cell.original_wait_s, cell.affected_wait_s].map(|mean| with_error(mean, 1.0)));
        row.extend([with_error(cell.added_wait_s, HOUR_S), with_error(cell.gained_jobs, 1.0)]);
        row.extend([with_error(cell.net_wait_s, 1.0), with_error(cell.idle_processor_s, HOUR_S)]);
        row
    };
    let mut rows = Vec::new();
    for method in ["load", "what-if", "movable", "earliest", "earliest-delaying-nobody"] {
        rows.extend(cells().filter(|cell| cell.method == method && cell.window_s == 30 * 3_600).map(row));
    }
    markdown(&headings, 2, &rows)
}

/// By how much delayed jobs wait longer, over all book-aheads, by window.
fn added(found: &[Found]) -> String {
    let windows = sorted(found.iter().flat_map(|found| found.cells.iter().map(|cell| cell.window_s)));
    let mut headings = vec!["log".to_owned(), "by".to_owned()];
    headings.extend(windows.iter().map(|window| hours(*window)));
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let mut rows = Vec::new();
    for found in found {
        for summary in &found.summary {
            let mut row = vec![title(&found.log).to_owned(), format!("`{}`", summary.method)];
            row.extend(
                windows
                    .iter()
                    .map(|window| summary.added_wait_s.get(window).map_or_else(|| "-".to_owned(), |added| with_error(*added, HOUR_S))),
            );
            rows.push(row);
        }
    }
    markdown(&headings, 2, &rows)
}
