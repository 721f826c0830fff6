//! Errors of several methods by class of jobs (Hariharan et al. 2020, figure 5).

use anyhow::ensure;

use super::axis::Axis;
use super::frame::{Lines, framed, legend, marked_line};
use super::{Area, Series, plain, powers_of_ten};

/// Errors of several methods in several classes.
#[derive(Debug)]
pub struct ErrorsByClass {
    /// What stands above the diagram.
    pub title: String,
    /// What tells the classes apart, with its unit.
    pub what: &'static str,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// What the errors are, with their unit.
    pub errors: &'static str,
    /// The number of a class in `classes`, from 0, and the error there.
    pub series: Vec<Series<(usize, f64)>>,
}

/// Draws the diagram, with errors in the logarithm.
///
/// # Errors
///
/// There is nothing to draw.
pub fn errors_by_class(area: &Area<'_>, diagram: &ErrorsByClass) -> anyhow::Result<()> {
    let errors = || diagram.series.iter().flat_map(|series| &series.points).map(|(_, error)| *error).filter(|error| *error > 0.0);
    let least = errors().fold(f64::INFINITY, f64::min);
    let most = errors().fold(0.0, f64::max);
    ensure!(least.is_finite() && most.is_finite(), "no method errs in any class");
    // An error of 0 has no logarithm, and lies on the axis.
    let marks = powers_of_ten(least, most);
    let (bottom, top) = (marks.first().copied().unwrap_or(least), marks.last().copied().unwrap_or(most));
    let right = diagram.classes.len() as f64 - 0.5;
    let classes = Axis::linear(-0.5..right, diagram.classes.iter().enumerate().map(|(class, name)| (class as f64, name.clone())).collect());
    let errors = Axis::logarithmic(bottom..top, marks.into_iter().map(|mark| (mark, plain(mark))).collect());
    let mut chart = framed(area, &diagram.title, (classes, diagram.what), (errors, diagram.errors), Lines::FromY)?;
    for (place, series) in diagram.series.iter().enumerate() {
        let points = series.points.iter().map(|(class, error)| (*class as f64, error.max(bottom)));
        marked_line(&mut chart, (place, series), 0, points)?;
    }
    legend(&mut chart)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawn;
    use super::*;

    fn diagram(points: Vec<(usize, f64)>) -> ErrorsByClass {
        ErrorsByClass {
            title: "A log".to_owned(),
            what: "wait",
            classes: vec!["short".to_owned(), "long".to_owned()],
            errors: "mean error (h)",
            series: vec![Series { name: "ours".to_owned(), points, is_ours: true }],
        }
    }

    #[test]
    fn each_class_and_each_power_of_ten_is_named() {
        let svg = drawn(|area| errors_by_class(area, &diagram(vec![(0, 0.02), (1, 30.0)])));
        for text in ["A log", "wait", "short", "long", "mean error (h)", "ours", "0.01", "100"] {
            assert!(svg.contains(text), "{text}");
        }
    }

    #[test]
    fn an_error_of_0_lies_on_the_axis() {
        drawn(|area| errors_by_class(area, &diagram(vec![(0, 0.0), (1, 30.0)])));
    }
}
