//! The picture: who waits, by what they bid.

use std::path::Path;

use command_parts::plot::{self, LineChart, Series};

use super::EconomyReport;

/// Draws, for each log and way of bidding, the mean delay of tenths of the jobs by their bids, a
/// line for each scheduler.
///
/// # Errors
///
/// The file can't be written.
pub(super) fn draw(path: &Path, reports: &[EconomyReport]) -> anyhow::Result<()> {
    let charts: Vec<LineChart> = reports.iter().flat_map(charts).collect();
    plot::write_rows(path, 1, &charts, |areas, chart| areas.iter().try_for_each(|area| plot::line_chart(area, chart)))
}

fn charts(report: &EconomyReport) -> Vec<LineChart> {
    let mut modules: Vec<&str> = report.runs.iter().map(|run| run.module.as_str()).collect();
    modules.dedup();
    let chart = |module: &str| {
        let runs = report.runs.iter().filter(|run| run.module == module);
        let series = runs.map(|run| {
            let tenths = run.mean_delay_by_bid_min.len().max(1) as f64;
            let point = |(place, delay): (usize, &f64)| [(place as f64 + 0.5) * 100.0 / tenths, *delay];
            let points = run.mean_delay_by_bid_min.iter().enumerate().map(point).collect();
            Series { name: run.scheduler.clone(), points, is_ours: run.scheduler == "vickrey-backfill" }
        });
        LineChart {
            title: format!("{}, {module}: who waits", report.log.name),
            varied: "jobs by their bids, from the lowest to the highest (%)",
            what: "mean delay (min)",
            top: None,
            series: series.collect(),
        }
    };
    modules.into_iter().map(chart).collect()
}
