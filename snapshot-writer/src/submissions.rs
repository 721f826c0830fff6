//! The records of the submissions that have become jobs lately.

use job_types::time::UnixTime;
use predictor_core::snapshot::SeenSubmission;
use predictor_core::snapshot::layout::SubmissionRecord;

/// The most submissions that a snapshot has, the latest ones.
pub const MOST_SUBMISSIONS: usize = 50_000;

/// The submissions of the last minutes that became jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenSubmissions {
    /// The time since which all submissions are known; `None` if none is known.
    pub since: Option<UnixTime>,
    /// The submissions, in any order.
    pub jobs: Vec<SeenSubmission>,
}

impl SeenSubmissions {
    /// Returns the records of a snapshot, and the time since which none is missing among them.
    pub(super) fn records(&self) -> (Vec<SubmissionRecord>, Option<UnixTime>) {
        let mut jobs: Vec<&SeenSubmission> = self.jobs.iter().collect();
        jobs.sort_by_key(|job| std::cmp::Reverse(job.submitted_at));
        // Some submissions of the second in which the first omitted one was made may be missing.
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
