//! Heterogeneous Euclidean-overlap distance (Wilson, Martinez: Improved Heterogeneous Distance
//! Functions, JAIR 6, 1997), with weights.

use super::attributes::{Attributes, NOMINAL, NUMERIC};

/// The smallest and largest value of each numeric attribute so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spans {
    least: [f32; NUMERIC],
    most: [f32; NUMERIC],
}

impl Default for Spans {
    fn default() -> Spans {
        Spans { least: [f32::INFINITY; NUMERIC], most: [f32::NEG_INFINITY; NUMERIC] }
    }
}

impl Spans {
    pub(super) fn include(&mut self, attributes: &Attributes) {
        for ((least, most), value) in self.least.iter_mut().zip(&mut self.most).zip(attributes.numeric) {
            *least = least.min(value);
            *most = most.max(value);
        }
    }
}

/// The squares of the factors of each attribute's difference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Metric {
    nominal: [f32; NOMINAL],
    numeric: [f32; NUMERIC],
}

impl Metric {
    /// `weights` are those of the nominal attributes, then of the numeric ones, whose differences
    /// count as parts of their spans.
    pub(super) fn new(weights: &[f64], spans: &Spans) -> Metric {
        let weight = |index: usize| weights.get(index).map_or(1.0, |weight| *weight as f32);
        let square = |index: usize| {
            let span = spans.most.get(index).zip(spans.least.get(index)).map_or(0.0, |(most, least)| most - least);
            if span > 0.0 && span.is_finite() { (weight(NOMINAL + index) / span).powi(2) } else { 0.0 }
        };
        Metric { nominal: std::array::from_fn(|index| weight(index).powi(2)), numeric: std::array::from_fn(square) }
    }

    /// The square of the distance of two jobs.
    pub(super) fn squared(&self, one: &Attributes, other: &Attributes) -> f32 {
        let mut sum = 0.0;
        for index in 0..NUMERIC {
            let difference = one.numeric[index] - other.numeric[index];
            sum += self.numeric[index] * difference * difference;
        }
        for index in 0..NOMINAL {
            sum += if one.nominal[index] == other.nominal[index] { 0.0 } else { self.nominal[index] };
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_overlap_or_not_and_numbers_count_by_their_span() {
        let attributes = |user, cpus| {
            let mut numeric = [0.0; NUMERIC];
            numeric[0] = cpus;
            Attributes { nominal: [user, 0, 0], numeric }
        };
        let mut spans = Spans::default();
        spans.include(&attributes(1, 2.0));
        spans.include(&attributes(2, 12.0));
        let metric = Metric::new(&[0.5, 1.0, 1.0, 2.0], &spans);
        assert_eq!(metric.squared(&attributes(1, 2.0), &attributes(9, 2.0)), 0.25);
        assert!((metric.squared(&attributes(1, 2.0), &attributes(1, 7.0)) - 1.0).abs() < 1e-6, "2 times half the span");
    }
}
