//! The report for people.

use comfy_table::Table;
use command_parts::output::{Lines, count};
use simulator::experiment::{ReservationClass, Reservations};

use super::ReservationReport;
use super::published::Published;
use crate::evaluate::tables::{figure, figures_table, probability, with_standard_error};

/// What became of the reservations, what they did to others, and who had them.
pub(super) fn report(reports: &[ReservationReport]) -> String {
    let mut lines = Lines::default();
    lines.heading("Reservations that were asked for, given and kept");
    lines.table(&cells(reports));
    lines.heading("Why the others were refused");
    lines.table(&refusals(reports));
    lines.heading("Those who did not ask, with the reservations and without: minutes");
    lines.table(&others(reports));
    lines.heading("By size of the job, in processors");
    lines.table(&classes(reports, |report| &report.found.by_size));
    lines.heading("By time from the submission to the reserved time");
    lines.table(&classes(reports, |report| &report.found.by_time_ahead));
    lines.plain("");
    lines.plain(
        "kept: the part of those given whose job had its nodes by the reserved time, and its standard error, clustered by reserved time",
    );
    lines.plain("cost: processor hours that their jobs had their nodes for over those that they ran");
    if reports.iter().any(|report| report.share.is_none()) {
        lines.plain("own jobs: requested counts each time that one was asked for, and the others are all jobs of the log");
    }
    if let Some(published) = reports.iter().find_map(|report| report.published.as_ref()) {
        lines.plain(format!("in brackets as published: {}", published.source));
    }
    lines.text()
}

const NAMES: [&str; 4] = ["log", "by", "share", "asked for"];

fn names(report: &ReservationReport) -> Vec<String> {
    let queue = report.queue.as_ref().map(|queue| if queue.name.is_empty() { queue.number.to_string() } else { queue.name.clone() });
    let log = queue.map_or_else(|| report.replayed.log.clone(), |queue| format!("{}: {queue}", report.replayed.log));
    vec![log, report.method.name().to_owned(), share(report.share), report.probability.to_string()]
}

/// Which part of the log's jobs asks.
fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "own jobs".to_owned(), |share| share.to_string())
}

/// What was published of the same question, in brackets.
fn brackets(ours: String, published: Option<String>) -> String {
    published.map_or_else(|| ours.clone(), |published| format!("{ours} ({published})"))
}

/// Requested, accepted, predicted, kept, cost.
fn outcome(found: &Reservations, published: Option<&Published>) -> Vec<String> {
    let kept = with_standard_error(found.kept_part, found.kept_standard_error);
    vec![
        count(found.requested as u64),
        brackets(count(found.accepted as u64), published.map(|published| count(published.accepted as u64))),
        brackets(probability(found.mean_predicted.as_ref()), published.map(|published| format!("{:.2}", published.mean_predicted))),
        brackets(kept, published.map(|published| format!("{:.2}", published.kept_part))),
        brackets(
            figure(found.cost_ratio.as_ref()),
            published.and_then(|published| published.cost_ratio).map(|ratio| format!("{ratio:.2}")),
        ),
    ]
}

const OUTCOME: [&str; 5] = ["requested", "accepted", "predicted", "kept", "cost"];

fn cells(reports: &[ReservationReport]) -> Table {
    let mut table = figures_table(NAMES, OUTCOME);
    for report in reports {
        table.add_row([names(report), outcome(&report.found.all, report.published.as_ref())].concat());
    }
    table
}

fn refusals(reports: &[ReservationReport]) -> Table {
    let mut table =
        figures_table(NAMES, ["unlikely", "crowded", "beyond the longest limit", "no waits known", "others would wait", "other"]);
    for report in reports {
        let refused = &report.found.refused;
        let counts = [refused.unlikely, refused.crowded, refused.beyond_limit, refused.no_waits, refused.others_wait, refused.other];
        let counts = counts.map(|counted| count(counted as u64));
        table.add_row([names(report), counts.to_vec()].concat());
    }
    table
}

fn others(reports: &[ReservationReport]) -> Table {
    let figures = ["mean wait", "without", "95th percentile", "without", "utilisation", "of it work", "without"];
    let mut table = figures_table(NAMES, figures);
    for report in reports {
        let (found, others) = (&report.found, &report.found.others);
        let waits =
            [others.others_mean_wait_s, others.others_mean_wait_without_s, others.others_p95_wait_s, others.others_p95_wait_without_s];
        let waits = waits.map(|seconds| figure(Some(&(seconds / 60.0))));
        let parts = [found.utilisation, found.work_utilisation, found.utilisation_without].map(|part| format!("{:.1} %", part * 100.0));
        table.add_row([names(report), waits.to_vec(), parts.to_vec()].concat());
    }
    table
}

fn classes(reports: &[ReservationReport], of: impl Fn(&ReservationReport) -> &Vec<ReservationClass>) -> Table {
    let mut table = figures_table(["log", "by", "share", "asked for", "class"], OUTCOME);
    for report in reports {
        for class in of(report) {
            table.add_row([names(report), vec![class.class.clone()], outcome(&class.found, None)].concat());
        }
    }
    table
}
