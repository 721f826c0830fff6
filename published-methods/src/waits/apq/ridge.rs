//! Ridge regression of waits on summaries (Hariharan et al. 2020, II.C.3).

use super::super::started::{Features, Started};
use learning::sweep::TABLE_FEATURES;
use nalgebra::{SMatrix, SVector};

/// The weight of the quadratic term, with features of mean 0 and variance 1. Hariharan et al. 2020
/// do not name it; this is the usual default.
const REGULARISATION: f64 = 1.0;

const N: usize = TABLE_FEATURES;

/// The number of jobs that are summed in single precision before the sum is added to the rest in
/// double precision.
const BLOCK: usize = 128;

/// Sums over jobs: the features' products with each other, themselves, and their products with the
/// wait.
#[derive(Clone, Copy, Debug, Default)]
struct Sums<T> {
    products: [[T; N]; N],
    sums: [T; N],
    responses: [T; N],
}

impl Sums<f32> {
    fn add(&mut self, values: &Features, wait_s: f32) {
        let columns = self.products.iter_mut().zip(values).zip(self.sums.iter_mut().zip(&mut self.responses));
        for ((row, value), (sum, response)) in columns {
            *sum += value;
            *response += value * wait_s;
            row.iter_mut().zip(values).for_each(|(product, other)| *product += value * other);
        }
    }
}

impl Sums<f64> {
    fn add_block(&mut self, block: &Sums<f32>) {
        let add = |(sum, part): (&mut f64, &f32)| *sum += f64::from(*part);
        self.products.as_flattened_mut().iter_mut().zip(block.products.as_flattened()).for_each(add);
        self.sums.iter_mut().zip(&block.sums).for_each(add);
        self.responses.iter_mut().zip(&block.responses).for_each(add);
    }
}

/// The wait in seconds at the target, from a ridge regression on the jobs no farther than `most`;
/// `None` where there are fewer than two.
pub(super) fn forecast_s(started: &Started, distances: &[f32], most: f32, target: &Features) -> Option<f64> {
    let scales = started.scales(target);
    let mut all = Sums::<f64>::default();
    let (mut count, mut wait_sum) = (0.0, 0.0);
    let jobs = started.features().chunks(BLOCK).zip(started.waits_s().chunks(BLOCK)).zip(distances.chunks(BLOCK));
    for ((features, waits_s), distances) in jobs {
        let mut block = Sums::<f32>::default();
        for ((features, wait_s), _) in features.iter().zip(waits_s).zip(distances).filter(|(_, distance)| **distance <= most) {
            // Differences from the target in units of the span keep the sums small.
            let mut values = [0.0f32; N];
            for (((value, feature), target), scale) in values.iter_mut().zip(features).zip(target).zip(&scales) {
                *value = (feature - target) * scale;
            }
            count += 1.0;
            wait_sum += f64::from(*wait_s);
            block.add(&values, *wait_s);
        }
        all.add_block(&block);
    }
    let Sums { products, sums, responses } = all;
    if count < 2.0 {
        return None;
    }
    let means = sums.map(|sum| sum / count);
    let mut deviations = [0.0; N];
    for (index, ((deviation, row), mean)) in deviations.iter_mut().zip(&products).zip(&means).enumerate() {
        let variance = row.get(index).map_or(0.0, |square| square / count - mean * mean);
        // A feature that varies by rounding alone gets no weight.
        *deviation = if variance > 1e-10 { variance.sqrt() } else { 0.0 };
    }
    let over = |value: f64, deviation: f64| if deviation > 0.0 { value / deviation } else { 0.0 };
    let mean_wait = wait_sum / count;
    let mut matrix = SMatrix::<f64, N, N>::zeros();
    let mut right = SVector::<f64, N>::zeros();
    let mut at_target = SVector::<f64, N>::zeros();
    let columns = products.iter().zip(&means).zip(deviations).zip(&responses).enumerate();
    for (i, (((row, mean), deviation), response)) in columns {
        for (j, ((product, other_mean), other_deviation)) in row.iter().zip(&means).zip(deviations).enumerate() {
            if let Some(place) = matrix.get_mut((i, j)) {
                *place = over(over(product - count * mean * other_mean, deviation), other_deviation);
                if i == j {
                    *place += REGULARISATION;
                }
            }
        }
        if let (Some(right), Some(value)) = (right.get_mut(i), at_target.get_mut(i)) {
            *right = over(response - count * mean * mean_wait, deviation);
            *value = over(-mean, deviation);
        }
    }
    let solution = matrix.cholesky()?.solve(&right);
    let forecast_s = mean_wait + solution.dot(&at_target);
    forecast_s.is_finite().then_some(forecast_s)
}

#[cfg(test)]
mod tests {
    use super::super::super::replay::tests::arrivals;
    use super::*;

    #[test]
    fn a_slope_is_found_and_shrunk_a_little() {
        // Waits of ten times the CPUs; on 200 jobs the term of 1 shrinks the slope by about 1
        // / 201.
        let told: Vec<_> = (0..200).map(|index| (1 + index % 64, 60, 10 * (1 + i64::from(index % 64)))).collect();
        let past = arrivals(&told);
        let mut started = Started::new(500);
        (0..199).for_each(|row| _ = started.push(&past, row));
        let mut target = *past.table(150).unwrap();
        target[0] = 60.0;
        let distances = vec![0.1; 199];
        let forecast = forecast_s(&started, &distances, 0.4, &target).unwrap();
        assert!((forecast - 600.0).abs() < 15.0, "{forecast}");
        assert_eq!(forecast_s(&started, &distances, 0.05, &target), None);
    }
}
