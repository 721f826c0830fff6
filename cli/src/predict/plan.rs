//! What the plan of the queue says of a job that would be submitted now.

use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::DecisionInputs;
use predictor_core::snapshot::Snapshot;
use serde::Serialize;

/// When the job would start if it were submitted now.
#[derive(Debug, Serialize)]
pub(super) struct PlanReport {
    /// When the queue was planned, in Unix seconds.
    pub(super) plan_at: i64,
    /// Whether all jobs that wait were placed.
    pub(super) is_complete: bool,
    /// `None` where there is never room for such a job, or the partition starts none.
    #[serde(flatten)]
    pub(super) start: Option<StartReport>,
}

/// The expected start and its bounds.
#[derive(Debug, Serialize)]
pub(super) struct StartReport {
    pub(super) expected_start: i64,
    pub(super) earliest_start: i64,
    pub(super) latest_start: i64,
    /// Seconds from now, or from when the job may begin.
    pub(super) expected_wait_s: i64,
}

impl PlanReport {
    /// Reports on the job as it is written; `None` without a plan.
    pub(super) fn of(situation: &DecisionInputs<'_, Snapshot<Vec<u8>>>) -> Option<Self> {
        let DecisionInputs { submission, partition, forecasts: snapshot, now, .. } = situation;
        let plan = snapshot.plan()?;
        let begin = submission.begin.map_or(*now, |begin| begin.max(*now));
        let start = snapshot.expected_start(partition.index, submission.size(partition), submission.limit_in(partition)).map(|start| {
            let not_before = |at: UnixTime| at.max(begin).0;
            let expected = start.expected.max(begin);
            StartReport {
                expected_start: expected.0,
                earliest_start: not_before(start.lower),
                latest_start: not_before(start.upper),
                expected_wait_s: (expected - begin).max(Seconds::ZERO).0,
            }
        });
        Some(Self { plan_at: plan.at.0, is_complete: plan.is_complete, start })
    }
}
