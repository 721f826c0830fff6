//! When jobs of the queue are expected to start and to be done.

use std::collections::BTreeMap;

use job_types::number::JobId;
use job_types::time::{Seconds, UnixTime};
use predictor_core::snapshot::Snapshot;

/// When jobs that wait are expected to start, by the plan of the queue; nothing without a plan.
pub(crate) fn starts(snapshot: Option<&Snapshot<Vec<u8>>>) -> BTreeMap<JobId, i64> {
    let plan = snapshot.and_then(Snapshot::plan);
    plan.iter().flat_map(|plan| plan.jobs()).filter_map(|job| Some((job.job, job.start.ok()?.expected.0))).collect()
}

/// When a job is expected to be done that started, or is expected to start, at a moment and was
/// forecast to run so long; one that has outlived that may end at any moment.
pub(crate) fn end(start: UnixTime, run: Seconds, now: UnixTime) -> UnixTime {
    UnixTime(start.0.saturating_add(run.0)).max(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_has_outlived_its_forecast_is_expected_to_end_now() {
        let at = |now| end(UnixTime(1_000), Seconds(600), UnixTime(now));
        assert_eq!((at(1_200), at(1_700)), (UnixTime(1_600), UnixTime(1_700)));
    }
}
