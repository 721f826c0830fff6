//! Means and medians of the evaluations.
//!
//! Not those of `statrs`: its median of an even number of values lies between the two in the
//! middle, and its mean of nothing is not a number. The figures in the documentation were printed
//! with these.

/// The mean, 0 of nothing.
pub(super) fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0usize), |(sum, count), value| (sum + value, count + 1));
    sum / count.max(1) as f64
}

/// The median, the upper one of two; 0 of nothing.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    let middle = values.len() / 2;
    if values.is_empty() { 0.0 } else { *values.select_nth_unstable_by(middle, f64::total_cmp).1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_a_value_that_was_seen_and_of_nothing_everything_is_zero() {
        assert_eq!((mean([1.0, 2.0, 6.0]), median(vec![6.0, 1.0, 2.0])), (3.0, 2.0));
        assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), 3.0);
        assert_eq!((mean([]), median(Vec::new())), (0.0, 0.0));
    }
}
