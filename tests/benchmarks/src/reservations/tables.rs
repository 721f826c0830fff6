//! The table of docs/reservations.md on what is kept, what it costs, and what it does to others.

use super::{WINDOWS, Window};
use crate::page::{NamedTable, Stored, markdown, title};

/// The table with the line that says what it was measured on.
pub(super) fn of_page(stored: &Stored<Window>) -> Vec<NamedTable> {
    let measured = format!("\nMeasured on commit {} by `ci/bench-reservations --publish`.\n", stored.commit);
    vec![("reservations kept", kept(&stored.logs) + &measured)]
}

/// Brings windows into the order of the table: by probability, window and seed.
pub(super) fn sort(windows: &mut [Window]) {
    let place = |window: &Window| {
        let is_it = |(beginning, from, _): &(&str, u64, u64)| window.log.starts_with(beginning) && window.from == *from;
        WINDOWS.iter().position(is_it).unwrap_or(WINDOWS.len())
    };
    windows.sort_by(|one, other| {
        one.probability.total_cmp(&other.probability).then(place(one).cmp(&place(other))).then(one.seed.cmp(&other.seed))
    });
}

/// One row for each window, probability and seed. What is kept less often than was asked for by
/// more than two standard errors is bold.
pub(super) fn kept(windows: &[Window]) -> String {
    let headings = ["log", "jobs", "asked with", "seed", "told", "kept", "given", "asked", "times", "cost", "others' wait, h", "p95, h"];
    let rows: Vec<Vec<String>> = windows.iter().map(row).collect();
    markdown(&headings, 2, &rows)
}

fn row(window: &Window) -> Vec<String> {
    let figure = |figure: Option<f64>| figure.map_or_else(|| "-".to_owned(), |figure| format!("{figure:.2}"));
    let hours = |without_s: f64, with_s: f64| format!("{:.2} to {:.2}", without_s / 3_600.0, with_s / 3_600.0);
    vec![
        title(&window.log).to_owned(),
        format!("{} to {}", window.from, window.to),
        window.probability.to_string(),
        window.seed.to_string(),
        window.mean_predicted.map_or_else(|| "-".to_owned(), |told| format!("{told:.3}")),
        kept_with_error(window),
        window.accepted.to_string(),
        window.requested.to_string(),
        window.reserved_times.to_string(),
        figure(window.cost_ratio),
        hours(window.others_mean_wait_without_s, window.others_mean_wait_s),
        hours(window.others_p95_wait_without_s, window.others_p95_wait_s),
    ]
}

fn kept_with_error(window: &Window) -> String {
    let (Some(kept), Some(error)) = (window.kept_part, window.kept_standard_error) else { return "-".to_owned() };
    let text = format!("{kept:.3} ± {error:.3}");
    if kept + 2.0 * error < window.probability { format!("**{text}**") } else { text }
}
