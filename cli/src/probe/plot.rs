//! The picture: what of the partition is taken by the plan, and the best slot in it.

use std::path::Path;

use command_parts::output::count;
use command_parts::plot::{self, DIAGRAM, SlotInPlan};
use job_types::time::UnixTime;

use super::Report;

/// Draws the plan of the partition until the end of the window into a file.
///
/// # Errors
///
/// Nothing of the partition is planned, or the file can't be written.
pub(super) fn draw(path: &Path, report: &Report, free: &[(UnixTime, u32)], (cpus, all_nodes): (u32, u32)) -> anyhow::Result<()> {
    anyhow::ensure!(!free.is_empty() && cpus > 0, "--plot: nothing is planned for this partition, so there is nothing to draw");
    let hours = |at: i64| (at - report.now.0) as f64 / 3_600.0;
    let request = &report.answer.request;
    let diagram = SlotInPlan {
        title: format!("{} in {}: the plan, and the best slot", nodes(request.nodes), report.job.partition),
        until: hours(request.latest).max(1.0),
        all: f64::from(cpus),
        taken: free.iter().map(|(at, free)| (hours(at.0).max(0.0), f64::from(cpus.saturating_sub(*free)))).collect(),
        window: (hours(request.earliest).max(0.0), hours(request.latest)),
        slot: report.answer.chosen().map(|slot| (hours(slot.start), hours(slot.end), f64::from(report.slot_cpus(cpus, all_nodes)))),
    };
    plot::write(path, DIAGRAM, |area| plot::slot_in_plan(area, &diagram))
}

fn nodes(number: u32) -> String {
    format!("{} {}", count(number.into()), if number == 1 { "node" } else { "nodes" })
}
