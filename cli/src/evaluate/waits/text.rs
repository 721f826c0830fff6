//! The reports for people.

use std::collections::BTreeMap;

use comfy_table::Table;
use simulator::evaluation::{ByMethod, WaitClassReport};

use super::WaitsOfLog;
use crate::evaluate::methods;
use crate::evaluate::published::{PublishedWaitsReport, WAITS_SOURCE};
use crate::evaluate::tables::{NOT_KNOWN, figure, figures_table, interval, log_and_jobs, percent, remarks};
use crate::output::{Lines, count};

/// The report on one log.
pub(super) fn one(log: &WaitsOfLog) -> String {
    let mut lines = Lines::default();
    let found = &log.found;
    log_and_jobs(&mut lines, log, found.from, found.to, found.test_jobs);
    remarks(&mut lines, log.published_jobs, log.jobs, log.published.as_ref().and_then(|published| published.remark), &found.notes);

    lines.heading("Errors of the point forecast");
    lines.table(&errors(log));
    if log.published.is_some() {
        lines.plain(format!("published: {WAITS_SOURCE}"));
    }
    lines.heading("Mean absolute error by class of wait, in hours (figure 5)");
    lines.table(&by_wait(&found.by_wait));

    lines.heading("Probabilities: the part of the jobs that waited at most the forecast quantile");
    lines.table(&coverage(log));
    lines.plain("QBETS gives upper bounds, at 95 % confidence: at least the nominal part is to be below them");
    let losses: Vec<String> = methods::ordered(found.pinball_hours.keys().copied())
        .into_iter()
        .map(|key| format!("{} {} h", methods::name(key), figure(found.pinball_hours.get(key))))
        .collect();
    if !losses.is_empty() {
        lines.line("pinball loss", losses.join(", "));
    }

    lines.heading("The default");
    let mut weights: Vec<(&str, f64)> = found.member_weights.iter().map(|(key, weight)| (*key, *weight)).collect();
    weights.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let weights: Vec<String> = weights.into_iter().map(|(key, weight)| format!("{} {weight:.2}", methods::name(key))).collect();
    if !weights.is_empty() {
        lines.line("members", format!("{} (mean weights)", weights.join(", ")));
    }
    let time = found.prediction_us;
    lines.line("one forecast", format!("takes {:.1} µs, 99 % take at most {:.1} µs", time.p50, time.p99));
    lines.text()
}

/// One table over several logs, as table V.
pub(super) fn several(logs: &[WaitsOfLog]) -> String {
    let mut lines = Lines::default();
    lines.heading("Mean absolute error of forecasts of waits, in hours (table V)");
    lines.table(&over_logs(logs, |log| &log.found.aae_hours, |published| &published.aae_hours));
    lines.heading("Absolute error over the response time, mean (table V)");
    lines.table(&over_logs(logs, |log| &log.found.scaled_aae, |published| &published.scaled_aae));
    if logs.iter().any(|log| log.published.is_some()) {
        lines.plain(format!("in brackets as published: {WAITS_SOURCE}"));
    }
    lines.heading("The default");
    let mut default = figures_table(
        ["log", "jobs"],
        ["error (h)", "95 % interval", "median (h)", "within factor 2", "at 0.5", "at 0.75", "at 0.9", "at 0.95", "pinball (h)", "QBETS's"],
    );
    for log in logs {
        let found = &log.found;
        let mut row = vec![log.log.clone(), count(found.test_jobs as u64)];
        row.push(figure(found.aae_hours.get(methods::DEFAULT)));
        row.push(interval(found.aae_interval_hours.get(methods::DEFAULT)));
        row.push(figure(Some(&found.median_ae_hours)));
        row.push(percent(Some(&found.within_factor_2)));
        row.extend(["0.5", "0.75", "0.9", "0.95"].map(|nominal| probability(found.coverage.get(nominal))));
        row.extend([methods::DEFAULT, "qbets"].map(|key| figure(found.pinball_hours.get(key))));
        default.add_row(row);
    }
    lines.table(&default);
    lines.plain("at 0.5 to at 0.95: the part of the jobs that waited at most the forecast quantile");
    for log in logs {
        let remark = log.published.as_ref().and_then(|published| published.remark);
        for note in remark.into_iter().chain(log.found.notes.iter().map(String::as_str)) {
            lines.plain(format!("{}: {note}", log.log));
        }
    }
    lines.text()
}

/// A table with a row for each log and a column for each method that any of them has.
fn over_logs(
    logs: &[WaitsOfLog],
    of: impl Fn(&WaitsOfLog) -> &ByMethod<f64>,
    published: impl Fn(&PublishedWaitsReport) -> &BTreeMap<&'static str, f64>,
) -> Table {
    let keys = methods::ordered(logs.iter().flat_map(|log| of(log).keys().copied()));
    let mut table = figures_table(["log", "jobs"], keys.iter().map(|key| methods::name(key)));
    for log in logs {
        let mut row = vec![log.log.clone(), count(log.found.test_jobs as u64)];
        row.extend(keys.iter().map(|key| {
            let ours = figure(of(log).get(key));
            let theirs = log.published.as_ref().and_then(|figures| published(figures).get(key));
            theirs.map_or_else(|| ours.clone(), |theirs| format!("{ours} ({})", figure(Some(theirs))))
        }));
        table.add_row(row);
    }
    table
}

fn errors(log: &WaitsOfLog) -> Table {
    let found = &log.found;
    let mut columns = vec!["mean (h)", "95 % interval", "scaled", "median (h)", "within factor 2"];
    if log.published.is_some() {
        columns.insert(2, "published (h)");
        columns.insert(4, "published scaled");
    }
    let mut table = figures_table(["method"], columns);
    for key in methods::ordered(found.aae_hours.keys().copied()) {
        let mut row = vec![methods::name(key), figure(found.aae_hours.get(key)), interval(found.aae_interval_hours.get(key))];
        let published = |of: fn(&PublishedWaitsReport) -> &BTreeMap<&'static str, f64>| {
            log.published.as_ref().map(|published| of(published).get(key).map_or_else(String::new, |value| figure(Some(value))))
        };
        row.extend(published(|published| &published.aae_hours));
        row.push(figure(found.scaled_aae.get(key)));
        row.extend(published(|published| &published.scaled_aae));
        row.push(figure(found.median_ae_hours_by_method.get(key)));
        row.push(percent(found.within_factor_2_by_method.get(key)));
        table.add_row(row);
    }
    table
}

/// What a class of waits is called.
pub(super) fn class_name(class: &WaitClassReport) -> String {
    let seconds = |seconds: u64| count(seconds);
    match (class.at_least_s, class.below_s) {
        (0, Some(below)) => format!("< {} s", seconds(below)),
        (at_least, Some(below)) => format!("{} to {} s", seconds(at_least), seconds(below)),
        (at_least, None) => format!("≥ {} s", seconds(at_least)),
    }
}

fn by_wait(classes: &[WaitClassReport]) -> Table {
    let keys = methods::ordered(classes.iter().flat_map(|class| class.aae_hours.keys().copied()));
    let columns = ["jobs".to_owned()].into_iter().chain(keys.iter().map(|key| methods::name(key)));
    let mut table = figures_table(["wait"], columns);
    for class in classes {
        let mut row = vec![class_name(class), count(class.jobs as u64)];
        row.extend(keys.iter().map(|key| if class.jobs == 0 { NOT_KNOWN.to_owned() } else { figure(class.aae_hours.get(key)) }));
        table.add_row(row);
    }
    table
}

fn coverage(log: &WaitsOfLog) -> Table {
    let found = &log.found;
    let mut table = figures_table(["nominal"], ["queuecast", "worst block", "of jobs", "QBETS"]);
    for (key, observed) in &found.coverage {
        let nominal: f64 = key.parse().unwrap_or(f64::NAN);
        let off = |block: &&(usize, f64)| (block.1 - nominal).abs();
        let blocks: Vec<(usize, f64)> =
            found.block_coverage.iter().enumerate().filter_map(|(place, block)| Some((place, *block.get(key)?))).collect();
        let worst = blocks.iter().max_by(|one, other| off(one).total_cmp(&off(other)));
        let jobs = worst.map(|(place, _)| {
            let first = found.from + place * BLOCK;
            format!("{} to {}", count(first as u64), count((first + BLOCK - 1).min(found.to) as u64))
        });
        table.add_row([
            (*key).to_owned(),
            probability(Some(observed)),
            probability(worst.map(|(_, observed)| observed)),
            jobs.unwrap_or_else(|| NOT_KNOWN.to_owned()),
            probability(found.qbets_coverage.get(key)),
        ]);
    }
    table
}

/// Jobs to a block of [`simulator::evaluation::WaitReport::block_coverage`].
const BLOCK: usize = 4_000;

fn probability(value: Option<&f64>) -> String {
    value.map_or_else(|| NOT_KNOWN.to_owned(), |value| format!("{value:.3}"))
}

#[cfg(test)]
mod tests {
    use super::super::sample::report;
    use super::*;

    /// The line that begins with `label`, blanks made single.
    fn line(text: &str, label: &str) -> String {
        let text = anstream::adapter::strip_str(text).to_string();
        let single = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        text.lines().map(single).find(|line| line.starts_with(label)).unwrap_or_else(|| panic!("no line {label:?} in:\n{text}"))
    }

    #[test]
    fn figures_stand_beside_the_published_ones() {
        let text = one(&report("SDSC-SP2-1998-4.2-cln"));
        assert_eq!(line(&text, "APQ"), "APQ 5.00 4.50 to 5.50 7.84 96.0 11.8 0.60 40 %");
        assert_eq!(line(&text, "queuecast"), "queuecast 3.00 2.50 to 3.50 94.0 0.40 60 %");
        assert_eq!(line(&text, "0.95 "), "0.95 0.960 0.920 24,001 to 28,000 0.980");
        assert_eq!(line(&text, "pinball"), "pinball loss QBETS 4.25 h, queuecast 1.50 h");
        assert_eq!(line(&text, "members"), "members trees 0.70, k nearest 0.20, predict 0 0.10 (mean weights)");
        assert!(text.contains("table V") && text.contains("54,006"), "{text}");
    }

    #[test]
    fn a_log_that_the_paper_does_not_have_gets_no_published_column() {
        let text = one(&report("KTH-SP2-1996-2.1-cln"));
        assert!(!text.contains("published"), "{text}");
        assert_eq!(line(&text, "APQ"), "APQ 5.00 4.50 to 5.50 96.0 0.60 40 %");
    }

    #[test]
    fn it_is_said_where_the_papers_log_is_another() {
        let text = one(&report("HPC2N-2002-2.2-cln"));
        assert!(line(&text, "note").contains("another cleaning"), "{text}");
        let text = several(&[report("HPC2N-2002-2.2-cln"), report("KTH-SP2-1996-2.1-cln"), report("DAS2-fs1-2003-1")]);
        assert!(line(&text, "HPC2N-2002-2.2-cln: ").contains("another cleaning"), "{text}");
        assert!(line(&text, "DAS2-fs1-2003-1: ").contains("differ"), "{text}");
    }

    #[test]
    fn several_logs_share_a_table() {
        let text = several(&[report("SDSC-SP2-1998-4.2-cln"), report("KTH-SP2-1996-2.1-cln")]);
        assert_eq!(line(&text, "SDSC-SP2"), "SDSC-SP2-1998-4.2-cln 34,041 9.00 8.00 7.00 (44.4) 6.00 (9.42) 5.00 (7.84) 4.00 3.00");
        assert_eq!(line(&text, "KTH-SP2"), "KTH-SP2-1996-2.1-cln 34,041 9.00 8.00 7.00 6.00 5.00 4.00 3.00");
    }
}
