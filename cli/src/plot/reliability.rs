//! The reliability diagram: how often what was forecast with a probability came true.

use plotters::chart::{ChartBuilder, SeriesLabelPosition};
use plotters::element::{Circle, PathElement};
use plotters::series::{DashedLineSeries, LineSeries};
use plotters::style::{BLACK, Color, RGBColor, WHITE};

use super::axis::Axis;
use super::{Area, GRID, Series, letters};

/// Nominal against observed probability.
#[derive(Debug)]
pub(crate) struct Reliability {
    pub(crate) title: String,
    /// Points are the nominal and the observed probability.
    pub(crate) series: Vec<Series<[f64; 2]>>,
}

/// Draws the diagram. A forecast whose probabilities are right lies on the diagonal.
pub(crate) fn reliability(area: &Area<'_>, diagram: &Reliability) -> anyhow::Result<()> {
    let mut chart = ChartBuilder::on(area)
        .caption(&diagram.title, letters(20.0))
        .margin(12)
        .x_label_area_size(48)
        .y_label_area_size(60)
        .build_cartesian_2d(Axis::probability(), Axis::probability())?;
    chart
        .configure_mesh()
        .bold_line_style(GRID)
        .light_line_style(WHITE)
        .label_style(letters(14.0))
        .axis_desc_style(letters(16.0))
        .x_desc("forecast probability")
        .y_desc("part of the jobs at or below the quantile")
        .draw()?;
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
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.3))
        .label_font(letters(14.0))
        .draw()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawn;
    use super::*;

    #[test]
    fn the_axes_and_the_lines_are_named() {
        let points = vec![[0.25, 0.3], [0.5, 0.5]];
        let diagram = Reliability { title: "A log".to_owned(), series: vec![Series { name: "ours".to_owned(), points, is_ours: true }] };
        let svg = drawn(|area| reliability(area, &diagram));
        for text in ["A log", "forecast probability", "part of the jobs", "ours", "as it should be", "0.5"] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
