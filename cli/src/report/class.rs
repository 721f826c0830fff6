//! Probabilities that are counted together.

use serde::Serialize;

/// Ends of the classes of probabilities. What is promised is at least what was asked for, so that a
/// class begins with what users ask for.
const ENDS: [f64; 6] = [0.0, 0.5, 0.75, 0.9, 0.95, 1.0];

/// Probabilities that are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Class {
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Class {
    /// Index of the class that a probability belongs to; the first end belongs to it, the last
    /// does not but for certainty.
    pub(super) fn index(probability: f64) -> usize {
        let below = ENDS.partition_point(|end| *end <= probability + 1e-9);
        below.clamp(1, ENDS.len() - 1) - 1
    }

    /// The class with an index.
    pub(super) fn of(index: usize) -> Class {
        let end = |place: usize| ENDS.get(place).copied().unwrap_or(1.0);
        Class { from: end(index), to: end(index + 1) }
    }

    /// Returns the name of the class for people.
    pub(super) fn name(&self) -> String {
        format!("{} to {}", self.from, self.to)
    }
}

/// A number with as many digits as a report has.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_begins_a_class() {
        let class = |probability| Class::of(Class::index(probability));
        assert_eq!((class(0.95), class(0.949)), (Class { from: 0.95, to: 1.0 }, Class { from: 0.9, to: 0.95 }));
        assert_eq!(
            (class(0.0), class(0.5), class(1.0)),
            (Class { from: 0.0, to: 0.5 }, Class { from: 0.5, to: 0.75 }, Class { from: 0.95, to: 1.0 })
        );
    }
}
