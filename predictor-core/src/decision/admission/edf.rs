//! Earliest deadline first, at the submission: a job waits in the queue, and is refused at once only
//! where even a start now would not do (Yeo and Buyya 2006, 4).

use super::{Admitted, Alternatives, NotAdmitted};
use crate::decision::{Candidate, Context, LIMIT_ROUNDING};
use job_types::policy::Admission;
use job_types::time::{Seconds, UnixTime};

/// By the time limit of the job, which is its user's estimate; a job without one has none.
pub(super) fn admission<F>(context: &Context<'_, F>, decided: Option<&Candidate>, deadline: UnixTime) -> Result<Admitted, NotAdmitted> {
    let begin = context.submission.begin.map_or(context.now, |begin| begin.max(context.now));
    let limit = decided.map_or(context.limit, |decided| decided.limit);
    let done = limit.map(|limit| begin + limit + LIMIT_ROUNDING);
    if done.is_some_and(|done| done <= deadline) {
        return Ok(Admitted { by: Admission::Edf, deadline, probability: None, wanted: None });
    }
    let room = Seconds((deadline - begin - LIMIT_ROUNDING).0.div_euclid(60) * 60);
    let limit = (room > Seconds::ZERO).then_some(room);
    Err(NotAdmitted::BeyondLimit { alternatives: Alternatives { deadline: done, size: None, limit } })
}
