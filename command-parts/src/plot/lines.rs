//! Figures over something that is varied, as lines from 0 on.

use super::axis::Axis;
use super::frame::{Lines, framed, legend, marked_line};
use super::over_time::round_steps;
use super::{Area, Series, plain};

/// Lines over one axis.
#[derive(Debug)]
pub struct LineChart {
    /// What stands above the diagram.
    pub title: String,
    /// What is varied.
    pub varied: &'static str,
    /// What the figures are, with their unit.
    pub what: &'static str,
    /// The top of the axis; `None` is what the highest point needs.
    pub top: Option<f64>,
    /// Points are the value of what is varied and the figure there.
    pub series: Vec<Series<[f64; 2]>>,
}

/// Draws the diagram.
///
/// # Errors
///
/// The diagram can't be drawn.
pub fn line_chart(area: &Area<'_>, diagram: &LineChart) -> anyhow::Result<()> {
    let all = || diagram.series.iter().flat_map(|series| series.points.iter());
    let (last, highest) = all().fold((0.0, 0.0), |(x, y): (f64, f64), point| (x.max(point[0]), y.max(point[1])));
    let marks = |most: f64| round_steps(most).into_iter().map(|mark| (mark, plain(mark))).collect::<Vec<_>>();
    let y_marks = marks(diagram.top.unwrap_or(highest));
    let top = y_marks.last().map_or(1.0, |mark| mark.0);
    let x_marks: Vec<(f64, String)> = marks(last).into_iter().filter(|mark| mark.0 <= last * 1.000_001).collect();
    let x = (Axis::linear(0.0..last.max(f64::MIN_POSITIVE), x_marks), diagram.varied);
    let mut chart = framed(area, &diagram.title, x, (Axis::linear(0.0..top, y_marks), diagram.what), Lines::Both)?;
    for (place, series) in diagram.series.iter().enumerate() {
        marked_line(&mut chart, (place, series), 1, series.points.iter().map(|[x, y]| (*x, *y)))?;
    }
    legend(&mut chart)
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawn;
    use super::*;

    #[test]
    fn the_axes_and_the_lines_are_named() {
        let diagram = LineChart {
            title: "Figure 1".to_owned(),
            varied: "arrival delay factor",
            what: "jobs, %",
            top: Some(100.0),
            series: vec![Series { name: "edf".to_owned(), points: vec![[0.0, 20.0], [1.0, 60.0]], is_ours: false }],
        };
        let svg = drawn(|area| line_chart(area, &diagram));
        for text in ["Figure 1", "arrival delay factor", "jobs, %", "edf", "100", "0.2"] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
