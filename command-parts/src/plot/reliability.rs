//! The reliability diagram: how often what was forecast with a probability came true.

use plotters::element::{Circle, PathElement};
use plotters::series::{DashedLineSeries, LineSeries};
use plotters::style::{Color, RGBColor};

use super::axis::Axis;
use super::frame::{Lines, framed, legend};
use super::{Area, Series};

/// What the part is of where quantiles are held against what happened.
pub const AT_OR_BELOW: &str = "part of the jobs at or below the quantile";

/// Nominal against observed probability.
#[derive(Debug)]
pub struct Reliability {
    /// What stands above the diagram.
    pub title: String,
    /// What was observed.
    pub observed: &'static str,
    /// Points are the nominal and the observed probability.
    pub series: Vec<Series<[f64; 2]>>,
}

/// Draws the diagram. A forecast whose probabilities are right lies on the diagonal.
///
/// # Errors
///
/// The diagram can't be drawn.
pub fn reliability(area: &Area<'_>, diagram: &Reliability) -> anyhow::Result<()> {
    let mut chart =
        framed(area, &diagram.title, (Axis::probability(), "forecast probability"), (Axis::probability(), diagram.observed), Lines::Both)?;
    let grey = RGBColor(120, 120, 120);
    chart
        .draw_series(DashedLineSeries::new([(0.0, 0.0), (1.0, 1.0)], 6, 5, grey.stroke_width(1)))?
        .label("as it should be")
        .legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], grey));
    for (place, series) in diagram.series.iter().enumerate() {
        let style = series.style(place);
        let points = || series.points.iter().map(|[nominal, observed]| (*nominal, observed.clamp(0.0, 1.0)));
        chart
            .draw_series(LineSeries::new(points(), style))?
            .label(&series.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], style));
        let marker = series.marker() - 1;
        chart.draw_series(points().map(|point| Circle::new(point, marker, style.filled())))?;
    }
    legend(&mut chart)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawn;
    use super::*;

    #[test]
    fn the_axes_and_the_lines_are_named() {
        let points = vec![[0.25, 0.3], [0.5, 0.5]];
        let diagram = Reliability {
            title: "A log".to_owned(),
            observed: "part of the jobs",
            series: vec![Series { name: "ours".to_owned(), points, is_ours: true }],
        };
        let svg = drawn(|area| reliability(area, &diagram));
        for text in ["A log", "forecast probability", "part of the jobs", "ours", "as it should be", "0.5"] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
