//! What a reservation is worth and what it costs, by when its job becomes eligible.

use job_types::time::Seconds;
use plotters::style::{BLACK, Color};

use super::axis::Axis;
use super::frame::{Chart, Lines, framed, legend, named_line, reference_line};
use super::over_time::round_steps;
use super::{Area, COLOURS, plain};

/// Steps of an axis of durations, in seconds.
const STEPS_S: [i64; 14] = [10, 60, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400, 172_800, 604_800, 1_209_600, 4_838_400];

/// Most steps of that axis.
const MOST_STEPS: i64 = 8;

/// What one begin of a reservation's job is worth and costs.
#[derive(Debug, Clone, Copy)]
pub struct TradeOffPoint {
    /// How long before the reserved time the job becomes eligible.
    pub ahead: Seconds,
    /// The probability that it has its nodes by then.
    pub probability: f64,
    /// The most that it can cost beyond the job itself.
    pub most_node_hours: f64,
    /// What it costs in the mean.
    pub expected_node_hours: f64,
}

/// One of its figures.
type Figure = fn(&TradeOffPoint) -> f64;

/// The trajectory of a reservation.
#[derive(Debug)]
pub struct TradeOff {
    /// What stands above the diagram.
    pub title: String,
    /// The begins that were looked at.
    pub points: Vec<TradeOffPoint>,
    /// What was chosen.
    pub chosen: Option<Seconds>,
}

impl TradeOff {
    /// The axis of times before the reserved one.
    fn ahead(&self) -> (Axis, &'static str) {
        let most = self.points.iter().map(|point| point.ahead.0).max().unwrap_or(0).max(1);
        let step = STEPS_S.into_iter().find(|step| most / step <= MOST_STEPS).unwrap_or(most);
        let marks = (0..=most / step).map(|number| (number * step) as f64);
        let marks = marks.map(|mark| (mark, Seconds(mark as i64).to_string())).collect();
        (Axis::linear(0.0..most as f64, marks), "time before the reserved one at which the job becomes eligible")
    }

    /// A figure by when the job becomes eligible.
    fn line(&self, figure: impl Fn(&TradeOffPoint) -> f64) -> impl Iterator<Item = (f64, f64)> {
        self.points.iter().map(move |point| (point.ahead.0 as f64, figure(point)))
    }

    fn mark_chosen(&self, chart: &mut Chart<'_>, top: f64) -> anyhow::Result<()> {
        self.chosen.map_or(Ok(()), |chosen| reference_line(chart, "chosen", [0.0, top].map(|y| (chosen.0 as f64, y))))
    }
}

/// Draws the probability of having the nodes (Nurmi, Wolski and Brevik 2008, figure 3).
///
/// # Errors
///
/// The diagram can't be drawn.
pub fn probability_by_begin(area: &Area<'_>, diagram: &TradeOff) -> anyhow::Result<()> {
    let mut chart = framed(area, &diagram.title, diagram.ahead(), (Axis::probability(), "probability of having the nodes"), Lines::Both)?;
    named_line(&mut chart, "probability", BLACK.stroke_width(3), diagram.line(|point| point.probability))?;
    diagram.mark_chosen(&mut chart, 1.0)?;
    legend(&mut chart)
}

/// Draws the cost.
///
/// # Errors
///
/// The diagram can't be drawn.
pub fn cost_by_begin(area: &Area<'_>, diagram: &TradeOff) -> anyhow::Result<()> {
    let highest = diagram.points.iter().map(|point| point.most_node_hours).fold(0.0, f64::max);
    let marks = round_steps(highest);
    let top = marks.last().copied().unwrap_or(1.0);
    let y = Axis::linear(0.0..top, marks.into_iter().map(|mark| (mark, plain(mark))).collect());
    let mut chart = framed(area, "Cost beyond the job itself", diagram.ahead(), (y, "node-hours"), Lines::Both)?;
    let figures: [(&str, usize, Figure); 2] =
        [("at most", 4, |point| point.most_node_hours), ("expected", 5, |point| point.expected_node_hours)];
    for (name, colour, cost) in figures {
        let style = COLOURS.get(colour).unwrap_or(&BLACK).stroke_width(2);
        named_line(&mut chart, name, style, diagram.line(cost))?;
    }
    diagram.mark_chosen(&mut chart, top)?;
    legend(&mut chart)
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawn;
    use super::*;

    #[test]
    fn the_axes_say_what_they_are_and_the_choice_is_marked() {
        let point = |n: i32| TradeOffPoint {
            ahead: Seconds(i64::from(3_600 - 60 * n)),
            probability: 0.9 - 0.01 * f64::from(n),
            most_node_hours: 4.0 - 0.06 * f64::from(n),
            expected_node_hours: 2.0 - 0.03 * f64::from(n),
        };
        let diagram = TradeOff { title: "4 nodes".to_owned(), points: (0..60).map(point).collect(), chosen: Some(Seconds(1_800)) };
        let svg = drawn(|area| probability_by_begin(area, &diagram));
        for text in ["4 nodes", "probability of having the nodes", "time before the reserved one", "chosen", "1 h", "10 min"] {
            assert!(svg.contains(text), "{text}");
        }
        let svg = drawn(|area| cost_by_begin(area, &diagram));
        for text in ["Cost beyond the job itself", "node-hours", "at most", "expected", "chosen"] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
