//! The submissions that have become jobs lately. By these the submit filter tells what it let
//! through and Slurm then refused from what is in the queue.

use super::layout::sections;
use super::reader::Snapshot;
use job_types::number::UserId;
use job_types::size::Size;
use job_types::time::UnixTime;

/// A job as it was submitted. All tasks of an array are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenSubmission {
    /// The user whose job it is.
    pub user: UserId,
    /// When slurmctld made it a job.
    pub submitted_at: UnixTime,
    /// The size that the submission asked for.
    pub size: Size,
}

impl<B: AsRef<[u8]>> Snapshot<B> {
    /// The submissions of a user that became jobs within the last minutes, the earliest first.
    pub fn seen_submissions(&self, user: UserId) -> impl Iterator<Item = SeenSubmission> + '_ {
        let records = self.records(sections::Submissions);
        let from = records.partition_point(|record| record.user.get() < user.0);
        let of_user = records.iter().skip(from).take_while(move |record| record.user.get() == user.0);
        of_user.map(move |record| SeenSubmission {
            user,
            submitted_at: UnixTime(record.submitted_at.get()),
            size: Size { nodes: record.nodes.get(), cpus: record.cpus.get() },
        })
    }
}
