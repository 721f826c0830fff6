//! How unlike two jobs are (Hariharan et al. 2020, II.B).

use super::super::started::Started;
use learning::sweep::{Arrivals, DISTRIBUTIONS, TABLE_FEATURES};

/// Weights of the features of table II and of the distributions of table I, each 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Weights {
    pub(super) features: [f32; TABLE_FEATURES],
    pub(super) distributions: [f32; DISTRIBUTIONS],
}

/// The six histograms of the jobs of the history, as shares, by place.
#[derive(Clone, Debug)]
pub(super) struct Histograms {
    bins: usize,
    shares: Vec<f32>,
    /// The vector norms of each job's histograms.
    norms: Vec<[f32; DISTRIBUTIONS]>,
}

impl Histograms {
    /// Returns no histograms yet; those to come are to have `bins` bins each.
    pub(super) fn new(bins: usize) -> Histograms {
        Histograms { bins: bins.max(1), shares: Vec::new(), norms: Vec::new() }
    }

    /// The histograms of a row as shares, with neighbouring bins of the sweep added up so that
    /// there are so many as are wanted.
    pub(super) fn shares(&self, past: &Arrivals, row: usize, shares: &mut Vec<f32>) {
        shares.clear();
        shares.resize(DISTRIBUTIONS * self.bins, 0.0);
        let Some(distributions) = past.distributions(row) else { return };
        let there = past.bins().max(1);
        for (wanted, histogram) in shares.chunks_exact_mut(self.bins).zip(distributions.chunks_exact(there)) {
            for (bin, share) in histogram.iter().enumerate() {
                if let Some(place) = wanted.get_mut(bin * self.bins / there) {
                    *place += f32::from(*share) / 255.0;
                }
            }
        }
    }

    pub(super) fn put(&mut self, slot: usize, shares: &[f32]) {
        let width = DISTRIBUTIONS * self.bins;
        let mut norms = [0.0; DISTRIBUTIONS];
        for (norm, histogram) in norms.iter_mut().zip(shares.chunks_exact(self.bins)) {
            *norm = histogram.iter().map(|share| share * share).sum::<f32>().sqrt();
        }
        match self.shares.get_mut(slot * width..(slot + 1) * width) {
            Some(place) => place.copy_from_slice(shares),
            None => self.shares.extend_from_slice(shares),
        }
        match self.norms.get_mut(slot) {
            Some(place) => *place = norms,
            None => self.norms.push(norms),
        }
    }

    pub(super) fn norms(&self) -> &[[f32; DISTRIBUTIONS]] {
        &self.norms
    }

    /// Equation 2: adds to the distances of the attributes, by place, those of the distributions.
    /// The chi-square distances of a pair of jobs are divided by the largest of the six.
    fn add(&self, target: &[f32], weights: &[f32; DISTRIBUTIONS], distances: &mut [f32]) {
        for (distance, job) in distances.iter_mut().zip(self.shares.chunks_exact(DISTRIBUTIONS * self.bins)) {
            let (mut sum, mut largest) = (0.0f32, 0.0f32);
            for ((p, q), weight) in job.chunks_exact(self.bins).zip(target.chunks_exact(self.bins)).zip(weights) {
                let chi_square = chi_square(p, q);
                largest = largest.max(chi_square);
                sum += weight * chi_square;
            }
            if largest > 0.0 {
                *distance += sum / largest;
            }
        }
    }
}

/// Equation 1. Where both bins are empty they add nothing.
fn chi_square(p: &[f32], q: &[f32]) -> f32 {
    const LEAST: f32 = 1e-9;
    let mut lanes = [0.0f32; 4];
    let (p_lanes, q_lanes) = (p.chunks_exact(4), q.chunks_exact(4));
    let rest: f32 = p_lanes.remainder().iter().zip(q_lanes.remainder()).map(|(a, b)| (a - b) * (a - b) / (a + b + LEAST)).sum();
    for (p, q) in p_lanes.zip(q_lanes) {
        for ((lane, a), b) in lanes.iter_mut().zip(p).zip(q) {
            *lane += (a - b) * (a - b) / (a + b + LEAST);
        }
    }
    rest + lanes.iter().sum::<f32>()
}

/// Equations 3 and 4: the distances by summaries, by place.
pub(super) fn by_summaries(started: &Started, target: &[f32; TABLE_FEATURES], weights: &Weights, distances: &mut Vec<f32>) {
    weighted(started, target, &weights.features, weights.features.iter().sum(), distances);
}

/// Equation 2: the distances by distributions, by place.
pub(super) fn by_distributions(
    started: &Started,
    histograms: &Histograms,
    target: &[f32; TABLE_FEATURES],
    shares: &[f32],
    weights: &Weights,
    distances: &mut Vec<f32>,
) {
    let mut attributes = [0.0; TABLE_FEATURES];
    attributes.iter_mut().zip(&weights.features).take(2).for_each(|(place, weight)| *place = *weight);
    let total: f32 = attributes.iter().chain(&weights.distributions).sum();
    weighted(started, target, &attributes, total, distances);
    let scale = if total > 0.0 { 1.0 / total } else { 0.0 };
    histograms.add(shares, &weights.distributions.map(|weight| weight * scale), distances);
}

fn weighted(started: &Started, target: &[f32; TABLE_FEATURES], weights: &[f32; TABLE_FEATURES], total: f32, distances: &mut Vec<f32>) {
    let scale = if total > 0.0 { 1.0 / total } else { 0.0 };
    let mut factors = started.scales(target);
    factors.iter_mut().zip(weights).for_each(|(factor, weight)| *factor *= weight * scale);
    started.distances(target, weights[0] * scale, &factors, distances);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chi_square_distance_weighs_differences_by_the_bins() {
        // 0.2^2 / 0.8 + 0.2^2 / 1.2 = 0.05 + 0.0333.
        assert!((chi_square(&[0.5, 0.5, 0.0], &[0.3, 0.7, 0.0]) - 0.0833).abs() < 1e-4);
        // Disjoint histograms: 1 + 1.
        assert!((chi_square(&[1.0, 0.0, 0.0, 0.0, 0.0], &[0.0, 0.0, 0.0, 0.0, 1.0]) - 2.0).abs() < 1e-6);
    }

    #[test]
    fn the_distances_of_a_pair_are_divided_by_the_largest_of_the_six() {
        let mut histograms = Histograms::new(2);
        let mut job = [0.5; 12];
        job[0..2].copy_from_slice(&[1.0, 0.0]);
        job[2..4].copy_from_slice(&[0.7, 0.3]);
        histograms.put(0, &job);
        let mut distances = [0.0];
        histograms.add(&[0.5; 12], &[0.25; DISTRIBUTIONS], &mut distances);
        // 0.25 / 1.5 + 0.25 / 0.5 = 0.6667; 0.04 / 1.2 + 0.04 / 0.8 = 0.0833, an eighth of it.
        assert!((distances[0] - 0.25 * (1.0 + 0.125)).abs() < 1e-4);
        assert!((histograms.norms()[0][0] - 1.0).abs() < 1e-6);
    }
}
