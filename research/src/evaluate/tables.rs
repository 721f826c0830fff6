//! What the tables of both evaluations share.

use std::collections::BTreeMap;

use comfy_table::{CellAlignment, Table};
use command_parts::output::{Lines, count, table};
use simulator::evaluation::ByMethod;

use super::published::{ByPublishedMethod, PublishedFigures};
use super::{LogReport, methods};

/// Stands where a figure is not known.
pub(super) const NOT_KNOWN: &str = "-";

/// A table whose first columns are `names` and whose others are figures, which stand to the right.
/// The names after the first are counts.
pub(super) fn figures_table<N: AsRef<str>, const NAMES: usize>(names: [&str; NAMES], figures: impl IntoIterator<Item = N>) -> Table {
    let figures: Vec<N> = figures.into_iter().collect();
    let header: Vec<&str> = names.into_iter().chain(figures.iter().map(AsRef::as_ref)).collect();
    let mut table = table(&header, &[]);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// A figure with three digits that tell something, and no more than two behind the point where it
/// is not below 0.1.
pub(super) fn figure(value: Option<&f64>) -> String {
    let Some(value) = value else { return NOT_KNOWN.to_owned() };
    match value.abs() {
        size if !size.is_finite() => NOT_KNOWN.to_owned(),
        size if size >= 1_000.0 => count(value.round().max(0.0) as u64),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.2}"),
        // A figure that is nearly zero is shown without the sign that a sum of nothing may have.
        size if size < 0.0005 => format!("{size:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// A part of a whole.
pub(super) fn percent(part: Option<&f64>) -> String {
    part.map_or_else(|| NOT_KNOWN.to_owned(), |part| format!("{:.0} %", part * 100.0))
}

/// Writes the interval from one figure to another.
pub(super) fn interval(bounds: Option<&[f64; 2]>) -> String {
    bounds.map_or_else(|| NOT_KNOWN.to_owned(), |[lower, upper]| format!("{} to {}", figure(Some(lower)), figure(Some(upper))))
}

/// A probability as tables show it.
pub(super) fn probability(value: Option<&f64>) -> String {
    value.map_or_else(|| NOT_KNOWN.to_owned(), |value| format!("{value:.3}"))
}

/// A part of the jobs and its standard error.
pub(super) fn with_standard_error(part: Option<f64>, standard_error: Option<f64>) -> String {
    let known = part.zip(standard_error);
    known.map_or_else(|| NOT_KNOWN.to_owned(), |(part, error)| format!("{part:.3} ± {error:.3}"))
}

/// What a class of times is called.
pub fn class_name(at_least_s: u64, below_s: Option<u64>) -> String {
    match below_s {
        Some(below) if at_least_s == 0 => format!("< {} s", count(below)),
        Some(below) => format!("{} to {} s", count(at_least_s), count(below)),
        None => format!("≥ {} s", count(at_least_s)),
    }
}

/// What was found of forecasts for the jobs of one log: of their waits, or of their run times.
pub(super) trait ForecastReport {
    /// Which jobs were forecast.
    fn jobs(&self) -> Jobs;

    /// What else is to be known.
    fn notes(&self) -> &[String];
}

/// Which log and which of its jobs, and what else is to be known.
pub(super) fn log_and_jobs<R: ForecastReport, F>(lines: &mut Lines, log: &LogReport<R, F>) {
    let jobs = log.found.jobs();
    lines.line("log", format!("{}: {} jobs that ran, {} processors", log.log, count(log.jobs as u64), count(log.processors.into())));
    let [from, to, test_jobs] = [jobs.from, jobs.to, jobs.test_jobs].map(|number| count(number as u64));
    lines.line("forecast", format!("jobs {from} to {to}, {test_jobs} of them, each from what was known when it was submitted"));
    if let Some(published) = &log.published {
        let remark = published.remark.map_or_else(String::new, |remark| format!("; {remark}"));
        let (published, jobs) = (count(published.completed_jobs as u64), count(log.jobs as u64));
        lines.line("note", format!("Hariharan et al. used {published} completed jobs of this log, here {jobs} ran{remark}"));
    }
    for note in log.found.notes() {
        lines.line("note", note);
    }
}

/// What was published of a method of one log; empty where that is another method, `None` where
/// nothing was published of this log.
pub(super) fn published<R, F>(
    log: &LogReport<R, F>,
    key: &str,
    theirs: impl Fn(&F) -> &ByPublishedMethod,
    shown: impl Fn(Option<&f64>) -> String,
) -> Option<String> {
    let figures = log.published.as_ref().map(|published| theirs(&published.figures))?;
    Some(figures.get(key).map_or_else(String::new, |value| shown(Some(value))))
}

/// Below a table of one log: the source of what was published, if anything was.
pub(super) fn source_of_published<R, F: PublishedFigures>(lines: &mut Lines, log: &LogReport<R, F>) {
    if log.published.is_some() {
        lines.plain(format!("published: {}", F::SOURCE));
    }
}

/// Which jobs were forecast: the first and the last, counted from 1, and how many.
#[derive(Debug, Clone, Copy)]
pub(super) struct Jobs {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) test_jobs: usize,
}

/// A table with a row for each log and a column for each method that any of them has, with what was
/// published in brackets.
pub(super) fn over_logs<R: ForecastReport, F>(
    logs: &[LogReport<R, F>],
    ours: impl Fn(&R) -> &ByMethod<f64>,
    theirs: impl Fn(&F) -> &ByPublishedMethod,
    shown: impl Fn(Option<&f64>) -> String,
) -> Table {
    let keys = methods::ordered(logs.iter().flat_map(|log| ours(&log.found).keys().copied()));
    let mut table = figures_table(["log", "jobs"], keys.iter().map(|key| methods::name(key)));
    for log in logs {
        let mut row = vec![log.log.clone(), count(log.found.jobs().test_jobs as u64)];
        row.extend(keys.iter().map(|key| {
            let ours = shown(ours(&log.found).get(key));
            let theirs = log.published.as_ref().and_then(|published| theirs(&published.figures).get(key));
            theirs.map_or_else(|| ours.clone(), |theirs| format!("{ours} ({})", shown(Some(theirs))))
        }));
        table.add_row(row);
    }
    table
}

/// Below a table over several logs: the source of what was published, if anything was.
pub(super) fn source_of_brackets<R, F: PublishedFigures>(lines: &mut Lines, logs: &[LogReport<R, F>]) {
    if logs.iter().any(|log| log.published.is_some()) {
        lines.plain(format!("in brackets as published: {}", F::SOURCE));
    }
}

/// The remarks on each of several logs.
pub(super) fn notes_of_logs<R: ForecastReport, F>(lines: &mut Lines, logs: &[LogReport<R, F>]) {
    let remark = |log: &LogReport<R, F>| log.published.as_ref().and_then(|published| published.remark);
    if logs.iter().all(|log| remark(log).is_none() && log.found.notes().is_empty()) {
        return;
    }
    lines.heading("Notes");
    for log in logs {
        for note in remark(log).into_iter().chain(log.found.notes().iter().map(String::as_str)) {
            lines.plain(format!("{}: {note}", log.log));
        }
    }
}

/// Errors by class: a row for each class, with its name, its jobs and the errors by method.
pub(super) fn by_class<'a>(what: &'static str, classes: impl Iterator<Item = (String, usize, &'a ByMethod<f64>)> + Clone) -> Table {
    let keys = methods::ordered(classes.clone().flat_map(|(_, _, errors)| errors.keys().copied()));
    let columns = ["jobs".to_owned()].into_iter().chain(keys.iter().map(|key| methods::name(key)));
    let mut table = figures_table([what], columns);
    for (class, jobs, errors) in classes {
        let mut row = vec![class, count(jobs as u64)];
        row.extend(keys.iter().map(|key| if jobs == 0 { NOT_KNOWN.to_owned() } else { figure(errors.get(key)) }));
        table.add_row(row);
    }
    table
}

/// The nominal probabilities of the tables of coverage.
pub(super) const LEVELS: [&str; 4] = ["0.5", "0.75", "0.9", "0.95"];

/// Parts of the jobs by nominal probability.
pub(super) type Coverage = BTreeMap<&'static str, f64>;

/// Coverage by nominal probability: of all jobs, of the block of jobs in which it is furthest off,
/// and of the bounds of others, by name.
pub(super) fn coverage(jobs: &Jobs, all: &Coverage, blocks: &[Coverage], others: &[(&str, &Coverage)]) -> Table {
    let names = others.iter().map(|(name, _)| *name);
    let mut table = figures_table(["nominal"], ["queuecast", "worst block", "of jobs"].into_iter().chain(names));
    for (key, observed) in all {
        let nominal: f64 = key.parse().unwrap_or(f64::NAN);
        let off = |block: &(usize, f64)| (block.1 - nominal).abs();
        let worst = blocks
            .iter()
            .enumerate()
            .filter_map(|(place, block)| Some((place, *block.get(key)?)))
            .max_by(|one, other| off(one).total_cmp(&off(other)));
        let members = worst.map(|(place, _)| {
            let first = jobs.from + place * BLOCK_JOBS;
            format!("{} to {}", count(first as u64), count((first + BLOCK_JOBS - 1).min(jobs.to) as u64))
        });
        let mut row = vec![
            (*key).to_owned(),
            probability(Some(observed)),
            probability(worst.as_ref().map(|(_, observed)| observed)),
            members.unwrap_or_else(|| NOT_KNOWN.to_owned()),
        ];
        row.extend(others.iter().map(|(_, other)| probability(other.get(key))));
        table.add_row(row);
    }
    table
}

/// Jobs to a block of the evaluations.
const BLOCK_JOBS: usize = 4_000;

/// Returns, for tests, the line of a report that begins with `label`, blanks made single.
#[cfg(test)]
pub(super) fn line(text: &str, label: &str) -> String {
    let text = anstream::adapter::strip_str(text).to_string();
    let single = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(single).find(|line| line.starts_with(label)).unwrap_or_else(|| panic!("no line {label:?} in:\n{text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_the_digits_that_tell_something() {
        let shown = [3_020.44, 391.61, 44.37, 5.6, 0.31, 0.0314, 0.0001, -0.0].map(|value| figure(Some(&value)));
        assert_eq!(shown, ["3,020", "392", "44.4", "5.60", "0.31", "0.031", "0.00", "0.00"]);
        assert_eq!(figure(Some(&f64::NAN)), "-");
    }
}
