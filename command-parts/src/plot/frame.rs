//! What all diagrams have around them: the title, two axes with what they measure, grid lines, and
//! the legend.

use plotters::backend::SVGBackend;
use plotters::chart::{ChartBuilder, ChartContext, SeriesLabelPosition};
use plotters::coord::cartesian::Cartesian2d;
use plotters::element::{Circle, PathElement};
use plotters::series::{DashedLineSeries, LineSeries};
use plotters::style::{BLACK, Color, RGBColor, ShapeStyle, WHITE};

use super::axis::Axis;
use super::{Area, GRID, Series, letters};

/// A diagram to draw into.
pub(super) type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<Axis, Axis>>;

/// Across which axes lines are drawn at the marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    Both,
    FromY,
    None,
}

/// Draws the title, the axes with what they measure, and the grid.
pub(super) fn framed<'a>(area: &Area<'a>, title: &str, x: (Axis, &str), y: (Axis, &str), lines: Lines) -> anyhow::Result<Chart<'a>> {
    let ((x, x_is), (y, y_is)) = (x, y);
    let mut chart = ChartBuilder::on(area)
        .caption(title, letters(20.0))
        .margin(12)
        // The last mark of an axis reaches beyond its end.
        .margin_right(28)
        .x_label_area_size(48)
        .y_label_area_size(72)
        .build_cartesian_2d(x, y)?;
    let mut mesh = chart.configure_mesh();
    match lines {
        Lines::Both => {}
        Lines::FromY => drop(mesh.disable_x_mesh()),
        Lines::None => drop(mesh.disable_mesh()),
    }
    mesh.bold_line_style(GRID)
        .light_line_style(WHITE)
        .label_style(letters(14.0))
        .axis_desc_style(letters(16.0))
        .x_desc(x_is)
        .y_desc(y_is)
        .draw()?;
    Ok(chart)
}

/// Draws a line and names it in the legend.
pub(super) fn named_line(
    chart: &mut Chart<'_>,
    name: &str,
    style: ShapeStyle,
    points: impl Iterator<Item = (f64, f64)>,
) -> anyhow::Result<()> {
    chart.draw_series(LineSeries::new(points, style))?.label(name).legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], style));
    Ok(())
}

/// Draws a thin dashed line to hold the others against, and names it in the legend.
pub(super) fn reference_line(chart: &mut Chart<'_>, name: &str, ends: [(f64, f64); 2]) -> anyhow::Result<()> {
    let grey = RGBColor(120, 120, 120);
    chart
        .draw_series(DashedLineSeries::new(ends, 6, 5, grey.stroke_width(1)))?
        .label(name)
        .legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], grey));
    Ok(())
}

/// Draws one of several lines, in the style of its place, with a marker at each point, and names it
/// in the legend. The radius of the markers is `smaller` points less than the usual.
pub(super) fn marked_line<P>(
    chart: &mut Chart<'_>,
    (place, series): (usize, &Series<P>),
    smaller: i32,
    points: impl Iterator<Item = (f64, f64)> + Clone,
) -> anyhow::Result<()> {
    let (style, marker) = (series.style(place), series.marker() - smaller);
    named_line(chart, &series.name, style, points.clone())?;
    chart.draw_series(points.map(|point| Circle::new(point, marker, style.filled())))?;
    Ok(())
}

/// Draws the names of the lines, at the lower right.
pub(super) fn legend(chart: &mut Chart<'_>) -> anyhow::Result<()> {
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.3))
        .label_font(letters(14.0))
        .draw()?;
    Ok(())
}
