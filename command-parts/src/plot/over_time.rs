//! Something that changes over time.

use plotters::series::{AreaSeries, LineSeries};
use plotters::style::Color;

use super::axis::Axis;
use super::frame::{Lines, framed};
use super::{Area, COLOURS, plain};

/// A figure over time.
#[derive(Debug)]
pub struct OverTime {
    /// What stands above the diagram.
    pub title: String,
    /// What it is, with its unit.
    pub what: &'static str,
    /// Days, and the figure from then on.
    pub points: Vec<(f64, f64)>,
    /// What the axis of time says: in days, since when.
    pub time: &'static str,
    /// The top of the axis; `None` is what the highest point needs.
    pub top: Option<f64>,
    /// Index of its colour among those of diagrams.
    pub colour: usize,
}

/// Round steps of an axis from 0 to `most`, about six of them.
pub(super) fn round_steps(most: f64) -> Vec<f64> {
    let most = if most > 0.0 { most } else { 1.0 };
    let power = 10_f64.powf((most / 6.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| most / step <= 6.0).unwrap_or(most);
    (0..=7).map(|number| f64::from(number) * step).take_while(|mark| *mark < most + step).collect()
}

/// Draws the diagram.
///
/// # Errors
///
/// The diagram can't be drawn.
pub fn over_time(area: &Area<'_>, diagram: &OverTime) -> anyhow::Result<()> {
    let last_day = diagram.points.last().map_or(1.0, |point| point.0);
    let first_day = diagram.points.first().map_or(0.0, |point| point.0);
    let highest = diagram.points.iter().map(|point| point.1).fold(0.0, f64::max);
    let marks = round_steps(diagram.top.unwrap_or(highest));
    let top = marks.last().copied().unwrap_or(1.0);
    let days = round_steps(last_day).into_iter().filter(|day| (first_day..=last_day).contains(day));
    let x = Axis::linear(first_day..last_day, days.map(|day| (day, plain(day))).collect());
    let y = Axis::linear(0.0..top, marks.into_iter().map(|mark| (mark, plain(mark))).collect());
    let mut chart = framed(area, &diagram.title, (x, diagram.time), (y, diagram.what), Lines::FromY)?;
    let Some(colour) = COLOURS.get(diagram.colour) else { return Ok(()) };
    // Each point holds until the next.
    let ends = diagram.points.iter().skip(1).map(|point| point.0).chain([last_day]);
    let steps: Vec<(f64, f64)> = diagram.points.iter().zip(ends).flat_map(|(&(from, value), to)| [(from, value), (to, value)]).collect();
    chart.draw_series(AreaSeries::new(steps.iter().copied(), 0.0, colour.mix(0.25)))?;
    chart.draw_series(LineSeries::new(steps, colour.stroke_width(1)))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawn;
    use super::*;

    #[test]
    fn steps_are_round() {
        assert_eq!(round_steps(100.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(round_steps(7.0), [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(round_steps(0.0).first(), Some(&0.0));
    }

    #[test]
    fn the_axes_say_what_they_are() {
        let points = vec![(0.0, 50.0), (10.0, 80.0), (20.0, 10.0)];
        let diagram = OverTime {
            title: "A log".to_owned(),
            what: "in use (%)",
            points,
            time: "days since the first submission",
            top: Some(100.0),
            colour: 0,
        };
        let svg = drawn(|area| over_time(area, &diagram));
        for text in ["A log", "in use (%)", "days since the first submission", "100", "20"] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
