//! Earliest deadline first, at the submission: a job waits in the queue, and is refused at once
//! only where even a start now would not do (Yeo and Buyya 2006, 4).

use super::{Admitted, Alternatives, NotAdmitted};
use crate::decisions::{Candidate, DerivedInputs, LIMIT_ROUNDING};
use job_types::policy::Admission;
use job_types::time::UnixTime;

/// Admits a job whose time limit, as its user's estimate, ends by the deadline. A job without a
/// limit is not admitted.
pub(super) fn admission<F>(
    context: &DerivedInputs<'_, F>,
    decided: Option<&Candidate>,
    deadline: UnixTime,
) -> Result<Admitted, NotAdmitted> {
    let begin = context.now + context.delay_as_written();
    let limit = decided.map_or(context.limit, |decided| decided.limit);
    if limit.is_some_and(|limit| begin + limit + LIMIT_ROUNDING <= deadline) {
        return Ok(Admitted { by: Admission::Edf, deadline, probability: None, wanted: None, begin: None });
    }
    Err(NotAdmitted::BeyondLimit { alternatives: Alternatives::default() })
}
