//! Pictures of figures, as SVG and PNG.

mod axis;
mod changes;
mod changes_over_time;
mod classes;
mod distribution;
mod forecast;
mod frame;
mod gantt;
mod lines;
mod over_time;
mod png;
mod reliability;
mod reservation;
mod slot;
mod trade_off;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::style::colors::WHITE;
use plotters::style::{BLACK, Color, RGBAColor, RGBColor, ShapeStyle, TextStyle};
use plotters::style::{FontDesc, FontFamily, FontStyle, IntoTextStyle};

pub use self::changes::{Change, Changes, changes};
pub use self::changes_over_time::{ChangeAt, ChangesOverTime, changes_over_time};
pub use self::classes::{ErrorsByClass, errors_by_class};
pub use self::distribution::{Values, distribution};
pub use self::forecast::{CumulativeStart, RunTimeRanges, cumulative_start, run_time_ranges};
pub use self::gantt::{Gantt, GanttJob, gantt};
pub use self::lines::{LineChart, line_chart};
pub use self::over_time::{OverTime, over_time};
pub use self::reliability::{AT_OR_BELOW, Reliability, reliability};
pub use self::reservation::{Trajectory, WaitsAndBounds, trajectory, waits_and_bounds};
pub use self::slot::{SlotInPlan, slot_in_plan};
pub use self::trade_off::{TradeOff, TradeOffPoint, cost_by_begin, probability_by_begin};

/// A part of a picture.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Size of one diagram, in points of the screen.
pub const DIAGRAM: (u32, u32) = (720, 480);

/// Colours that people who do not tell red from green can tell apart (M. Okabe and K. Ito, "Color
/// Universal Design").
const COLOURS: [RGBColor; 7] = [
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(150, 140, 40),
];

/// The colour of grid lines.
const GRID: RGBColor = RGBColor(225, 225, 225);

/// One line of a diagram.
#[derive(Debug, Clone)]
pub struct Series<P> {
    /// What the legend calls it.
    pub name: String,
    /// The points that the line goes through, in the order in which they are drawn.
    pub points: Vec<P>,
    /// Whether it is the one that the picture is about.
    pub is_ours: bool,
}

impl<P> Series<P> {
    /// The style of the line that stands in this place among those that are not ours.
    fn style(&self, place: usize) -> ShapeStyle {
        let colour: RGBAColor = if self.is_ours { BLACK.to_rgba() } else { COLOURS.get(place % COLOURS.len()).unwrap_or(&BLACK).to_rgba() };
        colour.stroke_width(if self.is_ours { 3 } else { 2 })
    }

    /// The radius of its markers.
    fn marker(&self) -> i32 {
        if self.is_ours { 5 } else { 4 }
    }
}

/// Reads the name of a file to draw into.
///
/// # Errors
///
/// The name ends neither in .svg nor in .png.
pub fn file(name: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(name);
    let known = ["svg", "png"].iter().any(|ending| has_ending(&path, ending));
    if known { Ok(path) } else { Err("the picture is an SVG or PNG file, and its name has to end in .svg or .png".to_owned()) }
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

/// Says, before long work, that there is no folder to write a file into.
///
/// # Errors
///
/// The folder of the file is not there.
pub fn check_folder(path: Option<&Path>) -> anyhow::Result<()> {
    if let Some(folder) = path.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty()) {
        ensure!(folder.is_dir(), "there is no folder {} to write into; make it first", folder.display());
    }
    Ok(())
}

/// Writes a picture of the given width and height.
///
/// # Errors
///
/// The file can't be written.
pub fn write(path: &Path, size: (u32, u32), draw: impl FnOnce(&Area<'_>) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let svg = svg(size, draw).context("cannot draw the picture")?;
    let picture = if has_ending(path, "png") { png::rendered(&svg).context("cannot draw the picture")? } else { svg.into_bytes() };
    fs::write(path, picture).with_context(|| format!("cannot write the picture {}", path.display()))
}

/// Writes a picture with a row of `columns` diagrams for each of `rows`.
///
/// # Errors
///
/// The file can't be written.
pub fn write_rows<R>(
    path: &Path,
    columns: usize,
    rows: &[R],
    draw_row: impl Fn(&[Area<'_>], &R) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let size = (DIAGRAM.0 * columns as u32, DIAGRAM.1 * rows.len().max(1) as u32);
    write(path, size, |area| {
        let areas = area.split_evenly((rows.len().max(1), columns));
        areas.chunks(columns.max(1)).zip(rows).try_for_each(|(areas, row)| draw_row(areas, row))
    })
}

/// A picture of the given width and height as SVG, for a page that has it in itself.
///
/// # Errors
///
/// It can't be drawn.
pub fn inline(size: (u32, u32), draw: impl FnOnce(&Area<'_>) -> anyhow::Result<()>) -> anyhow::Result<String> {
    svg(size, draw).context("cannot draw the picture")
}

fn svg(size: (u32, u32), draw: impl FnOnce(&Area<'_>) -> anyhow::Result<()>) -> anyhow::Result<String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        area.fill(&WHITE)?;
        draw(&area)?;
        area.present()?;
    }
    Ok(svg)
}

/// The font of all texts, at a size in pixels.
fn letters(size: f64) -> TextStyle<'static> {
    FontDesc::new(FontFamily::SansSerif, size, FontStyle::Normal).into_text_style(&(0, 0))
}

/// The powers of ten from the one at or below `least` to the one at or above `most`, both positive.
fn powers_of_ten(least: f64, most: f64) -> Vec<f64> {
    let (first, last) = (least.log10().floor() as i32, most.log10().ceil() as i32);
    (first..=last.max(first + 1)).map(|power| 10_f64.powi(power)).collect()
}

/// A number of an axis, without zeros that tell nothing.
fn plain(value: f64) -> String {
    if value >= 1_000.0 { crate::output::count(value.round() as u64) } else { format!("{}", (value * 1e6).round() / 1e6) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture drawn in memory.
    pub(super) fn drawn(draw: impl FnOnce(&Area<'_>) -> anyhow::Result<()>) -> String {
        svg(DIAGRAM, draw).unwrap()
    }

    #[test]
    fn a_picture_is_an_svg_or_png_file() {
        assert!(file("waits.svg").is_ok() && file("a/B.SVG").is_ok() && file("waits.png").is_ok());
        assert!(file("waits.pdf").is_err() && file("svg").is_err());
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        assert!(check_folder(Some(Path::new("here.svg"))).is_ok());
        let error = check_folder(Some(Path::new("/no/such/folder/picture.svg"))).unwrap_err();
        assert!(error.to_string().contains("/no/such/folder"), "{error}");
    }

    #[test]
    fn an_axis_goes_from_power_to_power_of_ten() {
        assert_eq!(powers_of_ten(0.03, 40.0), [0.01, 0.1, 1.0, 10.0, 100.0]);
        assert_eq!(powers_of_ten(1.0, 1.0), [1.0, 10.0]);
        assert_eq!([0.01, 0.1, 1.0, 1_000.0].map(plain), ["0.01", "0.1", "1", "1,000"]);
    }
}
