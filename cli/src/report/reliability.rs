//! The picture of a report: the probability that was promised against the part that was kept, a
//! line for each partition and one for all.

use std::path::Path;

use command_parts::plot::{self, DIAGRAM, Reliability, Series};

/// A point of the picture: the partition (`None` is all), the probability that was promised in the
/// mean, and the part that was kept.
pub(super) type Point<'a> = (Option<&'a str>, f64, f64);

/// Draws the picture into a file. Points of one partition follow each other.
///
/// # Errors
///
/// There are no points, or the file can't be written.
pub(super) fn draw<'a>(
    path: &Path,
    title: String,
    observed: &'static str,
    nothing: &str,
    points: impl Iterator<Item = Point<'a>>,
) -> anyhow::Result<()> {
    let mut series: Vec<Series<[f64; 2]>> = Vec::new();
    for (partition, promised, kept) in points {
        let name = partition.unwrap_or("all partitions");
        match series.last_mut() {
            Some(last) if last.name == name => last.points.push([promised, kept]),
            _ => series.push(Series { name: name.to_owned(), points: vec![[promised, kept]], is_ours: partition.is_none() }),
        }
    }
    anyhow::ensure!(!series.is_empty(), "--plot: {nothing}, so there is nothing to draw");
    let diagram = Reliability { title, observed, series };
    plot::write(path, DIAGRAM, |area| plot::reliability(area, &diagram))
}
