//! The five figures of a list that the thesis gives for each hour (6.2.4.4).

use serde::Serialize;

/// Minimum, maximum, mean, median and sum; all zero where there is nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Figures {
    /// The smallest.
    pub minimum: f64,
    /// The largest.
    pub maximum: f64,
    /// The mean.
    pub mean: f64,
    /// The middle one, or the mean of the two in the middle.
    pub median: f64,
    /// All together.
    pub sum: f64,
}

impl Figures {
    /// The figures of these values, which are put into another order.
    #[must_use]
    pub fn of(values: &mut [f64]) -> Self {
        let count = values.len();
        if count == 0 {
            return Self::default();
        }
        let sum: f64 = values.iter().sum();
        let (below, &mut middle, above) = values.select_nth_unstable_by(count / 2, f64::total_cmp);
        let lower_middle = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let median = if count.is_multiple_of(2) { f64::midpoint(lower_middle, middle) } else { middle };
        let minimum = below.iter().copied().fold(middle, f64::min);
        let maximum = above.iter().copied().fold(middle, f64::max);
        Self { minimum, maximum, mean: sum / count as f64, median, sum }
    }
}

#[cfg(test)]
mod tests {
    use super::Figures;

    #[test]
    fn figures_are_those_reckoned_by_hand() {
        let odd = Figures::of(&mut [5.0, 1.0, 3.0]);
        assert_eq!(odd, Figures { minimum: 1.0, maximum: 5.0, mean: 3.0, median: 3.0, sum: 9.0 });
        let even = Figures::of(&mut [4.0, 1.0, 9.0, 2.0]);
        assert_eq!(even, Figures { minimum: 1.0, maximum: 9.0, mean: 4.0, median: 3.0, sum: 16.0 });
        assert_eq!(Figures::of(&mut []), Figures::default());
    }
}
