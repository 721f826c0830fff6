//! The report for people.

use comfy_table::Table;
use command_parts::output::{BAD, GOOD, Lines, count};

use super::report::{DeadlineReport, PointReport};
use crate::evaluate::tables::{NOT_KNOWN, figures_table};

/// The figures as tables, and the statements.
pub(super) fn report(reports: &[DeadlineReport]) -> String {
    let mut lines = Lines::default();
    for report in reports {
        lines.heading(&report.log);
        lines.line("replayed", format!("the last {} jobs on {} nodes", count(report.jobs as u64), count(report.nodes.into())));
        lines.line("seeds", format!("{} from {} on; ± is half of a 95 % interval", report.seeds, report.seed));
        for part in report.parts() {
            let Some(first) = part.first() else { continue };
            lines.heading(&format!(
                "{}, figure {}, {}: per cent of the jobs done by their deadlines, and mean slowdown of these",
                report.log,
                first.figure,
                first.part_name()
            ));
            lines.table(&figure(first.varies, &part));
        }
        lines.heading(&format!("{}: what Yeo and Buyya 2006 state", report.log));
        for statement in &report.statements {
            let verdict = if statement.holds { format!("{GOOD}holds{GOOD:#}") } else { format!("{BAD}does not{BAD:#}") };
            let link = if statement.holds { "" } else { "because " };
            lines.plain(format!("{verdict}: {} ({}): {link}{}", statement.statement, statement.source, statement.because));
        }
    }
    lines.text()
}

/// A row for each value of what is varied, with a column for each policy.
fn figure(varies: &str, part: &[&PointReport]) -> Table {
    let mut policies: Vec<&str> = Vec::new();
    for point in part {
        if !policies.contains(&point.policy) {
            policies.push(point.policy);
        }
    }
    let slowdowns = policies.iter().map(|policy| format!("slowdown {policy}"));
    let columns: Vec<String> = policies.iter().map(|policy| (*policy).to_owned()).chain(slowdowns).collect();
    let mut table = figures_table([varies], columns);
    for row in part.chunks(policies.len().max(1)) {
        let Some(first) = row.first() else { continue };
        let fulfilled = row.iter().map(|point| with_half(point.fulfilled_percent, point.fulfilled_percent_interval, 1));
        let slowdown = row.iter().map(|point| {
            point
                .mean_slowdown
                .zip(point.mean_slowdown_interval)
                .map_or_else(|| NOT_KNOWN.to_owned(), |(mean, ends)| with_half(mean, ends, 2))
        });
        table.add_row([first.x.to_string()].into_iter().chain(fulfilled).chain(slowdown));
    }
    table
}

/// A mean and half of its interval.
fn with_half(mean: f64, [lower, upper]: [f64; 2], digits: usize) -> String {
    format!("{mean:.digits$} ± {:.digits$}", (upper - lower) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_policies_beside_one_another_with_their_intervals() {
        let point = |x, policy, fulfilled_percent: f64| PointReport {
            figure: 1,
            varies: "arrival delay factor",
            x,
            policy,
            estimates: "actual",
            high_urgency_percent: 20.0,
            fulfilled_percent,
            fulfilled_percent_interval: [fulfilled_percent - 0.5, fulfilled_percent + 0.5],
            mean_slowdown: (policy == "edf").then_some(2.0),
            mean_slowdown_interval: (policy == "edf").then_some([1.9, 2.1]),
            accepted: 10.0,
            late: 1.0,
        };
        let points = [point(0.1, "edf", 30.0), point(0.1, "libra", 20.0), point(0.2, "edf", 40.0), point(0.2, "libra", 50.0)];
        let text = figure("arrival delay factor", &points.iter().collect::<Vec<_>>()).to_string();
        let rows: Vec<String> = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(rows[0], "arrival delay factor edf libra slowdown edf slowdown libra");
        assert_eq!(rows[1], "0.1 30.0 ± 0.5 20.0 ± 0.5 2.00 ± 0.10 -");
        assert_eq!(rows[2], "0.2 40.0 ± 0.5 50.0 ± 0.5 2.00 ± 0.10 -");
    }
}
