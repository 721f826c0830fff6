//! Waits beside their bounds, and the probability trajectory of a reservation.

use anyhow::ensure;
use plotters::element::Circle;
use plotters::series::LineSeries;
use plotters::style::{BLACK, Color};

use super::axis::Axis;
use super::frame::{Lines, framed};
use super::over_time::round_steps;
use super::{Area, COLOURS, plain, powers_of_ten};

/// Waits of jobs and the bounds on them.
#[derive(Debug)]
pub struct WaitsAndBounds {
    /// What stands above the diagram.
    pub title: String,
    /// Days since the first of them, the wait in seconds, and its bound where one was known.
    pub waits: Vec<(f64, f64, Option<f64>)>,
}

/// How probably a job that is submitted at a time has its nodes by the reserved one.
#[derive(Debug)]
pub struct Trajectory {
    /// What stands above the diagram.
    pub title: String,
    /// Hours from now until it is submitted, and the probability.
    pub points: Vec<(f64, f64)>,
}

fn from_zero(most: f64) -> Axis {
    Axis::linear(0.0..most.max(1.0), round_steps(most).into_iter().map(|mark| (mark, plain(mark))).collect())
}

/// Draws each wait as a point and the bounds as a line. Waits of less than a second lie at one.
///
/// # Errors
///
/// There are no waits.
pub fn waits_and_bounds(area: &Area<'_>, diagram: &WaitsAndBounds) -> anyhow::Result<()> {
    ensure!(!diagram.waits.is_empty(), "there are no waits to draw");
    let last = diagram.waits.iter().map(|(day, ..)| *day).fold(0.0, f64::max);
    let most = diagram.waits.iter().map(|(_, wait, bound)| wait.max(bound.unwrap_or(0.0))).fold(1.0, f64::max);
    let marks = powers_of_ten(1.0, most);
    let top = marks.last().copied().unwrap_or(most);
    let y = Axis::logarithmic(1.0..top, marks.into_iter().map(|mark| (mark, plain(mark))).collect());
    let x = (from_zero(last), "days since the first submission");
    let mut chart = framed(area, &diagram.title, x, (y, "wait (s); line: bound on the 95th percentile"), Lines::Both)?;
    let points = diagram.waits.iter().map(|(day, wait, _)| (*day, wait.max(1.0)));
    chart.draw_series(points.map(|point| Circle::new(point, 2, COLOURS[1].filled())))?;
    let bounds = diagram.waits.iter().filter_map(|(day, _, bound)| Some((*day, bound.as_ref()?.max(1.0))));
    chart.draw_series(LineSeries::new(bounds, BLACK.stroke_width(2)))?;
    Ok(())
}

/// Draws the trajectory.
///
/// # Errors
///
/// The diagram can't be drawn.
pub fn trajectory(area: &Area<'_>, diagram: &Trajectory) -> anyhow::Result<()> {
    let last = diagram.points.iter().map(|(hour, _)| *hour).fold(0.0, f64::max);
    let x = (from_zero(last), "hours until the job is submitted");
    let mut chart = framed(area, &diagram.title, x, (Axis::probability(), "probability of a start in time"), Lines::Both)?;
    chart.draw_series(LineSeries::new(diagram.points.iter().copied(), COLOURS[5].stroke_width(2)))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawn;
    use super::*;

    #[test]
    fn the_axes_say_what_they_are() {
        let waits = WaitsAndBounds { title: "A queue".to_owned(), waits: vec![(0.0, 0.0, None), (3.0, 900.0, Some(4_000.0))] };
        let svg = drawn(|area| waits_and_bounds(area, &waits));
        for text in ["A queue", "wait (s)", "95th percentile", "days since", "10,000"] {
            assert!(svg.contains(text), "{text}");
        }
        let points = Trajectory { title: "A job".to_owned(), points: vec![(0.0, 0.3), (6.0, 0.7), (12.0, 0.0)] };
        let svg = drawn(|area| trajectory(area, &points));
        for text in ["A job", "hours until", "probability of a start", "0.5"] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
