//! Admission by the forecast probability of being done in time.

use super::{Admitted, Alternatives, NotAdmitted};
use crate::decision::molding::{Assumption, deadline_that_holds};
use crate::decision::{Candidate, Context};
use crate::forecast::Forecaster;
use job_types::policy::Admission;
use job_types::time::{Seconds, UnixTime};

/// By the wait and the run time that are forecast for the job as it was decided.
pub(super) fn admission<F>(context: &Context<'_, F>, decided: Option<&Candidate>, deadline: UnixTime) -> Result<Admitted, NotAdmitted>
where
    F: Forecaster,
{
    let wanted = context.policy.deadline_probability;
    let Some(probability) = decided.and_then(|decided| decided.deadline_probability) else { return Err(NotAdmitted::NoWaits) };
    if probability >= wanted {
        return Ok(Admitted { by: Admission::Probability, deadline, probability: Some(probability), wanted: Some(wanted) });
    }
    let delay = context.submission.begin.map_or(Seconds::ZERO, |begin| (begin - context.now).max(Seconds::ZERO));
    let holds = deadline_that_holds(context, &Assumption { delay, starts_then: false }, wanted);
    Err(NotAdmitted::Unlikely { probability, wanted, alternatives: Alternatives { deadline: holds, ..Alternatives::default() } })
}
