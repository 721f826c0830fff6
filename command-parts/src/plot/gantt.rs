//! A Gantt diagram: which job had which processors when.

use job_types::number::UserId;
use plotters::element::Rectangle;
use plotters::style::{BLACK, Color, WHITE};

use super::axis::Axis;
use super::frame::{Lines, framed};
use super::over_time::round_steps;
use super::{Area, COLOURS, plain};

/// Jobs on the processors of a machine, in a window of time.
#[derive(Debug)]
pub struct Gantt {
    /// What stands above the diagram.
    pub title: String,
    /// What the axis of time says: in hours, since when.
    pub time: &'static str,
    /// The window, in hours.
    pub hours: (f64, f64),
    /// Processors of the machine.
    pub processors: u32,
    /// The jobs that run in the window.
    pub jobs: Vec<GanttJob>,
}

/// A job of the diagram.
#[derive(Debug)]
pub struct GanttJob {
    /// Start and end, in hours.
    pub hours: (f64, f64),
    /// First and last processor of each interval.
    pub processors: Vec<(u32, u32)>,
    /// What its colour stands for: jobs of the same user have the same colour.
    pub user: UserId,
}

/// Draws the diagram.
///
/// # Errors
///
/// The diagram can't be drawn.
pub fn gantt(area: &Area<'_>, diagram: &Gantt) -> anyhow::Result<()> {
    let (from, to) = diagram.hours;
    let machine = f64::from(diagram.processors);
    let hours = round_steps(to - from).into_iter().map(|hour| from + hour).filter(|&hour| hour <= to);
    let x = Axis::linear(from..to, hours.map(|hour| (hour, plain((hour * 10.0).round() / 10.0))).collect());
    let marks = round_steps(machine).into_iter().filter(|&mark| mark <= machine);
    let y = Axis::linear(0.0..machine, marks.map(|mark| (mark, plain(mark))).collect());
    let mut chart = framed(area, &diagram.title, (x, diagram.time), (y, "processor"), Lines::None)?;
    for job in &diagram.jobs {
        let Some(colour) = COLOURS.get(job.user.0 as usize % COLOURS.len()) else { continue };
        let (start, end) = (job.hours.0.max(from), job.hours.1.min(to));
        for &(first, last) in &job.processors {
            let corners = [(start, f64::from(first)), (end, f64::from(last) + 1.0)];
            chart.draw_series([Rectangle::new(corners, colour.mix(0.6).filled())])?;
            // An outline would hide what is smaller than itself.
            if f64::from(last - first + 1) > machine / 100.0 {
                chart.draw_series([Rectangle::new(corners, BLACK.mix(0.5).stroke_width(1))])?;
            }
        }
    }
    if diagram.jobs.is_empty() {
        chart.draw_series([Rectangle::new([(from, 0.0), (to, machine)], WHITE.filled())])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawn;
    use super::*;

    #[test]
    fn the_axes_say_what_they_are() {
        let jobs = vec![GanttJob { hours: (1.0, 9.0), processors: vec![(0, 3), (6, 7)], user: UserId(9) }];
        let svg = drawn(|area| {
            gantt(
                area,
                &Gantt { title: "A log".to_owned(), time: "hours since the first submission", hours: (2.0, 8.0), processors: 8, jobs },
            )
        });
        for text in ["A log", "hours since the first submission", "processor"] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(svg.matches("<rect").count() >= 4);
    }
}
