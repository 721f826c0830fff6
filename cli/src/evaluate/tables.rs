//! What the tables of both evaluations share.

use comfy_table::{CellAlignment, Table};

use super::LogReport;
use crate::output::{Lines, count, table};

/// Stands where a figure is not known.
pub(super) const NOT_KNOWN: &str = "-";

/// A table whose first columns are `names` and whose others are figures, which stand to the right. The names after the first are counts.
pub(super) fn figures_table<N: AsRef<str>, const NAMES: usize>(names: [&str; NAMES], figures: impl IntoIterator<Item = N>) -> Table {
    let figures: Vec<N> = figures.into_iter().collect();
    let header: Vec<&str> = names.into_iter().chain(figures.iter().map(AsRef::as_ref)).collect();
    let mut table = table(&header, &[]);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// A figure with three digits that tell something, and no more than two behind the point where it is not below 0.1.
pub(super) fn figure(value: Option<&f64>) -> String {
    let Some(value) = value else { return NOT_KNOWN.to_owned() };
    match value.abs() {
        size if !size.is_finite() => NOT_KNOWN.to_owned(),
        size if size >= 1_000.0 => count(value.round().max(0.0) as u64),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.1 || size == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// A part of a whole.
pub(super) fn percent(part: Option<&f64>) -> String {
    part.map_or_else(|| NOT_KNOWN.to_owned(), |part| format!("{:.0} %", part * 100.0))
}

/// From one figure to another.
pub(super) fn interval(bounds: Option<&[f64; 2]>) -> String {
    bounds.map_or_else(|| NOT_KNOWN.to_owned(), |[lower, upper]| format!("{} to {}", figure(Some(lower)), figure(Some(upper))))
}

/// Which log, and which of its jobs.
pub(super) fn log_and_jobs<R, P>(lines: &mut Lines, log: &LogReport<R, P>, from: usize, to: usize, test_jobs: usize) {
    lines.line("log", format!("{}: {} jobs that ran, {} processors", log.log, count(log.jobs as u64), count(log.processors.into())));
    let [from, to, test_jobs] = [from, to, test_jobs].map(|number| count(number as u64));
    lines.line("forecast", format!("jobs {from} to {to}, {test_jobs} of them, each from what was known when it was submitted"));
}

/// What else is to be known, the difference from the paper's copy of the log first.
pub(super) fn remarks(lines: &mut Lines, published_jobs: Option<usize>, jobs: usize, remark: Option<&str>, notes: &[String]) {
    if let Some(published) = published_jobs {
        let remark = remark.map_or_else(String::new, |remark| format!("; {remark}"));
        let (published, jobs) = (count(published as u64), count(jobs as u64));
        lines.line("note", format!("the paper used {published} completed jobs of this log, here {jobs} ran{remark}"));
    }
    for note in notes {
        lines.line("note", note);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_the_digits_that_tell_something() {
        let shown = [3_020.44, 391.61, 44.37, 5.6, 0.31, 0.0314, 0.0].map(|value| figure(Some(&value)));
        assert_eq!(shown, ["3,020", "392", "44.4", "5.60", "0.31", "0.031", "0.00"]);
        assert_eq!(figure(Some(&f64::NAN)), "-");
    }
}
