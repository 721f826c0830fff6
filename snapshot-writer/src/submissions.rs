//! The records of the submissions that have become jobs lately.

use job_types::time::UnixTime;
use predictor_core::snapshot::SeenSubmission;
use predictor_core::snapshot::layout::SubmissionRecord;

/// The most submissions that a snapshot has, the latest ones.
pub const MOST_SUBMISSIONS: usize = 50_000;

/// The submissions of the last minutes that became jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenSubmissions {
    /// From when on all of them are known; `None` where nothing is known.
    pub since: Option<UnixTime>,
    /// In any order.
    pub jobs: Vec<SeenSubmission>,
}

impl SeenSubmissions {
    /// The records of a snapshot, and from when on nothing is missing among them.
    pub(super) fn records(&self) -> (Vec<SubmissionRecord>, Option<UnixTime>) {
        let mut jobs: Vec<&SeenSubmission> = self.jobs.iter().collect();
        jobs.sort_by_key(|job| std::cmp::Reverse(job.submitted_at));
        // Of the second of the first that is left out some may be missing.
        let cut = jobs.get(MOST_SUBMISSIONS).map(|job| UnixTime(job.submitted_at.0 + 1));
        jobs.truncate(MOST_SUBMISSIONS);
        jobs.sort_by_key(|job| (job.user, job.submitted_at));
        let record = |job: &SeenSubmission| SubmissionRecord {
            submitted_at: job.submitted_at.0.into(),
            user: job.user.0.into(),
            nodes: job.size.nodes.into(),
            cpus: job.size.cpus.into(),
        };
        (jobs.into_iter().map(record).collect(), self.since.map(|since| cut.map_or(since, |cut| cut.max(since))))
    }
}
