//! Why a forest cannot be trained.

use super::{MOST_LEAVES, Training};
use predictor_core::forecasts::trees::MOST_FEATURES;
use thiserror::Error;

/// Why a forest cannot be trained.
#[derive(Debug, Error)]
pub enum TrainingError {
    /// No features, or more than are looked at when the forest is evaluated.
    #[error("a row cannot have {0} features; give between 1 and {MOST_FEATURES}")]
    Features(usize),
    /// The slices' lengths do not fit each other, or are 0.
    #[error(
        "{rows} targets do not fit {features} numbers in rows of {feature_count}, or the weights; give one target and one weight a row"
    )]
    Lengths {
        /// Number of targets.
        rows: usize,
        /// Number of all rows' features together.
        features: usize,
        /// Number of one row's features.
        feature_count: usize,
    },
    /// A feature, a target or a weight is infinite or not a number, or a weight is negative.
    #[error("a feature, target or weight is not a finite number, or a weight is negative; leave such rows out")]
    NotFinite,
    /// A parameter is out of its range.
    #[error("{0:?} is out of range; give at least one tree, 2 to {MOST_LEAVES} leaves, fractions above 0 to 1, and l2 of at least 0")]
    Parameters(Training),
    /// All rows have the weight 0.
    #[error("every weight is 0; give at least one row a weight")]
    NoWeight,
    /// The library of trees refused the training.
    #[error("the library cannot train these trees: {0}")]
    Library(#[from] forust_ml::errors::ForustError),
    /// What the library made is no tree, or one too large for the records.
    #[error("tree {0} of the library is no tree or too large; train with fewer leaves")]
    Tree(usize),
}
