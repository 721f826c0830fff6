//! Training of the members' forests, apart from everything else, so that it can go on in the
//! background.

use crate::training::{Training, TrainingError, train};
use predictor_core::forecasts::trees::Forest;

/// What the forests are to be trained on. It holds copies: the history goes on meanwhile.
#[derive(Clone, Debug)]
pub struct Retraining {
    pub(super) features: Vec<f32>,
    pub(super) waits_s: Vec<f32>,
    pub(super) training: Training,
}

/// Forests that were trained, of the root and of the logarithm of the wait.
#[derive(Clone, Debug)]
pub struct Retrained {
    pub(super) forests: [Forest; 2],
}

impl Retraining {
    /// How many jobs it is trained on.
    #[must_use]
    pub fn jobs(&self) -> usize {
        self.waits_s.len()
    }

    /// Trains, on the thread that calls.
    ///
    /// # Errors
    /// What the training says.
    pub fn run(&self) -> Result<Retrained, TrainingError> {
        let fit = |target: fn(f32) -> f32, seed| {
            let targets: Vec<f32> = self.waits_s.iter().map(|wait_s| target(*wait_s)).collect();
            train(&self.features, predictor_core::forecasts::past::FEATURES, &targets, None, &Training { seed, ..self.training })
        };
        let root = fit(f32::sqrt, self.training.seed)?;
        let log = fit(f32::ln_1p, self.training.seed.wrapping_add(1))?;
        Ok(Retrained { forests: [root, log] })
    }
}
