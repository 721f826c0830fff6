//! The values of a list of which some percentiles are known.

/// Values by rank, from 0 to 1, with a straight line between the logarithms of two that are known.
#[derive(Debug, Clone)]
pub(super) struct Quantiles {
    /// Rank and logarithm, ascending in both.
    knots: Vec<(f64, f64)>,
}

impl Quantiles {
    /// The quantiles through these ranks and values.
    pub(super) fn through(known: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let mut knots: Vec<(f64, f64)> = known.into_iter().map(|(rank, value)| (rank, value.ln())).collect();
        knots.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
        Self { knots }
    }

    /// The value at a rank; beyond the outermost that are known, theirs. `bend` above 1 keeps it
    /// near the lower of two that are known until shortly before the upper.
    pub(super) fn at(&self, rank: f64, bend: f64) -> f64 {
        let next = self.knots.partition_point(|knot| knot.0 < rank);
        let upper = self.knots.get(next).or(self.knots.last());
        let lower = next.checked_sub(1).and_then(|place| self.knots.get(place)).or(self.knots.first());
        let (Some(&(from, low)), Some(&(to, high))) = (lower, upper) else { return 0.0 };
        let part = if to > from { ((rank - from) / (to - from)).clamp(0.0, 1.0) } else { 1.0 };
        (low + (high - low) * part.powf(bend)).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::Quantiles;

    #[test]
    fn known_values_are_met_and_others_lie_between() {
        let quantiles = Quantiles::through([(0.5, 10.0), (0.1, 1.0), (0.9, 1000.0)]);
        for (rank, value) in [(0.0, 1.0), (0.1, 1.0), (0.3, 10_f64.sqrt()), (0.5, 10.0), (0.7, 100.0), (0.9, 1000.0), (1.0, 1000.0)] {
            assert!((quantiles.at(rank, 1.0) / value - 1.0).abs() < 1e-9, "{rank}");
        }
        assert!(quantiles.at(0.7, 2.0) < 100.0);
    }
}
