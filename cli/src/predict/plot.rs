//! The picture: the probability of starting over time, and the ranges of run times.

use std::path::Path;

use command_parts::output::count;
use command_parts::plot::{self, Area, CumulativeStart, DIAGRAM, RunTimeRanges};

use super::Report;

/// Draws what is forecast of the job into a file: two diagrams, or the one for which there is a
/// forecast.
///
/// # Errors
///
/// Nothing is known that could be drawn, or the file can't be written.
pub(super) fn draw(path: &Path, report: &Report) -> anyhow::Result<()> {
    let Report { prediction, .. } = report;
    let job = &prediction.job;
    let nodes = format!("{} {}", count(job.nodes.into()), if job.nodes == 1 { "node" } else { "nodes" });
    let wait = prediction
        .wait
        .as_ref()
        .filter(|wait| !wait.percentiles_s.is_empty())
        .map(|wait| CumulativeStart { title: format!("Wait of {nodes} in {}", job.partition), bounds: wait.percentiles_s.clone() });
    let ranges: Vec<_> = prediction.run_time.ranges.iter().map(|range| (range.lower_s, range.upper_s, range.probability)).collect();
    let run_time = (!ranges.is_empty()).then(|| RunTimeRanges { title: format!("Run time of {nodes} in {}", job.partition), ranges });
    type Draw<'a> = Box<dyn Fn(&Area<'_>) -> anyhow::Result<()> + 'a>;
    let mut diagrams: Vec<Draw<'_>> = Vec::new();
    if let Some(wait) = &wait {
        diagrams.push(Box::new(|area| plot::cumulative_start(area, wait)));
    }
    if let Some(run_time) = &run_time {
        diagrams.push(Box::new(|area| plot::run_time_ranges(area, run_time)));
    }
    anyhow::ensure!(!diagrams.is_empty(), "--plot: neither past waits nor past run times are known, so there is nothing to draw");
    plot::write(path, (DIAGRAM.0 * diagrams.len() as u32, DIAGRAM.1), |area| {
        let areas = area.split_evenly((1, diagrams.len()));
        areas.iter().zip(&diagrams).try_for_each(|(area, draw)| draw(area))
    })
}
