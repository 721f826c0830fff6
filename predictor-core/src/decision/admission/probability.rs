//! Admission by the forecast probability of being done in time.

use super::{Admitted, Alternatives, NotAdmitted};
use crate::decision::{Candidate, Context};
use crate::forecast::Forecaster;
use crate::promise::PromiseKind;
use job_types::policy::Admission;
use job_types::time::UnixTime;

/// By the wait and the run time that are forecast for the job as it was decided. Where deadlines of
/// the past were kept too seldom, more is asked of the forecast than is wanted.
pub(super) fn admission<F>(context: &Context<'_, F>, decided: Option<&Candidate>, deadline: UnixTime) -> Result<Admitted, NotAdmitted>
where
    F: Forecaster,
{
    let wanted = context.policy.deadline_probability;
    let (partition, ahead) = (context.partition.index, deadline - context.now);
    let asked = context.forecasts.level_to_ask(PromiseKind::Deadline, partition, context.size.cpus, ahead, wanted);
    let Some(probability) = decided.and_then(|decided| decided.deadline_probability) else { return Err(NotAdmitted::NoWaits) };
    if probability >= asked {
        return Ok(Admitted { by: Admission::Probability, deadline, probability: Some(probability), wanted: Some(wanted) });
    }
    // For people, in whole percent.
    let wanted = if asked > wanted { (asked * 100.0).ceil() / 100.0 } else { wanted };
    Err(NotAdmitted::Unlikely { probability, wanted, alternatives: Alternatives::default() })
}
