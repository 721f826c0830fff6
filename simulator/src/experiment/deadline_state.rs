//! What became of a deadline in a replay.

use job_types::job::Ending;
use job_types::policy::Admission;
use job_types::promise::{PromiseState, PromisedDeadline};
use job_types::time::{Seconds, UnixTime};

/// What became of the deadline of a job that was taken and ended then and so, by the rule of what
/// is promised on a cluster ([`PromisedDeadline::state`]). `None` is a job that still waited when
/// its deadline had come, and was ended for that.
pub(crate) fn deadline_state(deadline: UnixTime, end: Option<UnixTime>, ending: Ending) -> PromiseState {
    let given = PromisedDeadline {
        by: Admission::Probability,
        given_at: UnixTime(i64::MIN),
        deadline,
        wanted: None,
        probability: None,
        begin: None,
        shared_estimate: None,
        limit_is_ours: false,
        was_ended_as_late: false,
    };
    let end = end.map_or((deadline, Ending::SlurmsDeadline), |end| (end, ending));
    given.state(Some(end), deadline + Seconds(1))
}
