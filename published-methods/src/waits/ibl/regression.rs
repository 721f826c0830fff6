//! Linear regression on the jobs near a target.

use super::super::started::Features;
use learning::sweep::TABLE_FEATURES;
use nalgebra::{SMatrix, SVector};

/// Features and a constant.
const COEFFICIENTS: usize = TABLE_FEATURES + 1;

/// What is added to the diagonal, per unit of weight: keeps features that do not vary from having
/// any say.
const RIDGE: f64 = 1e-3;

/// Room for the sums of a weighted linear regression of waits on features.
#[derive(Clone, Debug)]
pub(super) struct LocalRegression {
    products: SMatrix<f64, COEFFICIENTS, COEFFICIENTS>,
    responses: SVector<f64, COEFFICIENTS>,
}

impl Default for LocalRegression {
    fn default() -> LocalRegression {
        LocalRegression { products: SMatrix::zeros(), responses: SVector::zeros() }
    }
}

impl LocalRegression {
    /// The wait in seconds at the target, within the waits of the jobs, which are told by weight,
    /// features and wait; `scales` bring differences of features into 0 to 1. `None` where there is
    /// no solution.
    ///
    /// Features count as differences from the target's, so that the forecast is the constant.
    pub(super) fn forecast_s<'a>(
        &mut self,
        jobs: impl Iterator<Item = (f64, &'a Features, f64)>,
        target: &Features,
        scales: &Features,
    ) -> Option<f64> {
        self.products.fill(0.0);
        self.responses.fill(0.0);
        let (mut total, mut least, mut most) = (0.0, f64::INFINITY, f64::NEG_INFINITY);
        for (weight, features, wait_s) in jobs {
            let mut row = SVector::<f64, COEFFICIENTS>::repeat(1.0);
            for (((place, value), target), scale) in row.iter_mut().zip(features).zip(target).zip(scales) {
                *place = f64::from((value - target) * scale);
            }
            self.products.ger(weight, &row, &row, 1.0);
            self.responses.axpy(weight * wait_s, &row, 1.0);
            total += weight;
            least = wait_s.min(least);
            most = wait_s.max(most);
        }
        for feature in 0..TABLE_FEATURES {
            if let Some(diagonal) = self.products.get_mut((feature, feature)) {
                *diagonal += RIDGE * total;
            }
        }
        let solution = self.products.cholesky()?.solve(&self.responses);
        let constant = solution.iter().next_back().copied()?;
        constant.is_finite().then(|| constant.clamp(least, most.max(least)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_is_found_and_the_forecast_stays_within_the_waits() {
        let features: Vec<Features> = (0..20).map(|index| std::array::from_fn(|at| if at == 0 { index as f32 } else { 0.0 })).collect();
        let jobs = || features.iter().map(|features| (1.0, features, 100.0 + 10.0 * f64::from(features[0])));
        let at = |size: f32| {
            let mut target = [0.0; TABLE_FEATURES];
            target[0] = size;
            LocalRegression::default().forecast_s(jobs(), &target, &[0.05; TABLE_FEATURES]).unwrap()
        };
        assert!((at(12.5) - 225.0).abs() < 2.0, "{}", at(12.5));
        assert_eq!(at(90.0), 290.0);
    }
}
