//! A slot in the plan of a partition.

use plotters::element::Rectangle;
use plotters::series::{AreaSeries, LineSeries};
use plotters::style::{BLACK, Color};

use super::axis::Axis;
use super::frame::{Lines, framed};
use super::over_time::round_steps;
use super::{Area, COLOURS, plain};

/// A slot in the plan of a partition.
#[derive(Debug)]
pub struct SlotInPlan {
    /// What stands above the diagram.
    pub title: String,
    /// Until when it is shown, in hours from now.
    pub until: f64,
    /// CPUs of the partition.
    pub all: f64,
    /// Hours from now, in order, and how many CPUs are taken from then on.
    pub taken: Vec<(f64, f64)>,
    /// The window, in hours from now.
    pub window: (f64, f64),
    /// When the slot begins and ends, and how many CPUs it has.
    pub slot: Option<(f64, f64, f64)>,
}

/// Draws the diagram: what is taken, with the slot on top of it, and the window between two lines.
///
/// # Errors
///
/// The diagram can't be drawn.
pub fn slot_in_plan(area: &Area<'_>, diagram: &SlotInPlan) -> anyhow::Result<()> {
    let SlotInPlan { until, all, .. } = *diagram;
    let marks = |to: f64| round_steps(to).into_iter().filter(move |mark| *mark <= to).map(|mark| (mark, plain(mark))).collect();
    // A slot on top of a full partition shows above it.
    let top = all * 1.05;
    let x = Axis::linear(0.0..until, marks(until));
    let y = Axis::linear(0.0..top, marks(all));
    let mut chart = framed(area, &diagram.title, (x, "hours from now"), (y, "CPUs taken by running and waiting jobs"), Lines::FromY)?;
    let ends = diagram.taken.iter().skip(1).map(|step| step.0).chain([until]);
    let steps = diagram.taken.iter().zip(ends).flat_map(|(&(from, taken), to)| [(from.min(until), taken), (to.min(until), taken)]);
    let steps: Vec<(f64, f64)> = steps.collect();
    let [of_slot, of_jobs, ..] = COLOURS;
    chart.draw_series(AreaSeries::new(steps.iter().copied(), 0.0, of_jobs.mix(0.3)))?;
    chart.draw_series(LineSeries::new(steps, of_jobs.stroke_width(1)))?;
    for side in [diagram.window.0, diagram.window.1].into_iter().filter(|side| (0.0..=until).contains(side)) {
        chart.draw_series(LineSeries::new([(side, 0.0), (side, top)], BLACK.mix(0.6).stroke_width(1)))?;
    }
    if let Some((start, end, cpus)) = diagram.slot {
        // It lies on what is taken when it begins, or below the top.
        let below = diagram.taken.iter().take_while(|(at, _)| *at <= start).last().map_or(0.0, |(_, taken)| *taken);
        let low = below.min(all - cpus).max(0.0);
        let corners = [(start, low), (end.min(until), (low + cpus).min(top))];
        chart.draw_series([Rectangle::new(corners, of_slot.mix(0.8).filled()), Rectangle::new(corners, BLACK.stroke_width(1))])?;
    }
    Ok(())
}
