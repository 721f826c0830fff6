//! The forecast for one job: the probability of starting within a time, and the ranges that its run
//! time may lie in.

use anyhow::ensure;
use job_types::time::Seconds;
use plotters::coord::ranged1d::Ranged;
use plotters::element::{Rectangle, Text};
use plotters::series::LineSeries;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{BLACK, Color};

use super::axis::Axis;
use super::frame::{Lines, framed};
use super::{Area, COLOURS, letters};

/// Times in seconds that are worth a mark on an axis.
const TIMES_S: [i64; 20] = [
    1, 3, 10, 30, 60, 180, 600, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400, 172_800, 345_600, 691_200, 1_382_400, 2_764_800, 5_529_600,
    11_059_200,
];

/// Most marks that an axis has room for.
const MOST_MARKS: usize = 10;

/// The probability of starting within a time.
#[derive(Debug)]
pub struct CumulativeStart {
    /// What stands above the diagram.
    pub title: String,
    /// Probability, and the wait in seconds that is not exceeded with it; both ascending.
    pub bounds: Vec<(f64, i64)>,
}

/// The ranges of run times.
#[derive(Debug)]
pub struct RunTimeRanges {
    /// What stands above the diagram.
    pub title: String,
    /// Shortest and longest run time of each range in seconds, and its probability.
    pub ranges: Vec<(i64, i64, f64)>,
}

/// An axis of times by their logarithm, from a mark below `least` to one above `most` (in seconds).
/// Times below a second lie at one second.
fn times(least: i64, most: i64) -> Axis {
    let end = TIMES_S.len() - 1;
    let last = TIMES_S.iter().position(|time| *time > most).unwrap_or(end);
    let first = TIMES_S.iter().rposition(|time| *time < least).unwrap_or(0).min(last.saturating_sub(1));
    // Two marks alone would be a poor scale.
    let shown = TIMES_S.get(first.saturating_sub(1)..=(last + 1).min(end)).unwrap_or(&TIMES_S);
    let step = shown.len().div_ceil(MOST_MARKS);
    let marks = shown.iter().step_by(step.max(1)).map(|time| (*time as f64, Seconds(*time).to_string())).collect();
    let (from, to) = (shown.first().copied().unwrap_or(1), shown.last().copied().unwrap_or(most).max(most));
    Axis::logarithmic(from as f64..to as f64, marks)
}

/// Draws how the probability of starting grows with the time.
///
/// # Errors
///
/// There are no bounds.
pub fn cumulative_start(area: &Area<'_>, diagram: &CumulativeStart) -> anyhow::Result<()> {
    let (first, last) = (diagram.bounds.first(), diagram.bounds.last());
    let Some((&(_, shortest), &(highest, longest))) = first.zip(last) else {
        anyhow::bail!("no bounds on the wait are known");
    };
    let axis = times(shortest, longest);
    let end = axis.range().end;
    let mut chart =
        framed(area, &diagram.title, (axis, "time waited"), (Axis::probability(), "probability of having started"), Lines::Both)?;
    // A step at each bound: between two of them, no more is known than that the lower has been
    // reached.
    let mut points = vec![(1.0, 0.0)];
    let mut reached = 0.0;
    for &(probability, bound) in &diagram.bounds {
        points.extend([(bound as f64, reached), (bound as f64, probability)]);
        reached = probability;
    }
    points.push((end, highest));
    chart.draw_series(LineSeries::new(points, BLACK.stroke_width(3)))?;
    Ok(())
}

/// Draws each range of run times as a bar as high as it is probable.
///
/// # Errors
///
/// There are no ranges.
pub fn run_time_ranges(area: &Area<'_>, diagram: &RunTimeRanges) -> anyhow::Result<()> {
    let shortest = diagram.ranges.iter().map(|(lower, _, _)| *lower).min();
    let longest = diagram.ranges.iter().map(|(_, upper, _)| *upper).max();
    ensure!(!diagram.ranges.is_empty(), "no ranges of run times are known");
    let axis = times(shortest.unwrap_or(1), longest.unwrap_or(1));
    let mut chart = framed(area, &diagram.title, (axis, "run time"), (Axis::probability(), "probability of the range"), Lines::Both)?;
    let colour = COLOURS[1];
    for &(lower, upper, probability) in &diagram.ranges {
        let (lower, upper) = (lower.max(1) as f64, upper.max(1) as f64);
        let corners = [(lower, 0.0), (upper, probability)];
        chart.draw_series([Rectangle::new(corners, colour.filled()), Rectangle::new(corners, BLACK.stroke_width(1))])?;
        let style = letters(14.0).pos(Pos::new(HPos::Center, VPos::Bottom));
        // Above the bar; within it where there is no room.
        let height = (probability + 0.01).min(0.94);
        chart.draw_series([Text::new(format!("{probability:.2}"), ((lower * upper).sqrt(), height), style)])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use plotters::coord::ranged1d::ValueFormatter;

    use super::super::tests::drawn;
    use super::*;

    #[test]
    fn times_are_marked_in_the_units_that_people_use() {
        let axis = times(45, 20_000);
        let marks = axis.key_points(10);
        let names: Vec<String> = marks.iter().map(|mark| axis.format_ext(mark)).collect();
        assert_eq!(names, ["10 s", "30 s", "1 min", "3 min", "10 min", "30 min", "1 h", "3 h", "6 h", "12 h"]);
        assert_eq!(times(0, 0).range(), 1.0..3.0);
        assert!(times(0, i64::MAX).key_points(10).len() <= MOST_MARKS);
    }

    #[test]
    fn the_probability_of_starting_is_drawn_over_time() {
        let bounds = (1..=99).map(|percent| (f64::from(percent) / 100.0, i64::from(percent) * 200)).collect();
        let svg = drawn(|area| cumulative_start(area, &CumulativeStart { title: "The wait".to_owned(), bounds }));
        for text in ["The wait", "time waited", "probability of having started", "1 h", "10 min"] {
            assert!(svg.contains(text), "{text}");
        }
    }

    #[test]
    fn each_range_of_run_times_has_its_probability() {
        let ranges = vec![(900, 1_100, 0.75), (3_000, 9_000, 0.25)];
        let svg = drawn(|area| run_time_ranges(area, &RunTimeRanges { title: "The run time".to_owned(), ranges }));
        for text in ["The run time", "probability of the range", "0.75", "0.25", "30 min", "3 h"] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
