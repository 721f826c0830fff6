//! The report for people.

use comfy_table::Table;
use command_parts::output::{Lines, count};
use simulator::experiment::ReplayOutcome;

use super::{PolicyReport, ProtocolName, PublishedOutcome};
use crate::evaluate::tables::{NOT_KNOWN, figure, figures_table};

/// Writes two tables for each protocol: the mean responses, and who gains and who pays.
pub(super) fn report(reports: &[PolicyReport], source: &str) -> String {
    let mut lines = Lines::default();
    for protocol in [ProtocolName::Paper, ProtocolName::WorkConserving] {
        let of_protocol: Vec<&PolicyReport> = reports.iter().filter(|report| report.protocol == protocol).collect();
        if of_protocol.is_empty() {
            continue;
        }
        lines.heading(&format!("Protocol {}: mean minutes over the jobs that may be changed", protocol.name()));
        lines.table(&responses(&of_protocol));
        lines.heading(&format!("Protocol {}: who gains and who pays", protocol.name()));
        lines.table(&fairness(&of_protocol));
    }
    if reports.iter().any(|report| report.published.is_some()) {
        lines.plain("");
        lines.plain(format!("published: {source}; it gives the utilisation as a picture (figure 6), 10 to 15 % more with its policy"));
    }
    lines.text()
}

fn responses(reports: &[&PolicyReport]) -> Table {
    let mut table = figures_table(["log", "policy"], ["wait", "run", "response", "change", "95th percentile", "change", "utilisation"]);
    let mut last = None;
    for report in reports {
        let found = &report.found;
        if last != Some(&report.replayed.log) {
            if let Some(published) = &report.published {
                table.add_row(published_row(&report.replayed.log, "none, published", &published.baseline, None));
                table.add_row(published_row(&report.replayed.log, "paper, published", &published.ours, Some(&published.baseline)));
            }
            table.add_row(row(&report.replayed.log, "none", &found.baseline, None));
            last = Some(&report.replayed.log);
        }
        table.add_row(row(&report.replayed.log, report.policy, &found.ours, Some(&found.baseline)));
    }
    table
}

fn minutes(seconds: f64) -> String {
    figure(Some(&(seconds / 60.0)))
}

/// Returns the percentage by which a figure exceeds the baseline.
fn change(ours: f64, baseline: f64) -> String {
    if baseline > 0.0 { format!("{:+.1} %", (ours / baseline - 1.0) * 100.0) } else { NOT_KNOWN.to_owned() }
}

fn row(log: &str, policy: &str, outcome: &ReplayOutcome, baseline: Option<&ReplayOutcome>) -> Vec<String> {
    let than = |of: fn(&ReplayOutcome) -> f64| baseline.map_or_else(String::new, |baseline| change(of(outcome), of(baseline)));
    vec![
        log.to_owned(),
        policy.to_owned(),
        minutes(outcome.mean_wait_s),
        minutes(outcome.mean_run_s),
        minutes(outcome.mean_response_s),
        than(|outcome| outcome.mean_response_s),
        minutes(outcome.p95_response_s),
        than(|outcome| outcome.p95_response_s),
        format!("{:.1} %", outcome.utilisation * 100.0),
    ]
}

fn published_row(log: &str, policy: &str, outcome: &PublishedOutcome, baseline: Option<&PublishedOutcome>) -> Vec<String> {
    let change = baseline.map_or_else(String::new, |baseline| change(outcome.mean_response_s, baseline.mean_response_s));
    let figures = [outcome.mean_wait_s, outcome.mean_run_s, outcome.mean_response_s].map(minutes);
    let [wait, run, response] = figures;
    vec![log.to_owned(), policy.to_owned(), wait, run, response, change, String::new(), String::new(), String::new()]
}

fn fairness(reports: &[&PolicyReport]) -> Table {
    let columns = ["smaller", "larger", "deferred", "cut by limit", "left alone", "their response", "slowest tenth", "worst slowdowns"];
    let mut table = figures_table(["log", "policy"], columns);
    for report in reports {
        let (found, changed) = (&report.found, &report.found.changed);
        let mut row = vec![report.replayed.log.clone(), report.policy.to_owned()];
        row.extend(
            [changed.smaller, changed.larger, changed.deferred, changed.cut_by_limit, found.unmolded_jobs].map(|jobs| count(jobs as u64)),
        );
        row.push(change(found.unmolded_response_s, found.unmolded_baseline_response_s));
        row.push(change(found.ours.slowest_tenth_response_s, found.baseline.slowest_tenth_response_s));
        row.push(change(found.ours.worst_tenth_slowdown, found.baseline.worst_tenth_slowdown));
        table.add_row(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::sample::reports;
    use super::*;
    use crate::evaluate::tables::line;

    #[test]
    fn ours_stands_beside_the_published_figures() {
        let text = report(&reports(), "table VIII");
        assert_eq!(line(&text, "SDSC-SP2 none, published"), "SDSC-SP2 none, published 198 133 331");
        assert_eq!(line(&text, "SDSC-SP2 paper, published"), "SDSC-SP2 paper, published 147 98.0 245 -26.0 %");
        assert_eq!(line(&text, "SDSC-SP2 none "), "SDSC-SP2 none 130 120 250 2,000 75.0 %");
        assert_eq!(line(&text, "SDSC-SP2 best 1"), "SDSC-SP2 best 100 120 220 -12.0 % 1,000 -50.0 % 75.0 %");
        assert!(text.contains("Protocol paper") && text.contains("Protocol work-conserving") && text.contains("figure 6"), "{text}");
        assert_eq!(line(&text, "SDSC-SP2 best 30"), "SDSC-SP2 best 30 20 0 1 150 -5.0 % -10.0 % -20.0 %");
    }
}
