//! The probability with which nodes can be had at a time, and what that costs.

use forecast_report::CostReport;
use job_types::options::{SuccessProbability, UserOptions};
use predictor_core::decisions::{DecisionInputs, NotReserved, Reservation, Submission, decide};
use predictor_core::snapshot::Snapshot;
use serde::Serialize;

/// The probabilities of which the cost is shown beside that which was asked for: those of Nurmi,
/// Wolski and Brevik (2008, table 3), and two in between and above.
const PROBABILITIES: [f64; 5] = [0.5, 0.75, 0.9, 0.95, 0.99];

/// A reservation that is to be had.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Given {
    pub(super) probability: f64,
    pub(super) begin: i64,
    pub(super) padded_limit_s: i64,
    #[serde(flatten)]
    pub(super) cost: CostReport,
}

impl From<&Reservation> for Given {
    fn from(reservation: &Reservation) -> Self {
        Self {
            probability: reservation.point.probability,
            begin: reservation.point.begin.0,
            padded_limit_s: reservation.point.padded_limit.0,
            cost: reservation.cost().into(),
        }
    }
}

/// What is to be had with a probability.
#[derive(Debug, Serialize)]
pub(super) struct Offer {
    pub(super) wanted: SuccessProbability,
    #[serde(flatten)]
    pub(super) reservation: Option<Given>,
    /// Why there is none.
    pub(super) refused: Option<String>,
    /// A later reserved time for which there would be a reservation, if there is none for this
    /// time.
    pub(super) later_at: Option<i64>,
}

impl Offer {
    /// What the submit filter would decide.
    pub(super) fn of(situation: &DecisionInputs<'_, Snapshot<Vec<u8>>>, wanted: SuccessProbability) -> Self {
        match decided(situation, wanted) {
            Ok(reservation) => Self { wanted, reservation: Some(Given::from(&reservation)), refused: None, later_at: None },
            Err(why) => {
                let later_at = match why {
                    NotReserved::Unlikely { later, .. }
                    | NotReserved::SlurmReservation { later, .. }
                    | NotReserved::Crowded { later, .. } => later,
                    _ => None,
                };
                Self { wanted, reservation: None, refused: Some(why.to_string()), later_at: later_at.map(|later_at| later_at.0) }
            }
        }
    }

    /// Returns offers for several probabilities, ascending, with the requested one among them, and
    /// for the highest.
    pub(super) fn several(situation: &DecisionInputs<'_, Snapshot<Vec<u8>>>, asked: SuccessProbability) -> Vec<Self> {
        let mut probabilities = PROBABILITIES.to_vec();
        if let SuccessProbability::AtLeast(asked) = asked
            && !probabilities.contains(&asked)
        {
            probabilities.push(asked);
            probabilities.sort_by(f64::total_cmp);
        }
        let wanted = probabilities.into_iter().map(SuccessProbability::AtLeast).chain([SuccessProbability::Best]);
        wanted.map(|wanted| Self::of(situation, wanted)).collect()
    }
}

/// The reservation that is decided on where a probability is asked for.
pub(super) fn decided(situation: &DecisionInputs<'_, Snapshot<Vec<u8>>>, wanted: SuccessProbability) -> Result<Reservation, NotReserved> {
    let asked = UserOptions { success_probability: Some(wanted), ..situation.submission.asked.clone() };
    let submission = Submission { asked, ..situation.submission.clone() };
    decide(&DecisionInputs { submission: &submission, ..*situation }).reservation.unwrap_or(Err(NotReserved::NotOffered))
}
