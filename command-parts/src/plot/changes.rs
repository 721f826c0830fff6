//! Changes of a figure by what was changed: a line for each, with dots to the left and right of no
//! change.

use std::ops::Range;

use plotters::element::{Circle, PathElement, Rectangle, Text};
use plotters::style::{BLACK, Color};

use super::axis::Axis;
use super::frame::{Lines, framed};
use super::over_time::round_steps;
use super::{Area, COLOURS, GRID, letters, plain};

/// One line.
#[derive(Debug)]
pub struct Change {
    /// What was changed.
    pub name: String,
    /// The differences of the figure, one for each time that the change was tried.
    pub values: Vec<f64>,
    /// Whether it is one that the picture is about.
    pub is_ours: bool,
}

/// Changes of one figure.
#[derive(Debug)]
pub struct Changes {
    /// What stands above the diagram.
    pub title: String,
    /// What changes, with its unit.
    pub what: &'static str,
    /// Changes up to this may be chance; 0 where that is not known.
    pub within_chance: f64,
    /// The lines, from the uppermost.
    pub rows: Vec<Change>,
}

/// The largest change that has its place on the axis; larger ones stand at its end, with their
/// figures.
pub(super) const MOST: f64 = 100.0;

/// An axis of changes that has the place of no change on it, with its ends. `least` is at most 0
/// and `most` at least 0.
pub(super) fn around_zero(least: f64, most: f64) -> (Range<f64>, Axis) {
    let steps = round_steps(most.max(-least).max(1.0));
    let step = steps.get(1).copied().unwrap_or(1.0);
    let (left, right) = ((least / step).floor() * step, (most / step).ceil() * step);
    // The axis reaches at least one step to each side of 0, so that the place of "no change" lies
    // within the picture.
    let (left, right) = (left.min(-step), right.max(step));
    let marks = (0..).map(|mark| left + f64::from(mark) * step).take_while(|mark| *mark <= right + step / 2.0);
    let name = |mark: f64| if mark < -1e-9 { format!("-{}", plain(-mark)) } else { plain(mark.max(0.0)) };
    let marks = marks.map(|mark| (mark, name(mark))).collect();
    (left..right, Axis::linear(left..right, marks))
}

/// Draws the diagram: the first line is the uppermost.
///
/// # Errors
///
/// The diagram can't be drawn.
pub fn changes(area: &Area<'_>, diagram: &Changes) -> anyhow::Result<()> {
    let values = || diagram.rows.iter().flat_map(|row| row.values.iter().copied()).filter(|value| value.is_finite());
    let chance = diagram.within_chance;
    // A very large change would leave no room for the others to be told apart.
    let within = |value: f64| value.clamp(-MOST, MOST);
    let (least, most) =
        values().map(within).fold((-within(chance), within(chance)), |(least, most), value| (least.min(value), most.max(value)));
    let (Range { start: left, end: right }, axis) = around_zero(least, most);
    let rows = diagram.rows.len().max(1) as f64;
    let x = (axis, diagram.what);
    let mut chart = framed(area, &diagram.title, x, (Axis::linear(0.0..rows, Vec::new()), ""), Lines::Both)?;
    if chance > 0.0 {
        chart.draw_series([Rectangle::new([(-chance, 0.0), (chance, rows)], GRID.filled())])?;
    }
    chart.draw_series([PathElement::new([(0.0, 0.0), (0.0, rows)], BLACK.stroke_width(1))])?;
    for (place, row) in diagram.rows.iter().enumerate() {
        let height = rows - place as f64 - 0.72;
        chart.draw_series([Text::new(row.name.clone(), (left, height + 0.6), letters(14.0))])?;
        let Some(colour) = COLOURS.get(if row.is_ours { 4 } else { 5 }) else { continue };
        let (low, high) =
            row.values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(*value), high.max(*value)));
        if low.is_finite() {
            chart.draw_series([PathElement::new([(within(low), height), (within(high), height)], colour.stroke_width(2))])?;
        }
        chart.draw_series(row.values.iter().map(|value| Circle::new((within(*value), height), 5, colour.filled())))?;
        if high > MOST {
            // To the left of the dot, which stands at the right end.
            let place = (MOST - 0.13 * (right - left), height + 0.12);
            chart.draw_series([Text::new(format!("+{} %", plain(high.round())), place, letters(14.0))])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawn;
    use super::*;

    #[test]
    fn each_line_is_named_and_names_stay_text() {
        let row = |name: &str, values: Vec<f64>| Change { name: name.to_owned(), values, is_ours: false };
        let rows = vec![row("EASY", vec![-12.0, -9.0]), row("<b>&", vec![130.0]), row("nothing", Vec::new())];
        let diagram = Changes { title: "Responses".to_owned(), what: "change (%)", within_chance: 2.5, rows };
        let svg = drawn(|area| changes(area, &diagram));
        for text in ["Responses", "change (%)", "EASY", "&lt;b&gt;&amp;", "nothing", "-20", "100", "+130 %"] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(!svg.contains("<b>"));
    }

    #[test]
    fn nothing_that_changes_can_be_drawn_as_well() {
        let diagram = Changes { title: "Responses".to_owned(), what: "change (%)", within_chance: 0.0, rows: Vec::new() };
        drawn(|area| changes(area, &diagram));
    }
}
