//! The picture: the probability and the cost, by when the job becomes eligible.

use std::path::Path;

use command_parts::output::count;
use command_parts::plot::{self, DIAGRAM, TradeOff, TradeOffPoint};
use job_types::time::Seconds;

use super::Report;

/// Draws two diagrams beside each other into a file.
///
/// # Errors
///
/// Nothing is known that could be drawn, or the file can't be written.
pub(super) fn draw(path: &Path, report: &Report) -> anyhow::Result<()> {
    let points = report.trajectory.iter().flat_map(|trajectory| &trajectory.points);
    let points: Vec<_> = points
        .map(|point| TradeOffPoint {
            ahead: Seconds(report.at.0 - point.begin),
            probability: point.probability,
            most_node_hours: point.cost.most_node_hours,
            expected_node_hours: point.cost.expected_node_hours,
        })
        .collect();
    anyhow::ensure!(
        !points.is_empty(),
        "--plot: no past waits are known here, or the time is none to reserve, so there is nothing to draw"
    );
    let job = &report.job;
    let nodes = format!("{} {}", count(job.nodes.into()), if job.nodes == 1 { "node" } else { "nodes" });
    let diagram = TradeOff {
        title: format!("{nodes} in {} in {}", job.partition, report.at - report.now),
        points,
        chosen: report.reservation.map(|given| Seconds(report.at.0 - given.begin)),
    };
    plot::write(path, (DIAGRAM.0 * 2, DIAGRAM.1), |area| match area.split_evenly((1, 2)).as_slice() {
        [left, right, ..] => plot::probability_by_begin(left, &diagram).and_then(|()| plot::cost_by_begin(right, &diagram)),
        _ => Ok(()),
    })
}
