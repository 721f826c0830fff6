//! An axis with marks where they tell something.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

/// How far along the axis a value lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    Linear,
    Logarithmic,
}

/// An axis from one value to another, with marks at given values and a name for each.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    from: f64,
    to: f64,
    scale: Scale,
    marks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis with a linear scale.
    pub(super) fn linear(range: Range<f64>, marks: Vec<(f64, String)>) -> Self {
        Self { from: range.start, to: range.end, scale: Scale::Linear, marks }
    }

    /// Values by their logarithm; both ends are positive, and what lies below the first is drawn
    /// there.
    pub(super) fn logarithmic(range: Range<f64>, marks: Vec<(f64, String)>) -> Self {
        Self { from: range.start, to: range.end, scale: Scale::Logarithmic, marks }
    }

    /// Returns an axis from 0 to 1, marked at each tenth.
    pub(super) fn probability() -> Self {
        Self::linear(0.0..1.0, (0..=10).map(|tenth| f64::from(tenth) / 10.0).map(|mark| (mark, format!("{mark:.1}"))).collect())
    }

    /// Returns the place of a value along the axis, 0 to 1.
    fn place(&self, value: f64) -> f64 {
        let along = |value: f64| match self.scale {
            Scale::Linear => value,
            Scale::Logarithmic => value.max(f64::MIN_POSITIVE).ln(),
        };
        let (from, to) = (along(self.from), along(self.to));
        if to > from { ((along(value) - from) / (to - from)).clamp(0.0, 1.0) } else { 0.0 }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        first + (f64::from(last - first) * self.place(*value)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.marks.iter().map(|(mark, _)| *mark).collect()
    }

    fn range(&self) -> Range<f64> {
        self.from..self.to
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        self.marks.iter().find(|(mark, _)| mark == value).map_or_else(String::new, |(_, name)| name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_puts_equal_ratios_at_equal_distances() {
        let axis = Axis::logarithmic(1.0..10_000.0, Vec::new());
        assert_eq!([1.0, 10.0, 100.0, 10_000.0].map(|value| axis.map(&value, (0, 400))), [0, 100, 200, 400]);
        assert_eq!(axis.map(&0.0, (0, 400)), 0);
        let downwards = Axis::linear(0.0..1.0, Vec::new());
        assert_eq!(downwards.map(&0.25, (400, 0)), 300);
    }

    #[test]
    fn a_mark_has_its_name() {
        let axis = Axis::probability();
        assert_eq!(axis.format_ext(&(3.0 / 10.0)), "0.3");
        assert_eq!(axis.format_ext(&0.35), "");
    }
}
