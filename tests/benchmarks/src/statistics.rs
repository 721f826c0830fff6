//! Sums over what was measured several times.

/// The median of at least one figure. Of an even number it is the mean of the two in the middle.
pub(crate) fn median(figures: &[f64]) -> f64 {
    let figures = sorted(figures);
    f64::midpoint(figures[(figures.len() - 1) / 2], figures[figures.len() / 2])
}

/// The first or the third quartile of at least one figure, as the nearest of them.
pub(crate) fn quartile(figures: &[f64], number: usize) -> f64 {
    // A place in the middle between two goes to the later one.
    sorted(figures)[((figures.len() - 1) * number + 2) / 4]
}

/// The mean of some figures; 0 of none.
pub(crate) fn mean(figures: &[f64]) -> f64 {
    figures.iter().sum::<f64>() / figures.len().max(1) as f64
}

/// The least and the greatest of at least one figure.
pub(crate) fn range(figures: &[f64]) -> (f64, f64) {
    figures.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), one| (least.min(*one), most.max(*one)))
}

/// The standard deviation of some figures, as of a sample.
pub(crate) fn deviation(figures: &[f64]) -> f64 {
    let mean = mean(figures);
    let squares = figures.iter().map(|one| (one - mean).powi(2)).sum::<f64>();
    (squares / (figures.len() as f64 - 1.0).max(1.0)).sqrt()
}

fn sorted(figures: &[f64]) -> Vec<f64> {
    let mut figures = figures.to_vec();
    figures.sort_by(f64::total_cmp);
    figures
}

/// A figure with so many digits behind the point.
pub(crate) fn rounded(figure: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (figure * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_quartiles_are_those_reckoned_by_hand() {
        assert_eq!([&[1.0][..], &[10.0, 9.0, 100.0], &[4.0, -1.0, 1.0, 2.0]].map(median), [1.0, 10.0, 1.5]);
        let quartiles = |figures: &[f64]| [1, 3].map(|number| quartile(figures, number));
        assert_eq!(quartiles(&[1.0]), [1.0, 1.0]);
        assert_eq!(quartiles(&[3.0, 1.0, 2.0]), [2.0, 3.0]);
        assert_eq!(quartiles(&[1.0, 2.0, 3.0, 4.0]), [2.0, 3.0]);
        assert_eq!(quartiles(&[5.0, 4.0, 3.0, 2.0, 1.0]), [2.0, 4.0]);
    }

    #[test]
    fn means_ranges_and_deviations_are_those_reckoned_by_hand() {
        assert_eq!((mean(&[1.0, 2.0, 6.0]), range(&[2.0, -1.0, 6.0])), (3.0, (-1.0, 6.0)));
        assert_eq!([&[1.0, 2.0, 3.0][..], &[4.0], &[]].map(deviation), [1.0, 0.0, 0.0]);
    }

    #[test]
    fn a_rounded_figure_is_printed_without_more_digits() {
        assert_eq!(rounded(1.26, 1).to_string(), "1.3");
        assert_eq!(rounded(-0.125, 2).to_string(), "-0.13");
    }
}
