//! What is to be had on a cluster, and the cheapest set over several.

use job_types::options::SuccessProbability;
use predictor_core::decisions::{DecisionInputs, JointOption, JointReservation, NotReserved, joint_reservation, probabilities_to_ask};
use predictor_core::snapshot::Snapshot;

use super::ClusterReport;
use crate::reserve::offer::{Given, decided};

/// A reservation that a cluster would give.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    /// The probability that it is asked for with.
    pub(super) ask: f64,
    pub(super) given: Given,
    expected_node_seconds: u64,
}

/// What a cluster would give, for each of the [`probabilities_to_ask`].
///
/// # Errors
/// Why it gives nothing.
pub(super) fn choices(situation: &DecisionInputs<'_, Snapshot<Vec<u8>>>) -> Result<Vec<Choice>, NotReserved> {
    let best = decided(situation, SuccessProbability::Best)?;
    let choice = |ask: f64| {
        let reservation = decided(situation, SuccessProbability::AtLeast(ask)).ok()?;
        let cost = reservation.cost();
        Some(Choice { ask, given: Given::from(&reservation), expected_node_seconds: cost.expected_node_seconds })
    };
    Ok(probabilities_to_ask(best.point.probability).filter_map(choice).collect())
}

/// The cheapest set by the cost that is expected of each where none is withdrawn, of equally cheap
/// ones the most probable. For the best probability there is, the most probable set.
///
/// # Errors
/// The most probable set, where none suffices.
pub(super) fn cheapest(clusters: &[ClusterReport], wanted: SuccessProbability) -> Result<JointReservation, JointReservation> {
    let option = |choice: &Choice| JointOption { probability: choice.ask, node_seconds: choice.expected_node_seconds };
    let options: Vec<Vec<JointOption>> = clusters.iter().map(|cluster| cluster.choices.iter().map(option).collect()).collect();
    match (joint_reservation(&options, wanted.wanted()), wanted) {
        (Err(best), SuccessProbability::Best) if best.probability > 0.0 => Ok(best),
        (found, _) => found,
    }
}
