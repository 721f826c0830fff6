//! The picture: the probability that was promised against the part that was kept, a line for each
//! partition and one for all.

use std::path::Path;

use super::Report;
use super::tally::Row;
use crate::plot::{self, DIAGRAM, Reliability, Series};

/// Draws the picture into a file.
///
/// # Errors
///
/// There were no reservations, or the file can't be written.
pub(super) fn draw(path: &Path, report: &Report) -> anyhow::Result<()> {
    anyhow::ensure!(!report.is_empty(), "--plot: there were no reservations, so there is nothing to draw");
    let diagram = diagram(report);
    plot::write(path, DIAGRAM, |area| plot::reliability(area, &diagram))
}

fn diagram(report: &Report) -> Reliability {
    let mut series: Vec<Series<[f64; 2]>> = Vec::new();
    let all = report.all.iter().map(|row| ("all partitions", row, true));
    let by_partition = report.rows.iter().map(|row| (row.partition.as_deref().unwrap_or_default(), row, false));
    for (name, row, is_ours) in by_partition.chain(all) {
        let Row { promised, kept_part, .. } = *row;
        match series.last_mut() {
            Some(last) if last.name == name => last.points.push([promised, kept_part]),
            _ => series.push(Series { name: name.to_owned(), points: vec![[promised, kept_part]], is_ours }),
        }
    }
    Reliability { title: format!("{}: virtual reservations", report.cluster), observed: "part of the reservations that were kept", series }
}
