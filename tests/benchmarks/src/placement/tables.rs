//! The tables of docs/placement.md.

use simulator::experiment::OverDraws;

use super::{Cell, Found};
use crate::page::{NamedTable, Stored, markdown, title};

/// The tables with the line that says what they were measured on.
pub(super) fn of_stored(stored: &Stored<Found>) -> Vec<NamedTable> {
    let measured = format!("\nMeasured on commit {} by `ci/bench-placement --publish`.\n", stored.commit);
    of_page(&stored.logs).into_iter().map(|(name, table)| (name, table + &measured)).collect()
}

/// The tables by the names that they have on the page.
pub(super) fn of_page(found: &[Found]) -> Vec<NamedTable> {
    let published: Vec<&Found> = found.iter().filter(|found| found.published.is_some()).collect();
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
fn with_error(mean: OverDraws, unit: f64) -> String {
    let error = mean.standard_error.map_or_else(String::new, |error| format!(" ± {:.0}", error / unit));
    format!("{:.0}{error}", mean.mean / unit)
}

/// What was granted, by log and method.
fn success(found: &[Found]) -> String {
    let headings = ["log", "by", "all, %", "small, %", "high load, %", "of all, %", "makespan, %"];
    let mut rows = Vec::new();
    for found in found {
        rows.extend(found.published.iter().flat_map(|published| published.summary.iter()).map(|rates| {
            let whole = |part: f64| format!("{:.0}", part * 100.0);
            let of = [rates.success_rate, rates.small_success_rate, rates.high_load_success_rate].map(whole);
            let log = format!("{}, published", title(&found.log));
            // The makespan is of both methods together.
            [vec![log, format!("`{}`", rates.method)], of.to_vec(), vec![String::new(), "+1 to +8".to_owned()]].concat()
        }));
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
    let tables = || published.iter().filter_map(|found| found.published.as_ref()).flat_map(|published| &published.table_1);
    let row = |cell: &Cell| {
        let of_method = tables().filter(|rows| rows.method.as_ref() == Some(&cell.method));
        let theirs = of_method.flat_map(|rows| &rows.delayed).find(|[hours, ..]| hours * 3_600 == cell.book_ahead_s);
        let mut row = vec![format!("`{}`", cell.method), hours(cell.book_ahead_s)];
        row.extend((0..3).map(|place| theirs.map_or_else(|| "-".to_owned(), |theirs| theirs[place + 1].to_string())));
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
    let summaries = found.iter().flat_map(|found| found.summary.iter());
    let windows = sorted(summaries.flat_map(|summary| summary.added_wait_s.keys().copied()));
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
