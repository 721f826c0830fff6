//! The report for people.

use command_parts::output::{Lines, count};

use simulator::economy::year::fit::Fitted;

use super::EconomyReport;
use super::run::Run;
use crate::evaluate::tables::{figure, figures_table, percent};

/// One log after the other.
pub(super) fn report(reports: &[EconomyReport]) -> String {
    let mut lines = Lines::default();
    for report in reports {
        of_log(&mut lines, report);
    }
    lines.text()
}

fn of_log(lines: &mut Lines, report: &EconomyReport) {
    let [jobs, nodes, ineligible] = [report.log.jobs as u64, report.log.nodes.into(), report.log.ineligible as u64].map(count);
    let users = report.log.users.map(|users| format!(" of {} users", count(users as u64))).unwrap_or_default();
    lines.line("log", format!("{}: {jobs} jobs{users}, on {nodes} nodes or processors", report.log.name));
    if report.log.ineligible > 0 {
        lines.line("ineligible", format!("{ineligible} jobs, which never ran or want more than the machine has"));
    }
    if !report.left_out.is_empty() {
        lines.line("left out", format!("{}: the log does not say whose each job is", report.left_out.join(", ")));
    }
    let mut modules: Vec<&str> = report.runs.iter().map(|run| run.module.as_str()).collect();
    modules.dedup();
    for module in modules {
        lines.heading(&format!("Jobs that bid: {module}"));
        lines.table(&table(report.runs.iter().filter(|run| run.module == module)));
    }
    if let Some(fit) = &report.log.fit {
        lines.heading("How near the made-up year comes to what is told of the published one");
        lines.table(&fit_table(fit));
        lines.plain("in brackets as published: Geweke 2000, table 7.2-I");
    }
    lines.plain("delays in minutes: all of it, of which until the first start, while suspended, and lost to others on the same nodes;");
    lines.plain(
        "weighted: the sum of bid, nodes and delay in minutes, in credits; centre: the mean bid weighted by delay, and by dilation,",
    );
    lines.plain("which is the time in the queue and on nodes by the run time, in whole minutes");
}

fn fit_table(fit: &[Fitted]) -> comfy_table::Table {
    let mut table = figures_table(["what"], ["published", "made up", "off, %"]);
    for fitted in fit {
        table.add_row([
            fitted.what.clone(),
            figure(Some(&fitted.published)),
            figure(Some(&fitted.ours)),
            format!("{:+.1}", fitted.off() * 100.0),
        ]);
    }
    table
}

fn beside(ours: Option<f64>, published: Option<f64>) -> String {
    let ours = figure(ours.as_ref());
    published.map_or_else(|| ours.clone(), |published| format!("{ours} ({})", figure(Some(&published))))
}

fn table<'a>(runs: impl Iterator<Item = &'a Run>) -> comfy_table::Table {
    let columns = [
        "delay",
        "95 %",
        "longest",
        "until start",
        "suspended",
        "shared",
        "suspensions a job",
        "in use",
        "revenue",
        "weighted",
        "centre",
        "by dilation",
    ];
    let mut table = figures_table(["by"], columns);
    for run in runs {
        let found = &run.summary;
        let a_job = found.suspensions as f64 / found.jobs.max(1) as f64;
        let minutes = [found.mean_delay_min, found.p95_delay_min, found.max_delay_min, found.dq_min, found.ds_min, found.dl_min, a_job];
        let mut row = vec![run.scheduler.clone()];
        row.extend(minutes.iter().map(|value| figure(Some(value))));
        row.push(percent(Some(&run.utilisation)));
        row.extend([
            figure(run.price_rule.as_ref().map(|_| &found.revenue)),
            figure(Some(&found.weighted_delay)),
            beside(found.centre_delay, run.published_centre_delay),
            beside(found.centre_dilation, run.published_centre_dilation),
        ]);
        table.add_row(row);
    }
    table
}
