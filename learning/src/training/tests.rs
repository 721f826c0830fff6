use super::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rows of three features between 0 and 1, one after the other.
fn rows(count: usize) -> Vec<f32> {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    (0..3 * count).map(|_| random.random()).collect()
}

fn targets(features: &[f32], of: impl Fn(&[f32]) -> f32) -> Vec<f32> {
    features.chunks_exact(3).map(of).collect()
}

fn mean_absolute_error(forest: &Forest, features: &[f32], targets: &[f32]) -> f64 {
    let errors = features.chunks_exact(3).zip(targets).map(|(row, target)| (forest.predict(row) - f64::from(*target)).abs());
    errors.sum::<f64>() / targets.len() as f64
}

const FEW: Training =
    Training { trees: 60, leaves: 8, learning_rate: 0.2, feature_fraction: 1.0, row_fraction: 1.0, seed: 1, rows_per_leaf: 20, l2: 0.0 };

#[test]
fn a_step_is_learnt() {
    let features = rows(2000);
    let targets = targets(&features, |row| if row[1] <= 0.25 { 3.0 } else { 7.0 });
    let forest = train(&features, 3, &targets, None, &FEW).unwrap();
    // What the learning rate leaves of a step of 4 after 60 trees is 0.8^60 = 1.5e-6 of it. But the
    // edge lies within a bin, whose rows of the one side pull the values of the other's leaves.
    assert!((forest.predict(&[0.5, 0.2, 0.5]) - 3.0).abs() < 0.05);
    assert!((forest.predict(&[0.5, 0.3, 0.5]) - 7.0).abs() < 0.05);
}

#[test]
fn a_sum_of_functions_is_learnt() {
    let features = rows(4000);
    let targets = targets(&features, |row| 2.0 * row[0] + (6.0 * row[1]).sin());
    let forest = train(&features, 3, &targets, None, &FEW).unwrap();
    assert!(mean_absolute_error(&forest, &features, &targets) < 0.05);
}

#[test]
fn flat_trees_forecast_as_the_library_does() {
    let features = rows(3000);
    let targets = targets(&features, |row| 50.0 * row[0] * row[1] + 100.0 * row[2].powi(3));
    let training = Training { rows_per_leaf: 5, ..Training::default() };
    let (used, columns) = columns(&features, 3);
    let matrix = Matrix::new(&columns, 3000, 3);
    let booster = boost(&matrix, &targets, None, &training).unwrap();
    let forest = flatten::flatten(&booster, &used).unwrap();
    for (row, theirs) in features.chunks_exact(3).zip(booster.predict(&matrix, false)) {
        assert!((forest.predict(row) - theirs).abs() < 1e-4);
    }
}

#[test]
fn a_feature_that_never_differs_keeps_its_place() {
    let features: Vec<f32> = rows(1000).chunks_exact(3).flat_map(|row| [7.0, row[1], 7.0]).collect();
    let targets = targets(&features, |row| row[1]);
    let forest = train(&features, 3, &targets, None, &FEW).unwrap();
    assert!(forest.nodes.iter().all(|node| node.children.get() == 0 || node.feature.get() == 1));
    assert!(mean_absolute_error(&forest, &features, &targets) < 0.02);
}

#[test]
fn the_same_seed_gives_the_same_forest_and_another_seed_another() {
    let features = rows(1000);
    let targets = targets(&features, |row| row[0] + row[1]);
    let forest = |seed| train(&features, 3, &targets, None, &Training { seed, trees: 20, ..Training::default() }).unwrap();
    assert_eq!(forest(7), forest(7));
    assert_ne!(forest(7), forest(8));
}

#[test]
fn a_row_without_weight_is_not_learnt_from() {
    let features = rows(2000);
    let targets = targets(&features, |row| if row[2] > 0.5 { 1.0 } else { 0.0 });
    let weights: Vec<f32> = targets.iter().map(|target| 1.0 - target).collect();
    let forest = train(&features, 3, &targets, Some(&weights), &FEW).unwrap();
    assert!(forest.predict(&[0.5, 0.5, 0.9]).abs() < 1e-6);
}

#[test]
fn targets_that_are_all_alike_are_the_forecast() {
    let features = rows(100);
    let forest = train(&features, 3, &[5.0; 100], None, &FEW).unwrap();
    assert!((forest.predict(&[0.1, 0.2, 0.3]) - 5.0).abs() < 1e-5);
    let forest = train(&[1.0; 6], 3, &[2.0, 4.0], None, &FEW).unwrap();
    assert!((forest.predict(&[1.0; 3]) - 3.0).abs() < 1e-5);
}

#[test]
fn what_cannot_be_trained_is_refused() {
    let refused =
        |features: &[f32], count, targets: &[f32], weights, training| train(features, count, targets, weights, &training).unwrap_err();
    assert!(matches!(refused(&[], 3, &[], None, FEW), TrainingError::Lengths { .. }));
    assert!(matches!(refused(&[1.0; 6], 3, &[1.0], None, FEW), TrainingError::Lengths { .. }));
    assert!(matches!(refused(&[1.0; 3], 3, &[1.0], Some(&[][..]), FEW), TrainingError::Lengths { .. }));
    assert!(matches!(refused(&[1.0; 3], 0, &[1.0], None, FEW), TrainingError::Features(0)));
    // The evaluation would not look at the last of them.
    assert!(matches!(refused(&[1.0; 128], 128, &[1.0], None, FEW), TrainingError::Features(128)));
    assert!(matches!(refused(&[f32::NAN; 3], 3, &[1.0], None, FEW), TrainingError::NotFinite));
    assert!(matches!(refused(&[1.0; 3], 3, &[1.0], None, Training { leaves: 1, ..FEW }), TrainingError::Parameters(_)));
}
