//! Instance-based learning of waits (Li, Groep, Wolters: Cluster 2005, CCGrid 2006, and Future
//! Generation Computer Systems 2007).
//!
//! A job is its own attributes and those of the cluster's state at its arrival. Jobs are compared
//! by the weighted heterogeneous Euclidean-overlap distance: a nominal attribute differs by 0 or 1,
//! a number by its difference over its span. The forecast comes from the nearest job, from the
//! weighted mean of the nearest n, or from a linear regression weighted by nearness; which of them,
//! its parameters and the weights of the attributes are found by a genetic algorithm on the
//! validation part.
//!
//! The nominal attributes here are user, account and partition, the numbers the sixteen of table II
//! of Hariharan et al. 2020, so that size counts as a number. A history of 6,000 started jobs is
//! searched. The regression uses the nearest n jobs, at least 40, and stays within the waits that
//! they had.

mod regression;

use super::WaitPredictor;
use super::replay::Split;
use super::started::{Near, Started, nearer, nearest, sum};
use crate::genetic::{Evolution, Gene};
use job_types::job::WaitingJob;
use learning::sweep::{Arrivals, TABLE_FEATURES};
use regression::LocalRegression;

/// Jobs of the history.
const HISTORY_JOBS: usize = 6_000;

/// User, account and partition.
const NOMINAL: usize = 3;

/// The regression needs more jobs than the mean.
const FEWEST_FOR_REGRESSION: usize = 40;

/// How waits follow from the nearest jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// The wait of the nearest (1-NN).
    Nearest,
    /// The mean of the nearest, weighted by a Gaussian kernel (n-WA).
    WeightedMean,
    /// A linear regression, weighted by a Gaussian kernel (LWLR).
    LocalRegression,
}

/// What the genetic algorithm finds.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Weights of user, account and partition.
    pub nominal: [f32; NOMINAL],
    /// Weights of the features of table II.
    pub numbers: [f32; TABLE_FEATURES],
    /// The model that is fitted to the nearest jobs.
    pub model: Model,
    /// How many of the nearest jobs it uses.
    pub neighbours: usize,
    /// The width of the Gaussian kernel, as a multiple of the distance of the farthest of them.
    pub width: f64,
}

impl Default for Parameters {
    /// All attributes alike, and the mean of five.
    fn default() -> Parameters {
        Parameters { nominal: [1.0; NOMINAL], numbers: [1.0; TABLE_FEATURES], model: Model::WeightedMean, neighbours: 5, width: 1.0 }
    }
}

impl Parameters {
    /// The genes: weights, model, neighbours, width.
    fn genes() -> Vec<Gene> {
        let mut genes = vec![Gene::Real(0.0, 1.0); NOMINAL + TABLE_FEATURES];
        genes.extend([Gene::Whole(0, 2), Gene::Whole(2, 50), Gene::Real(0.2, 2.0)]);
        genes
    }

    fn values(&self) -> Vec<f64> {
        let weights = self.nominal.iter().chain(&self.numbers).map(|weight| f64::from(*weight));
        let model = match self.model {
            Model::Nearest => 0.0,
            Model::WeightedMean => 1.0,
            Model::LocalRegression => 2.0,
        };
        weights.chain([model, self.neighbours as f64, self.width]).collect()
    }

    fn from_values(values: &[f64]) -> Parameters {
        let mut values = values.iter().copied();
        let mut next = || values.next().unwrap_or(0.0);
        Parameters {
            nominal: std::array::from_fn(|_| next() as f32),
            numbers: std::array::from_fn(|_| next() as f32),
            model: match next() as i64 {
                0 => Model::Nearest,
                1 => Model::WeightedMean,
                _ => Model::LocalRegression,
            },
            neighbours: next() as usize,
            width: next(),
        }
    }
}

/// Instance-based learning.
#[derive(Clone, Debug)]
pub struct InstanceBased {
    parameters: Parameters,
    started: Started,
    nominal: Vec<[u32; NOMINAL]>,
    distances: Vec<f32>,
    room: Vec<Near>,
    regression: LocalRegression,
}

fn nominal(job: &WaitingJob) -> [u32; NOMINAL] {
    [job.user.0, job.account.0, u32::from(job.partition.0)]
}

impl InstanceBased {
    /// Before any job has started.
    #[must_use]
    pub fn new(parameters: Parameters) -> InstanceBased {
        InstanceBased {
            parameters,
            started: Started::new(HISTORY_JOBS),
            nominal: Vec::new(),
            distances: Vec::new(),
            room: Vec::new(),
            regression: LocalRegression::default(),
        }
    }

    /// The parameters of least mean absolute error on the validation part: 16 generations of 20,
    /// the default among the first of them.
    #[must_use]
    pub fn tune(past: &Arrivals, split: &Split, seed: u64) -> Parameters {
        InstanceBased::found_by(Evolution { population: 20, generations: 16, seed, ..Evolution::default() }, past, split)
    }

    fn found_by(evolution: Evolution, past: &Arrivals, split: &Split) -> Parameters {
        let regression = Parameters { model: Model::LocalRegression, neighbours: 50, ..Parameters::default() };
        let known = [Parameters::default().values(), regression.values()];
        let error_s = |values: &[f64]| split.mean_absolute_error_s(past, &mut InstanceBased::new(Parameters::from_values(values)));
        Parameters::from_values(&evolution.minimise(&Parameters::genes(), &known, error_s).values)
    }

    /// The squares of the distances of all jobs, by place.
    fn measure(&mut self, past: &Arrivals, row: usize) -> Option<()> {
        let (target, nominals) = (past.table(row)?, nominal(past.job(row)?.submitted()));
        let mut factors = self.started.scales(target);
        factors.iter_mut().zip(&self.parameters.numbers).for_each(|(factor, weight)| *factor *= factor.abs() * weight);
        let weights = self.parameters.nominal;
        self.distances.clear();
        self.distances.extend(self.started.features().iter().zip(&self.nominal).map(|(features, other)| {
            let mut sums = [0.0f32; TABLE_FEATURES];
            for (((sum, a), b), factor) in sums.iter_mut().zip(features).zip(target).zip(&factors) {
                *sum = (a - b) * (a - b) * factor;
            }
            let unequal = other.iter().zip(&nominals).zip(&weights);
            sum(&sums) + unequal.map(|((a, b), weight)| if a == b { 0.0 } else { *weight }).sum::<f32>()
        }));
        Some(())
    }
}

impl WaitPredictor for InstanceBased {
    fn point(&mut self, past: &Arrivals, row: usize) -> f64 {
        let count = match self.parameters.model {
            Model::Nearest => 1,
            Model::WeightedMean => self.parameters.neighbours,
            Model::LocalRegression => self.parameters.neighbours.max(FEWEST_FOR_REGRESSION),
        };
        let (Some(()), Some(target)) = (self.measure(past, row), past.table(row)) else { return 0.0 };
        let found = nearest(&self.distances, count, &mut self.room);
        found.sort_unstable_by(nearer);
        let farthest = found.last().map_or(0.0, |(square, _)| f64::from(*square));
        let wide = (self.parameters.width * self.parameters.width * farthest).max(1e-12);
        let weight = |near: &Near| (-f64::from(near.0) / wide).exp();
        let started = &self.started;
        let wait_s = |near: &Near| started.wait_s(near.1 as usize);
        if self.parameters.model == Model::LocalRegression && found.len() >= FEWEST_FOR_REGRESSION {
            let scales = started.scales(target);
            let jobs = found.iter().filter_map(|near| Some((weight(near), started.features().get(near.1 as usize)?, wait_s(near))));
            if let Some(forecast_s) = self.regression.forecast_s(jobs, target, &scales) {
                return forecast_s;
            }
        }
        let sum: f64 = found.iter().map(|near| weight(near) * wait_s(near)).sum();
        sum / found.iter().map(weight).sum::<f64>().max(f64::MIN_POSITIVE)
    }

    fn learn(&mut self, past: &Arrivals, row: usize) {
        let (Some(job), Some(slot)) = (past.job(row), self.started.push(past, row)) else { return };
        match self.nominal.get_mut(slot) {
            Some(place) => *place = nominal(job.submitted()),
            None => self.nominal.push(nominal(job.submitted())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::replay::tests::{arrivals, is_blind_to_the_future, pattern};
    use super::*;

    fn with(model: Model) -> Parameters {
        Parameters { model, neighbours: 3, ..Parameters::default() }
    }

    #[test]
    fn the_nearest_job_gives_its_wait() {
        let past = arrivals(&[(4, 60, 10), (8, 60, 700), (64, 90, 900), (7, 60, 0)]);
        let mut predictor = InstanceBased::new(with(Model::Nearest));
        assert_eq!(predictor.point(&past, 3), 0.0);
        (0..3).for_each(|row| predictor.learn(&past, row));
        // 8 CPUs are nearer to 7 than 4 are.
        assert_eq!(predictor.point(&past, 3), 700.0);
    }

    #[test]
    fn the_weighted_mean_leans_to_the_nearer() {
        let past = arrivals(&[(1, 60, 100), (5, 60, 200), (2, 60, 0)]);
        let mut predictor = InstanceBased::new(Parameters { neighbours: 2, ..with(Model::WeightedMean) });
        (0..2).for_each(|row| predictor.learn(&past, row));
        // Squares of the distances 1 / 16 and 9 / 16 over the farthest: weights e^(-1/9) = 0.895
        // and e^-1 = 0.368.
        assert!((predictor.point(&past, 2) - (0.895 * 100.0 + 0.368 * 200.0) / 1.263).abs() < 0.1);
    }

    #[test]
    fn parameters_survive_the_way_through_numbers() {
        let parameters = Parameters { neighbours: 7, width: 0.5, ..with(Model::LocalRegression) };
        assert_eq!(Parameters::from_values(&parameters.values()), parameters);
        assert_eq!(Parameters::genes().len(), parameters.values().len());
    }

    #[test]
    fn what_is_found_is_no_worse_on_the_validation_part_than_equal_weights() {
        let past = arrivals(&pattern(300));
        let split = Split { history: 0..200, validation: 200..300, every: 4 };
        let error = |parameters| split.mean_absolute_error_s(&past, &mut InstanceBased::new(parameters));
        let few = Evolution { population: 5, generations: 3, ..Evolution::default() };
        let found = InstanceBased::found_by(few, &past, &split);
        assert_eq!(found, InstanceBased::found_by(few, &past, &split));
        assert!(error(found) <= error(Parameters::default()));
    }

    #[test]
    fn waits_of_jobs_not_yet_started_change_nothing() {
        for model in [Model::Nearest, Model::WeightedMean, Model::LocalRegression] {
            assert!(is_blind_to_the_future(&pattern(120), 100, || InstanceBased::new(with(model))));
        }
    }
}
