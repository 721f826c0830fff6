//! APQ: waits from like jobs, by a method chosen for each (Hariharan et al. 2020, section II and
//! table IV).
//!
//! A job's distance from each of the latest started jobs is a weighted mean over its attributes and
//! over either summaries or distributions of what waited and ran at its arrival ([`distance`]),
//! with weights from rank correlations with the wait ([`spearman`]). Where the nearest are near and
//! form clusters of like waits, the window of distances with the smallest deviation answers; else a
//! ridge regression ([`ridge`]); else, where that is negative, the weighted mean of the nearest.
//!
//! Where Hariharan et al. are silent, or ask for what would be quadratic:
//! - The weights are renewed every 64 additions to the history, of 6,000 at most, rather than at
//!   each.
//! - Case A (the nearest are far) is a mean distance of the closest k % above the distance
//!   threshold of the standard-deviation minimiser; such jobs go to the regression. Clustering is
//!   good where the outliers are fewer than the part f of the closest k %.
//! - Waits are divided by the longest of the history before they are clustered together with
//!   distances.
//! - A window needs as many jobs as a cluster (minPts): a window of one deviates by nothing. Of
//!   windows that deviate alike the nearest is taken.
//! - The Gaussian kernel is e to the minus squared distance.

mod distance;
mod ridge;
mod spearman;

use super::WaitPredictor;
use super::replay::Split;
use super::started::{Near, Started, nearer, nearest};
use crate::dbscan::outliers;
use distance::{Histograms, Weights, by_distributions, by_summaries};
use learning::sweep::Arrivals;
use spearman::Spearman;

/// The weights are renewed after so many additions.
const RENEWAL: u64 = 64;

/// The parameters of table IV, and the choice between distributions and summaries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Whether states are compared by their distributions; otherwise by summaries.
    pub distributions: bool,
    /// Bins of a distribution.
    pub bins: usize,
    /// Jobs of the history.
    pub history: usize,
    /// The closest part of the history that is clustered, in percent.
    pub closest_percent: f64,
    /// The part of them that may be outliers.
    pub outlier_part: f64,
    /// Reach of a point in the clustering, in distance and wait.
    pub epsilon: f64,
    /// Points that make a cluster.
    pub min_points: usize,
    /// Width of a window of distances.
    pub window: f64,
    /// Windows beyond this distance do not count.
    pub farthest_window: f64,
    /// The regression takes jobs up to this distance.
    pub farthest_regression: f64,
    /// How many of the nearest the weighted mean takes.
    pub neighbours: usize,
}

impl Default for Parameters {
    /// The middle of table IV's ranges.
    fn default() -> Parameters {
        Parameters {
            distributions: false,
            bins: 10,
            history: 6_000,
            closest_percent: 3.0,
            outlier_part: 0.5,
            epsilon: 0.075,
            min_points: 3,
            window: 0.05,
            farthest_window: 0.45,
            farthest_regression: 0.7,
            neighbours: 10,
        }
    }
}

/// How a forecast came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// The window of distances with the smallest deviation (SDM).
    DeviationMinimiser,
    /// Ridge regression.
    Regression,
    /// The weighted mean of the nearest.
    WeightedMean,
}

/// Adaptive prediction of queue waits.
#[derive(Clone, Debug)]
pub struct Apq {
    parameters: Parameters,
    started: Started,
    histograms: Histograms,
    weights: Weights,
    /// What had been added when the weights were renewed.
    renewed_at: u64,
    spearman: Spearman,
    shares: Vec<f32>,
    distances: Vec<f32>,
    room: Vec<Near>,
    points: Vec<[f64; 2]>,
    core: Vec<bool>,
    windows: Vec<Window>,
}

/// Sums over the jobs of one window of distances.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    count: f64,
    sum: f64,
    squares: f64,
    weight: f64,
    weighted: f64,
}

impl Apq {
    /// Before any job has started.
    #[must_use]
    pub fn new(parameters: Parameters) -> Apq {
        Apq {
            parameters,
            started: Started::new(parameters.history),
            histograms: Histograms::new(parameters.bins),
            weights: Weights::default(),
            renewed_at: 0,
            spearman: Spearman::default(),
            shares: Vec::new(),
            distances: Vec::new(),
            room: Vec::new(),
            points: Vec::new(),
            core: Vec::new(),
            windows: Vec::new(),
        }
    }

    /// The parameters of least mean absolute error on the validation part: first distributions or
    /// summaries, then each parameter of table IV in turn with the others as they are.
    #[must_use]
    pub fn tune(past: &Arrivals, split: &Split) -> Parameters {
        let mut best = Parameters::default();
        let mut least = f64::INFINITY;
        let mut attempt = |candidates: Vec<Parameters>, best: &mut Parameters| {
            for candidate in candidates {
                let error_s = split.mean_absolute_error_s(past, &mut Apq::new(candidate));
                if error_s < least {
                    (*best, least) = (candidate, error_s);
                }
            }
        };
        attempt(vec![best, Parameters { distributions: true, ..best }], &mut best);
        if best.distributions {
            attempt([5, 25, 50].map(|bins| Parameters { bins, ..best }).to_vec(), &mut best);
        }
        attempt([2_000, 4_000].map(|history| Parameters { history, ..best }).to_vec(), &mut best);
        attempt([1.0, 2.0, 4.0, 5.0].map(|closest_percent| Parameters { closest_percent, ..best }).to_vec(), &mut best);
        attempt([0.1, 0.3, 0.7, 0.9].map(|outlier_part| Parameters { outlier_part, ..best }).to_vec(), &mut best);
        attempt([0.05, 0.1].map(|epsilon| Parameters { epsilon, ..best }).to_vec(), &mut best);
        attempt([2, 4, 5].map(|min_points| Parameters { min_points, ..best }).to_vec(), &mut best);
        attempt([0.01, 0.025, 0.1].map(|window| Parameters { window, ..best }).to_vec(), &mut best);
        attempt([0.3, 0.6].map(|farthest_window| Parameters { farthest_window, ..best }).to_vec(), &mut best);
        attempt([0.4, 0.55, 0.85, 1.0].map(|farthest_regression| Parameters { farthest_regression, ..best }).to_vec(), &mut best);
        attempt([1, 2, 5, 15, 20].map(|neighbours| Parameters { neighbours, ..best }).to_vec(), &mut best);
        best
    }

    /// The forecast in seconds and the model that gave it; `None` while no job has started.
    pub fn forecast(&mut self, past: &Arrivals, row: usize) -> Option<(f64, Model)> {
        let target = past.table(row).filter(|_| self.started.len() > 0)?;
        if self.renewed_at == 0 || self.started.pushed() - self.renewed_at >= RENEWAL {
            self.renew_weights();
        }
        if self.parameters.distributions {
            self.histograms.shares(past, row, &mut self.shares);
            by_distributions(&self.started, &self.histograms, target, &self.shares, &self.weights, &mut self.distances);
        } else {
            by_summaries(&self.started, target, &self.weights, &mut self.distances);
        }
        if self.is_clustered()
            && let Some(forecast_s) = self.least_deviation()
        {
            return Some((forecast_s, Model::DeviationMinimiser));
        }
        let farthest = self.parameters.farthest_regression as f32;
        if let Some(forecast_s) =
            ridge::forecast_s(&self.started, &self.distances, farthest, target).filter(|forecast_s| *forecast_s >= 0.0)
        {
            return Some((forecast_s, Model::Regression));
        }
        if self.parameters.distributions {
            by_summaries(&self.started, target, &self.weights, &mut self.distances);
        }
        Some((self.weighted_mean(), Model::WeightedMean))
    }

    fn renew_weights(&mut self) {
        self.renewed_at = self.started.pushed();
        self.spearman.set_waits(self.started.waits_s());
        for (index, weight) in self.weights.features.iter_mut().enumerate() {
            // With distributions only the job's own attributes count, and summaries where the
            // weighted mean is wanted.
            *weight = self.spearman.weight(self.started.features().iter().filter_map(|features| features.get(index)).copied());
        }
        if self.parameters.distributions {
            for (index, weight) in self.weights.distributions.iter_mut().enumerate() {
                *weight = self.spearman.weight(self.histograms.norms().iter().filter_map(|norms| norms.get(index)).copied());
            }
        }
    }

    /// Cases B and not A or C of II.C: the closest are near, and few of them are outliers among the
    /// others.
    fn is_clustered(&mut self) -> bool {
        let count = (0.01 * self.parameters.closest_percent * self.distances.len() as f64).ceil() as usize;
        let closest = nearest(&self.distances, count, &mut self.room);
        let mean = closest.iter().map(|(distance, _)| f64::from(*distance)).sum::<f64>() / closest.len().max(1) as f64;
        if mean > self.parameters.farthest_window {
            return false;
        }
        closest.sort_unstable_by(nearer);
        let longest = self.started.waits_s().iter().copied().fold(1.0f32, f32::max);
        let (started, longest) = (&self.started, f64::from(longest));
        self.points.clear();
        self.points.extend(closest.iter().map(|(distance, slot)| [f64::from(*distance), started.wait_s(*slot as usize) / longest]));
        let outliers = outliers(&self.points, self.parameters.epsilon, self.parameters.min_points, &mut self.core);
        (outliers as f64) < self.parameters.outlier_part * self.points.len() as f64
    }

    /// II.C.2; `None` where no window has enough jobs.
    fn least_deviation(&mut self) -> Option<f64> {
        let Parameters { window, farthest_window, min_points, .. } = self.parameters;
        let windows = (farthest_window / window).ceil().max(1.0) as usize;
        self.windows.clear();
        self.windows.resize(windows, Window::default());
        for (distance, wait_s) in self.distances.iter().zip(self.started.waits_s()) {
            let (distance, wait_s) = (f64::from(*distance), f64::from(*wait_s));
            if let Some(sums) = self.windows.get_mut((distance / window) as usize) {
                let weight = (-distance * distance).exp();
                sums.count += 1.0;
                sums.sum += wait_s;
                sums.squares += wait_s * wait_s;
                sums.weight += weight;
                sums.weighted += weight * wait_s;
            }
        }
        let variance = |sums: &Window| (sums.squares / sums.count - (sums.sum / sums.count) * (sums.sum / sums.count)).max(0.0);
        let enough = self.windows.iter().filter(|sums| sums.count >= min_points.max(2) as f64);
        // The first of equals, which is the nearest.
        let least = enough.min_by(|a, b| variance(a).total_cmp(&variance(b)))?;
        Some(least.weighted / least.weight)
    }

    /// The weighted mean of the closest jobs' waits (section II.C.4 of Hariharan et al. 2020).
    fn weighted_mean(&mut self) -> f64 {
        let found = nearest(&self.distances, self.parameters.neighbours.max(1), &mut self.room);
        found.sort_unstable_by(nearer);
        let weight = |near: &Near| f64::from(-near.0 * near.0).exp();
        let sum: f64 = found.iter().map(|near| weight(near) * self.started.wait_s(near.1 as usize)).sum();
        sum / found.iter().map(weight).sum::<f64>().max(f64::MIN_POSITIVE)
    }
}

impl WaitPredictor for Apq {
    fn point(&mut self, past: &Arrivals, row: usize) -> f64 {
        self.forecast(past, row).map_or(0.0, |(forecast_s, _)| forecast_s)
    }

    fn learn(&mut self, past: &Arrivals, row: usize) {
        if let Some(slot) = self.started.push(past, row)
            && self.parameters.distributions
        {
            self.histograms.shares(past, row, &mut self.shares);
            self.histograms.put(slot, &self.shares);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::replay::tests::{arrivals, is_blind_to_the_future, pattern};
    use super::*;

    fn learnt(parameters: Parameters, told: &[(u32, i64, i64)]) -> (Apq, Arrivals) {
        let past = arrivals(told);
        let mut apq = Apq::new(parameters);
        (0..told.len() - 1).for_each(|row| apq.learn(&past, row));
        (apq, past)
    }

    #[test]
    fn a_dense_cluster_of_like_waits_is_answered_by_its_mean() {
        let mut told: Vec<_> = (0..300).map(|index| if index % 2 == 0 { (1, 60, 100) } else { (64, 60, 800) }).collect();
        told.push((1, 60, 0));
        let (mut apq, past) = learnt(Parameters { closest_percent: 5.0, ..Parameters::default() }, &told);
        let (forecast_s, model) = apq.forecast(&past, 300).unwrap();
        assert_eq!(model, Model::DeviationMinimiser);
        assert!((forecast_s - 100.0).abs() < 1.0, "{forecast_s}");
    }

    #[test]
    fn scattered_waits_are_answered_by_the_regression() {
        let mut told: Vec<_> = (0..300).map(|index| (1 + index % 64, 60, 10 * (1 + i64::from(index % 64)))).collect();
        told.push((32, 60, 0));
        let (mut apq, past) = learnt(Parameters { outlier_part: 0.0, ..Parameters::default() }, &told);
        let (forecast_s, model) = apq.forecast(&past, 300).unwrap();
        assert_eq!(model, Model::Regression);
        assert!((forecast_s - 320.0).abs() < 30.0, "{forecast_s}");
    }

    #[test]
    fn forecasts_are_not_negative_and_nothing_is_forecast_from_nothing() {
        let told = pattern(200);
        let past = arrivals(&told);
        let mut apq = Apq::new(Parameters { outlier_part: 0.0, farthest_regression: 1.0, ..Parameters::default() });
        assert_eq!(apq.forecast(&past, 0), None);
        for row in 0..199 {
            apq.learn(&past, row);
            assert!(apq.point(&past, row + 1) >= 0.0);
        }
    }

    #[test]
    fn bins_are_added_up_from_those_of_the_sweep() {
        let past = arrivals(&pattern(50));
        let mut shares = Vec::new();
        Histograms::new(5).shares(&past, 40, &mut shares);
        assert_eq!(shares.len(), 30);
        assert!(shares.chunks(5).all(|histogram| histogram.iter().sum::<f32>() < 1.02));
        assert!(shares.chunks(5).any(|histogram| histogram.iter().sum::<f32>() > 0.98));
    }

    #[test]
    fn tuning_never_worsens_the_validation_part() {
        let past = arrivals(&pattern(300));
        let split = Split { history: 0..200, validation: 200..300, every: 4 };
        let error = |parameters| split.mean_absolute_error_s(&past, &mut Apq::new(parameters));
        assert!(error(Apq::tune(&past, &split)) <= error(Parameters::default()));
    }

    #[test]
    fn waits_of_jobs_not_yet_started_change_nothing() {
        for distributions in [false, true] {
            let parameters = Parameters { distributions, ..Parameters::default() };
            assert!(is_blind_to_the_future(&pattern(120), 100, || Apq::new(parameters)));
        }
    }
}
