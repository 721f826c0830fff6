//! What the plan of the queue says of a job that would be submitted now.

use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::DecisionInputs;
use serde::Serialize;

use crate::situation::Situation;

/// When the job would start if it were submitted now.
#[derive(Debug, Serialize)]
pub struct PlanReport {
    /// When the queue was planned, in Unix seconds.
    pub plan_at: i64,
    /// Whether all jobs that wait were placed.
    pub is_complete: bool,
    /// `None` where there is never room for such a job, or the partition starts none.
    #[serde(flatten)]
    pub start: Option<PlannedStart>,
}

/// The expected start and its bounds.
#[derive(Debug, Serialize)]
pub struct PlannedStart {
    /// In Unix seconds, as the next two.
    pub expected_start: i64,
    /// If jobs end early.
    pub earliest_start: i64,
    /// If jobs run until their time limits.
    pub latest_start: i64,
    /// Seconds from now, or from when the job may begin.
    pub expected_wait_s: i64,
}

impl PlanReport {
    /// Reports on the job as it is written; `None` without a plan.
    pub fn of(situation: &Situation<'_>) -> Option<Self> {
        let DecisionInputs { submission, partition, forecasts: snapshot, now, .. } = situation;
        let plan = snapshot.plan()?;
        let begin = submission.begin.map_or(*now, |begin| begin.max(*now));
        let start = snapshot.expected_start(partition.index, submission.size(partition), submission.limit_in(partition)).map(|start| {
            let not_before = |at: UnixTime| at.max(begin).0;
            let expected = start.expected.max(begin);
            PlannedStart {
                expected_start: expected.0,
                earliest_start: not_before(start.lower),
                latest_start: not_before(start.upper),
                expected_wait_s: (expected - begin).max(Seconds::ZERO).0,
            }
        });
        Some(Self { plan_at: plan.at.0, is_complete: plan.is_complete, start })
    }
}
