//! Admission by the forecast probability of being done in time.

use super::{Admitted, Alternatives, NotAdmitted};
use crate::decision::Candidate;
use job_types::policy::Admission;
use job_types::time::UnixTime;

/// By the wait and the run time that are forecast for the job as it was decided.
pub(super) fn admission(decided: Option<&Candidate>, wanted: f64, deadline: UnixTime) -> Result<Admitted, NotAdmitted> {
    let Some(probability) = decided.and_then(|decided| decided.deadline_probability) else { return Err(NotAdmitted::NoWaits) };
    if probability >= wanted {
        return Ok(Admitted { by: Admission::Probability, deadline, probability: Some(probability), wanted: Some(wanted) });
    }
    Err(NotAdmitted::Unlikely { probability, wanted, alternatives: Alternatives::default() })
}
