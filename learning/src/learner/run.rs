//! A run of a job, as slurmdbd or slurmctld tells it.

use super::RecordedForecast;
use job_types::number::{JobId, PartitionIndex, UserId};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};

/// What a run of a job is known by. A requeued job is submitted anew, so that each of its runs has
/// an id of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunId {
    /// When it was submitted or requeued, in Unix seconds.
    pub submitted: i64,
    /// The job's number.
    pub job: JobId,
}

/// A run of a job: one that has ended, one that goes on, or one that waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run<'a> {
    /// The submission and the number by which the run is known.
    pub id: RunId,
    /// The array's number, where it is a task of one or stands for those that wait.
    pub array: Option<JobId>,
    /// How many waiting tasks of an array it stands for; 1 for any other run.
    pub tasks: u32,
    /// Numeric id of the user.
    pub user: UserId,
    /// Name of the account.
    pub account: &'a str,
    /// Index of the partition.
    pub partition: PartitionIndex,
    /// Name of the quality of service.
    pub qos: &'a str,
    /// Nodes and CPUs that it asked for, of one task.
    pub size: Size,
    /// Nodes and CPUs that it got; `None` where it has not started, or that is not known.
    pub allocated: Option<Size>,
    /// Time limit; `None` is unlimited.
    pub limit: Option<Seconds>,
    /// When it could first have started, or will be able to; `None` while something else than
    /// resources and priority keeps it waiting.
    pub eligible: Option<UnixTime>,
    /// When it started; `None` if it never did, or has not yet.
    pub start: Option<UnixTime>,
    /// When it ended; `None` if it has not, or that is not known yet.
    pub end: Option<UnixTime>,
    /// For how much of the time between start and end its program did not run: suspended, or
    /// waiting on its nodes for a reserved time.
    pub suspended: Seconds,
    /// The forecast of its wait that the submit filter gave, where the job carries a record of it.
    pub recorded_forecast: Option<RecordedForecast>,
    /// Whether it ended because it was requeued or preempted, or a node failed: its run time is not
    /// that of its program.
    pub is_interrupted: bool,
}

impl Run<'_> {
    /// What waiting runs that are alike share: tasks of an array have no numbers of their own until
    /// they start.
    pub(super) fn kin(&self) -> RunId {
        RunId { job: self.array.unwrap_or(self.id.job), ..self.id }
    }

    /// Whether the times of the run are in a possible order.
    pub(super) fn is_sound(&self) -> bool {
        let begin = self.eligible.or(self.start);
        begin.is_some_and(|begin| begin.0 > 0 && self.end.is_none_or(|end| begin.max(self.start.unwrap_or(begin)) <= end))
            && self.size.cpus > 0
    }
}
