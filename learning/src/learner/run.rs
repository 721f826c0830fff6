//! A run of a job, as slurmdbd or slurmctld tells it.

use super::{AdmissionOutcome, PromiseOutcome, RecordedForecast};
use job_types::job::Job;
use job_types::number::JobId;
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

/// A run of a job: one that has ended, one that goes on, or one that waits. `J` is the job itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run<J> {
    /// The submission and the number by which the run is known.
    pub id: RunId,
    /// The array's number, where it is a task of one or stands for those that wait.
    pub array: Option<JobId>,
    /// How many waiting tasks of an array it stands for; 1 for any other run.
    pub tasks: u32,
    /// Whether something else than resources and priority keeps it waiting, so that it is not
    /// eligible, whatever moment its job has.
    pub is_held: bool,
    /// The job.
    pub job: J,
    /// The forecast of its wait that the submit filter gave, where the job carries a record of it.
    pub recorded_forecast: Option<RecordedForecast>,
    /// What it says of its job's virtual reservation, where that has one and the run has ended or
    /// the reserved time has passed.
    pub promise: Option<PromiseOutcome>,
    /// What has become of its deadline, where it was admitted with one.
    pub admission: Option<AdmissionOutcome>,
    /// Whether it started in a firm slot, a reservation of its own, or waits to: its wait says
    /// nothing of the queue.
    pub is_in_slot: bool,
    /// Whether it ended because it was requeued or preempted, or a node failed: its run time is not
    /// that of its program.
    pub is_interrupted: bool,
}

impl<J> Run<J> {
    /// The run with another job, or the same job told otherwise.
    #[must_use]
    pub fn with<K>(&self, job: K) -> Run<K> {
        let Run { id, array, tasks, is_held, recorded_forecast, promise, admission, is_in_slot, is_interrupted, .. } = *self;
        Run { id, array, tasks, is_held, job, recorded_forecast, promise, admission, is_in_slot, is_interrupted }
    }

    /// The id by which the run is known while it waits. Tasks of an array have no numbers of their
    /// own until they start, so they wait under the number of the array.
    pub(super) fn id_while_waiting(&self) -> RunId {
        RunId { job: self.array.unwrap_or(self.id.job), ..self.id }
    }
}

/// Whether the times of a job are in a possible order.
pub(super) fn is_sound<A, P, Q>(job: &Job<A, P, Q>) -> bool {
    let submitted = job.submitted();
    let begin = submitted.eligible;
    begin.0 > 0 && job.end().is_none_or(|end| begin.max(job.start().unwrap_or(begin)) <= end) && submitted.size.cpus > 0
}
