//! The reliability diagram: how often what was forecast with a probability came true.

use super::axis::Axis;
use super::frame::{Lines, framed, legend, marked_line, reference_line};
use super::{Area, Series};

/// What the part is of where quantiles are held against what happened.
pub const AT_OR_BELOW: &str = "part of the jobs at or below the quantile";

/// Nominal against observed probability.
#[derive(Debug)]
pub struct Reliability {
    /// What stands above the diagram.
    pub title: String,
    /// What was observed.
    pub observed: &'static str,
    /// Points are the nominal and the observed probability.
    pub series: Vec<Series<[f64; 2]>>,
}

/// Draws the diagram. A forecast whose probabilities are right lies on the diagonal.
///
/// # Errors
///
/// The diagram can't be drawn.
pub fn reliability(area: &Area<'_>, diagram: &Reliability) -> anyhow::Result<()> {
    let mut chart =
        framed(area, &diagram.title, (Axis::probability(), "forecast probability"), (Axis::probability(), diagram.observed), Lines::Both)?;
    reference_line(&mut chart, "as it should be", [(0.0, 0.0), (1.0, 1.0)])?;
    for (place, series) in diagram.series.iter().enumerate() {
        let points = series.points.iter().map(|[nominal, observed]| (*nominal, observed.clamp(0.0, 1.0)));
        marked_line(&mut chart, (place, series), 1, points)?;
    }
    legend(&mut chart)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawn;
    use super::*;

    #[test]
    fn the_axes_and_the_lines_are_named() {
        let points = vec![[0.25, 0.3], [0.5, 0.5]];
        let diagram = Reliability {
            title: "A log".to_owned(),
            observed: "part of the jobs",
            series: vec![Series { name: "ours".to_owned(), points, is_ours: true }],
        };
        let svg = drawn(|area| reliability(area, &diagram));
        for text in ["A log", "forecast probability", "part of the jobs", "ours", "as it should be", "0.5"] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
