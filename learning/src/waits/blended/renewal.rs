//! Renewal of the weights: those with which the blend would have erred least lately.

use super::outcomes::ForecastOutcome;
use predictor_core::forecasts::blend::{MEMBERS, Member, Weights, blend};

/// Before anything is known: the trees, half and half.
pub(super) const FIRST: Weights = {
    let mut weights = [0.0; MEMBERS];
    weights[Member::RootTrees as usize] = 0.5;
    weights[Member::LogTrees as usize] = 0.5;
    weights
};

/// What is moved from one member to another at a time, tried in this order.
const MOVES: [f32; 3] = [0.2, 0.05, 0.01];

fn error_s(outcomes: &[ForecastOutcome], weights: &Weights) -> f64 {
    let errors = outcomes.iter().map(|outcome| {
        let root = f64::from(blend(&outcome.members, weights));
        (root * root - f64::from(outcome.wait_s)).abs()
    });
    errors.sum()
}

/// Moves shares between the members of `weights` for as long as that makes the absolute error on
/// the outcomes smaller.
pub(super) fn renewed(mut weights: Weights, outcomes: &[ForecastOutcome]) -> Weights {
    let mut least = error_s(outcomes, &weights);
    for share in MOVES {
        // Each round is an improvement, so that the loop ends; the bound is for the unforeseen.
        for _ in 0..200 {
            let mut best = None;
            for from in 0..MEMBERS {
                for to in 0..MEMBERS {
                    let moved = share.min(weights[from]);
                    if from == to || moved <= 0.0 {
                        continue;
                    }
                    let mut tried = weights;
                    tried[from] -= moved;
                    tried[to] += moved;
                    let error = error_s(outcomes, &tried);
                    if error < least * (1.0 - 1e-6) {
                        least = error;
                        best = Some(tried);
                    }
                }
            }
            match best {
                Some(tried) => weights = tried,
                None => break,
            }
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::super::bags::BagNumber;
    use super::*;

    #[test]
    fn the_weight_goes_to_the_member_that_erred_least() {
        let outcome = |wait_s: f32| ForecastOutcome {
            root: 0.0,
            members: [0.0, wait_s.sqrt() + 5.0, wait_s.sqrt() - 5.0, wait_s.sqrt()],
            wait_s,
            bag: BagNumber::default(),
        };
        let outcomes: Vec<ForecastOutcome> = (1..200).map(|wait| outcome(wait as f32 * 100.0)).collect();
        let weights = renewed(FIRST, &outcomes);
        // Half of each forest is as good as the exact member, and nothing else is.
        assert!((weights[1] - weights[2]).abs() < 1e-3, "{weights:?}");
        let idle: Vec<ForecastOutcome> = (1..200)
            .map(|_| ForecastOutcome { root: 0.0, members: [0.0, 9.0, 12.0, 7.0], wait_s: 0.0, bag: BagNumber::default() })
            .collect();
        assert!((renewed(FIRST, &idle)[0] - 1.0).abs() < 1e-3);
    }
}
