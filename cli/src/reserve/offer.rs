//! With which probability nodes can be had at a time, and what that costs.

use std::fmt;
use std::str::FromStr;

use job_types::options::Asked;
use predictor_core::decision::{NotReserved, Reservation, Situation, Submission, decide};
use predictor_core::snapshot::Snapshot;
use serde::{Serialize, Serializer};

use crate::described::trajectory::CostReport;

/// The probabilities of which the cost is shown beside that which was asked for: those of Nurmi,
/// Wolski and Brevik (2008, table 3), and two in between and above.
const PROBABILITIES: [f64; 5] = [0.5, 0.75, 0.9, 0.95, 0.99];

/// Certainty, which no forecast of a wait reaches.
const CERTAINTY: f64 = 1.0;

/// The probability that is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Wanted {
    /// At least this one.
    AtLeast(f64),
    /// The highest that is to be had.
    Best,
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("best") {
            return Ok(Self::Best);
        }
        let probability = text.parse().ok().filter(|probability| *probability > 0.0 && *probability < 1.0);
        probability.map(Self::AtLeast).ok_or_else(|| "use a number greater than 0 and less than 1, as 0.95, or best".to_owned())
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(probability) => probability.fmt(formatter),
            Self::Best => formatter.write_str("best"),
        }
    }
}

impl Serialize for Wanted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::AtLeast(probability) => serializer.serialize_f64(*probability),
            Self::Best => serializer.serialize_str("best"),
        }
    }
}

/// A reservation that is to be had.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Given {
    pub(super) probability: f64,
    pub(super) begin: i64,
    pub(super) padded_limit_s: i64,
    #[serde(flatten)]
    pub(super) cost: CostReport,
}

/// What is to be had with a probability.
#[derive(Debug, Serialize)]
pub(super) struct Offer {
    pub(super) wanted: Wanted,
    #[serde(flatten)]
    pub(super) reservation: Option<Given>,
    /// Why there is none.
    pub(super) refused: Option<String>,
    /// From when on there would be one, where there is none.
    pub(super) earliest: Option<i64>,
}

impl Offer {
    /// What the submit filter would decide.
    pub(super) fn of(situation: &Situation<'_, Snapshot<Vec<u8>>>, wanted: Wanted) -> Self {
        let decided = match wanted {
            Wanted::AtLeast(probability) => decided(situation, probability),
            // The refusal of certainty says what the highest is.
            Wanted::Best => match decided(situation, CERTAINTY) {
                Err(NotReserved::Unlikely { best, .. }) if best > 0.0 => decided(situation, best),
                other => other,
            },
        };
        let nodes = situation.submission.size(&situation.partition).nodes;
        match decided {
            Ok(reservation) => Self {
                wanted,
                reservation: Some(Given {
                    probability: reservation.point.probability,
                    begin: reservation.point.begin.0,
                    padded_limit_s: reservation.point.padded_limit.0,
                    cost: reservation.cost(nodes).into(),
                }),
                refused: None,
                earliest: None,
            },
            Err(why) => {
                let earliest = if let NotReserved::Unlikely { earliest, .. } = why { earliest } else { None };
                Self { wanted, reservation: None, refused: Some(why.to_string()), earliest: earliest.map(|earliest| earliest.0) }
            }
        }
    }

    /// For several probabilities, with that which was asked for among them, ascending, and for the
    /// highest.
    pub(super) fn several(situation: &Situation<'_, Snapshot<Vec<u8>>>, asked: Wanted) -> Vec<Self> {
        let mut probabilities = PROBABILITIES.to_vec();
        if let Wanted::AtLeast(asked) = asked
            && !probabilities.contains(&asked)
        {
            probabilities.push(asked);
            probabilities.sort_by(f64::total_cmp);
        }
        let wanted = probabilities.into_iter().map(Wanted::AtLeast).chain([Wanted::Best]);
        wanted.map(|wanted| Self::of(situation, wanted)).collect()
    }
}

/// The reservation that is decided on where a probability is asked for.
fn decided(situation: &Situation<'_, Snapshot<Vec<u8>>>, probability: f64) -> Result<Reservation, NotReserved> {
    let asked = Asked { success_probability: Some(probability), ..situation.submission.asked.clone() };
    let submission = Submission { asked, ..situation.submission.clone() };
    decide(&Situation { submission: &submission, ..*situation }).reservation.unwrap_or(Err(NotReserved::NotOffered))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probability_lies_between_0_and_1_or_is_the_best() {
        assert_eq!(("0.9".parse(), "Best".parse()), (Ok(Wanted::AtLeast(0.9)), Ok(Wanted::Best)));
        assert!(["0", "1", "95%", "NaN", "", "worst"].iter().all(|text| text.parse::<Wanted>().is_err()));
    }
}
