//! How values are distributed: the part of the jobs at or below each.

use anyhow::ensure;
use plotters::series::LineSeries;
use plotters::style::Color;

use super::axis::Axis;
use super::frame::{Lines, framed};
use super::{Area, COLOURS, plain, powers_of_ten};

/// The values of a figure over jobs, for one line of the diagram.
#[derive(Debug)]
pub struct Values {
    /// What stands above the diagram.
    pub title: String,
    /// What they are, with their unit.
    pub what: &'static str,
    /// The values, all of them positive.
    pub values: Vec<f64>,
}

/// Points that a line is drawn through.
const MOST_POINTS: usize = 400;

/// Draws the part of the jobs at or below each value, which lie by their logarithm.
///
/// # Errors
///
/// There are no values.
pub fn distribution(area: &Area<'_>, diagram: &Values) -> anyhow::Result<()> {
    let mut sorted = diagram.values.clone();
    sorted.sort_by(f64::total_cmp);
    let (least, most) = (sorted.first().copied().unwrap_or(0.0), sorted.last().copied().unwrap_or(0.0));
    ensure!(least > 0.0, "there are no values to draw");
    let marks = powers_of_ten(least, most);
    let (left, right) = (marks.first().copied().unwrap_or(least), marks.last().copied().unwrap_or(most));
    let mut chart = framed(
        area,
        &diagram.title,
        (Axis::logarithmic(left..right, marks.into_iter().map(|mark| (mark, plain(mark))).collect()), diagram.what),
        (Axis::probability(), "part of the jobs at or below"),
        Lines::Both,
    )?;
    let points = (0..=MOST_POINTS).filter_map(|point| {
        let place = point * (sorted.len() - 1) / MOST_POINTS;
        Some((sorted.get(place).copied()?, (place + 1) as f64 / sorted.len() as f64))
    });
    let points = std::iter::once((least, 0.0)).chain(points);
    let Some(colour) = COLOURS.get(5) else { return Ok(()) };
    chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawn;
    use super::*;

    #[test]
    fn the_axes_say_what_they_are() {
        let diagram = Values { title: "A log".to_owned(), what: "bounded slowdown", values: vec![1.0, 3.0, 400.0] };
        let svg = drawn(|area| distribution(area, &diagram));
        for text in ["A log", "bounded slowdown", "part of the jobs at or below", "1,000", "0.5"] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
