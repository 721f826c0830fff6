//! Training of forests with squared error, by a library.
//!
//! Histograms of at most 256 bins a feature; trees grown level by level. One thread, so that the
//! caller decides what runs side by side, and the same forest whenever the same rows are trained
//! with the same [`Training`].

mod error;
mod flatten;

pub use error::TrainingError;

use forust_ml::data::Matrix;
use forust_ml::gradientbooster::GradientBooster;
use forust_ml::objective::ObjectiveType;
use forust_ml::sampler::SampleMethod;
use predictor_core::forecasts::trees::{Forest, MOST_FEATURES};
use serde::{Deserialize, Serialize};

/// The most leaves of a tree, by which every leaf is within
/// [`MOST_STEPS`](predictor_core::forecasts::trees::MOST_STEPS) of its root.
pub const MOST_LEAVES: u32 = 256;

/// Fewer rows than these are not sampled from: every tree sees all of them.
const FEWEST_SAMPLED: f64 = 100.0;

/// How a forest is trained.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// Number of trees.
    pub trees: u32,
    /// The most leaves of a tree, 2 to [`MOST_LEAVES`]. A tree is as deep as this many leaves need,
    /// so a power of two wastes none.
    pub leaves: u32,
    /// The part of what a tree has learnt that is added to the forecast, above 0 to 1.
    pub learning_rate: f32,
    /// The fewest rows of a leaf, or the least sum of their weights where they have any.
    pub rows_per_leaf: u32,
    /// The part of the features that each tree may use, drawn anew for each, above 0 to 1.
    pub feature_fraction: f64,
    /// The part of the rows that each tree is trained on, drawn anew for each, above 0 to 1.
    pub row_fraction: f32,
    /// Seed of the random numbers, on which all that is drawn depends.
    pub seed: u64,
    /// How many rows' worth of "no change" each leaf's value is averaged with, at least 0.
    pub l2: f32,
}

impl Default for Training {
    fn default() -> Self {
        Training {
            trees: 200,
            leaves: 64,
            learning_rate: 0.05,
            rows_per_leaf: 20,
            feature_fraction: 0.5,
            row_fraction: 0.8,
            seed: 1,
            l2: 1.0,
        }
    }
}

/// Trains a forest on rows of `feature_count` features each, one row after the other in `features`,
/// with one of the `targets` for each and, where the rows are not to count alike, one of the
/// `weights`, which are at least 0.
///
/// Takes about 12 bytes for each feature of each row beside the arguments.
///
/// # Errors
///
/// Where the lengths do not fit each other, there are no rows, a number is not finite or a
/// parameter out of its range, and where the library refuses.
pub fn train(
    features: &[f32],
    feature_count: usize,
    targets: &[f32],
    weights: Option<&[f32]>,
    training: &Training,
) -> Result<Forest, TrainingError> {
    check(features, feature_count, targets, weights, training)?;
    let (used, columns) = columns(features, feature_count);
    if used.is_empty() {
        return Ok(Forest { base: mean(targets, weights), ..Forest::default() });
    }
    let booster = boost(&Matrix::new(&columns, targets.len(), used.len()), targets, weights, training)?;
    flatten::flatten(&booster, &used)
}

/// The library's own form of the forest.
fn boost(
    columns: &Matrix<'_, f64>,
    targets: &[f32],
    weights: Option<&[f32]>,
    training: &Training,
) -> Result<GradientBooster, TrainingError> {
    let double = |numbers: &[f32]| -> Vec<f64> { numbers.iter().copied().map(f64::from).collect() };
    let samples = f64::from(training.row_fraction) * targets.len() as f64 >= FEWEST_SAMPLED && training.row_fraction < 1.0;
    // The library rounds the number of features down, if need be to none.
    let feature_fraction = training.feature_fraction.max(1.5 / columns.cols as f64).min(1.0);
    let mut booster = GradientBooster::default()
        .set_objective_type(ObjectiveType::SquaredLoss)
        .set_iterations(training.trees as usize)
        .set_learning_rate(training.learning_rate)
        .set_max_leaves(training.leaves as usize)
        .set_max_depth(training.leaves.next_power_of_two().ilog2() as usize)
        .set_min_leaf_weight(training.rows_per_leaf as f32)
        .set_colsample_bytree(feature_fraction)
        .set_subsample(training.row_fraction)
        .set_sample_method(if samples { SampleMethod::Random } else { SampleMethod::None })
        .set_seed(training.seed)
        .set_l2(training.l2)
        .set_initialize_base_score(true)
        .set_parallel(false);
    let weights = weights.map_or_else(|| vec![1.0; targets.len()], double);
    booster.fit(columns, &double(targets), &weights, None)?;
    Ok(booster)
}

/// The features that differ from row to row, and their numbers, one feature after the other. The
/// others teach nothing.
fn columns(features: &[f32], feature_count: usize) -> (Vec<u16>, Vec<f64>) {
    let column = |feature: u16| features.iter().skip(usize::from(feature)).step_by(feature_count).copied();
    let differs = |feature: &u16| {
        let mut column = column(*feature);
        let first = column.next();
        column.any(|number| Some(number) != first)
    };
    let used: Vec<u16> = (0..=u16::MAX).take(feature_count).filter(differs).collect();
    let columns = used.iter().flat_map(|feature| column(*feature)).map(f64::from).collect();
    (used, columns)
}

/// The weighted mean, 0 where nothing has a weight.
fn mean(targets: &[f32], weights: Option<&[f32]>) -> f64 {
    let weight = |row: usize| weights.map_or(1.0, |weights| weights.get(row).copied().map_or(0.0, f64::from));
    let (sum, total) = targets
        .iter()
        .enumerate()
        .fold((0.0, 0.0), |(sum, total), (row, target)| (sum + weight(row) * f64::from(*target), total + weight(row)));
    if total > 0.0 { sum / total } else { 0.0 }
}

/// Checks what the library would not notice.
fn check(
    features: &[f32],
    feature_count: usize,
    targets: &[f32],
    weights: Option<&[f32]>,
    training: &Training,
) -> Result<(), TrainingError> {
    if !(1..=MOST_FEATURES).contains(&feature_count) {
        return Err(TrainingError::Features(feature_count));
    }
    let rows = targets.len();
    if rows == 0 || rows.checked_mul(feature_count) != Some(features.len()) || weights.is_some_and(|weights| weights.len() != rows) {
        return Err(TrainingError::Lengths { rows, features: features.len(), feature_count });
    }
    let numbers = features.iter().chain(targets).chain(weights.unwrap_or_default());
    if !numbers.copied().all(f32::is_finite) || weights.is_some_and(|weights| !weights.iter().all(|weight| *weight >= 0.0)) {
        return Err(TrainingError::NotFinite);
    }
    if weights.is_some_and(|weights| weights.iter().all(|weight| *weight == 0.0)) {
        return Err(TrainingError::NoWeight);
    }
    let is_part = |part: f64| part > 0.0 && part <= 1.0;
    let parts = [f64::from(training.learning_rate), training.feature_fraction, f64::from(training.row_fraction)];
    let usable = training.trees > 0
        && (2..=MOST_LEAVES).contains(&training.leaves)
        && parts.into_iter().all(is_part)
        && training.l2 >= 0.0
        && training.l2.is_finite();
    if !usable {
        return Err(TrainingError::Parameters(*training));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
