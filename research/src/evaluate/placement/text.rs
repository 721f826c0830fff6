//! The report for people.

use comfy_table::Table;
use command_parts::output::{Lines, count};
use simulator::experiment::{PlacementExperiment, PlacementMethod};

use super::PlacementReport;
use super::cells::{Cells, HOUR_S};
use super::published::TABLE_WINDOW_S;
use super::statements::statements;
use crate::evaluate::tables::{NOT_KNOWN, figure, figures_table, percent};

/// One log after the other.
pub(super) fn report(reports: &[PlacementReport]) -> String {
    let mut lines = Lines::default();
    for report in reports {
        of_log(&mut lines, report);
    }
    lines.text()
}

fn of_log(lines: &mut Lines, report: &PlacementReport) {
    let cells = Cells::of(&report.found.experiments);
    let [jobs, nodes] = [report.jobs as u64, report.processors.into()].map(count);
    lines.line("log", format!("{}: its first {jobs} jobs that can be replayed, on {nodes} nodes or processors", report.log));
    lines.line("draws", format!("{}, from seed {}", report.settings.seeds, report.settings.seed));
    for method in cells.methods() {
        lines.heading(&format!("Requests that were granted, {}: by time until the window begins, and by its length", method.name()));
        lines.table(&success_rates(&cells, method));
    }
    lines.heading("Requests that were granted, and by how much the makespan grows");
    lines.table(&summary(report));
    lines.plain("small: where both times are at most 2 h; at high load: the fifth of each experiment's requests, or of all of a draw,");
    lines.plain("with the most work waiting and running when they came");
    lines.heading(&format!("Jobs that are delayed, at a window of {} h", cells.widest_window() / HOUR_S));
    lines.table(&delayed(report, &cells));
    lines.plain("waits are means over the delayed jobs, in seconds; added and idle are in hours of a job and of a node or processor:");
    lines.plain("by how much delayed jobs wait longer, all together, and what jobs would have had but for reservations to come;");
    lines.plain("± is the standard error over the draws");
    lines.heading("By how much delayed jobs wait longer, all together and over all times until the window begins: hours");
    lines.table(&added(report, &cells));
    if let Some(published) = &report.published {
        for rows in published.only_published() {
            lines.heading(&format!("{}, as published, and not replayed here", rows.scheduler));
            let mut table = figures_table(["book-ahead"], ["delayed jobs", "original wait", "affected wait"]);
            for [book_ahead, figures @ ..] in &rows.delayed {
                table.add_row([vec![format!("{book_ahead} h")], figures.map(|figure| count(figure.unsigned_abs())).to_vec()].concat());
            }
            lines.table(&table);
        }
        lines.heading("What was published, and whether it is found here");
        for statement in statements(report, &cells) {
            let verdict = if statement.holds { "holds" } else { "does not hold" };
            lines.plain(format!("{}: {} - {verdict}: {}", statement.section, statement.said, statement.found));
        }
        lines.plain(format!("in brackets as published: {}", published.source()));
    }
}

fn hours(seconds: i64) -> String {
    format!("{} h", seconds as f64 / HOUR_S as f64)
}

fn success_rates(cells: &Cells<'_>, method: PlacementMethod) -> Table {
    let windows = cells.windows();
    let mut table = figures_table(["book-ahead"], windows.iter().map(|window| hours(*window)));
    for book_ahead in cells.book_aheads() {
        let mut row = vec![hours(book_ahead)];
        row.extend(
            windows.iter().map(|window| percent(cells.mean(method, book_ahead, *window, PlacementExperiment::success_rate).as_ref())),
        );
        table.add_row(row);
    }
    table
}

fn brackets(ours: Option<f64>, published: Option<f64>) -> String {
    let ours = ours.map_or_else(|| NOT_KNOWN.to_owned(), |ours| format!("{:.1} %", ours * 100.0));
    published.map_or_else(|| ours.clone(), |published| format!("{ours} ({:.0} %)", published * 100.0))
}

fn summary(report: &PlacementReport) -> Table {
    let mut table = figures_table(["by"], ["all", "small", "at high load", "of all at high load", "makespan"]);
    for summary in &report.found.summary {
        let published = report.published.as_ref().and_then(|published| published.rates(summary.method.name()));
        let [least, most] = summary.makespan_growth;
        table.add_row([
            summary.method.name().to_owned(),
            brackets(Some(summary.success_rate), published.map(|rates| rates.success_rate)),
            brackets(summary.small_success_rate, published.map(|rates| rates.small_success_rate)),
            brackets(summary.high_load_success_rate, published.map(|rates| rates.high_load_success_rate)),
            brackets(summary.high_load_of_all_success_rate, published.map(|rates| rates.high_load_success_rate)),
            format!("{:+.1} to {:+.1} %", least * 100.0, most * 100.0),
        ]);
    }
    table
}

fn delayed(report: &PlacementReport, cells: &Cells<'_>) -> Table {
    let columns = ["delayed jobs", "original wait", "affected wait", "added, h", "gained jobs", "net wait", "idle, h"];
    let mut table = figures_table(["by", "book-ahead"], columns);
    let window = cells.widest_window();
    for method in cells.methods() {
        let published = report.published.as_ref().filter(|_| window == TABLE_WINDOW_S).map(|published| published.delayed(method.name()));
        for book_ahead in cells.book_aheads() {
            let mean = |figure: fn(&PlacementExperiment) -> f64| cells.mean(method, book_ahead, window, figure);
            let rows = published.as_ref().and_then(|rows| rows.get(&(book_ahead / HOUR_S)));
            let shown = |place: usize, figure: fn(&PlacementExperiment) -> f64| {
                let ours = mean(figure).map_or_else(|| NOT_KNOWN.to_owned(), |mean| count(mean.round().max(0.0) as u64));
                rows.and_then(|row| row.get(place)).map_or_else(|| ours.clone(), |row| format!("{ours} ({})", count(row.unsigned_abs())))
            };
            let added = cells.with_error(method, book_ahead, window, |experiment| experiment.added_wait_s as f64 / HOUR_S as f64);
            table.add_row([
                method.name().to_owned(),
                hours(book_ahead),
                shown(0, |experiment| experiment.delayed_jobs as f64),
                shown(1, |experiment| experiment.original_wait_s),
                shown(2, |experiment| experiment.affected_wait_s),
                added,
                figure(mean(|experiment| experiment.gained_jobs as f64).as_ref()),
                mean(|experiment| experiment.net_wait_s).map_or_else(|| NOT_KNOWN.to_owned(), |net| format!("{net:+.0}")),
                figure(mean(|experiment| experiment.idle_processor_s as f64 / HOUR_S as f64).as_ref()),
            ]);
        }
    }
    table
}

fn added(report: &PlacementReport, cells: &Cells<'_>) -> Table {
    let windows = cells.windows();
    let mut table = figures_table(["by"], windows.iter().map(|window| hours(*window)));
    for summary in &report.found.summary {
        let mut row = vec![summary.method.name().to_owned()];
        row.extend(windows.iter().map(|window| {
            let added = summary.added_wait_s.get(window);
            added.map_or_else(
                || NOT_KNOWN.to_owned(),
                |added| super::cells::shown(added.mean / HOUR_S as f64, added.standard_error.map(|error| error / HOUR_S as f64)),
            )
        }));
        table.add_row(row);
    }
    table
}
