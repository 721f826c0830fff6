//! What slurmctld or slurmdbd tells of a job.

use command_parts::failure::Failure;
use command_parts::output;
use job_types::job::Ending;
use job_types::number::{JobId, UserId};
use job_types::promise::ReservedRun;
use job_types::time::UnixTime;
use serde::Serialize;
use slurm_sys::client::controller::{self, KnownJob};
use slurm_sys::client::{AccountingConnection, ClientError, EndedJobRecord, site};

use crate::genuine::Genuine;
use crate::job_name::JobName;
use crate::user;

/// A job, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Job {
    pub(super) id: JobId,
    /// The array's number and the task's, where it is one.
    pub(super) array_task: Option<(JobId, Option<u32>)>,
    pub(super) source: &'static str,
    pub(super) state: &'static str,
    pub(super) user: Option<String>,
    pub(super) user_id: UserId,
    pub(super) partition: Option<String>,
    pub(super) nodes: u32,
    pub(super) cpus: u32,
    pub(super) limit_s: Option<i64>,
    pub(super) submitted: Option<i64>,
    pub(super) eligible: Option<i64>,
    pub(super) started: Option<i64>,
    pub(super) expected_start: Option<i64>,
    pub(super) ended: Option<i64>,
    pub(super) suspended_s: i64,
    /// How its last run ended; `None` where it has not.
    #[serde(skip)]
    pub(super) ending: Option<Ending>,
    /// How many runs of it have ended, where slurmdbd was asked: more than 1 after a requeue.
    pub(super) runs: Option<usize>,
    /// Its runs before that, where slurmdbd was asked.
    #[serde(skip)]
    pub(super) earlier_runs: Vec<ReservedRun>,
    #[serde(skip)]
    pub(super) admin_comment: Option<String>,
    /// Whether the record in it is one that queuecast wrote, as far as can be told.
    #[serde(skip)]
    pub(super) is_believed: bool,
}

impl Job {
    /// Its last run, as far as a reservation is about it.
    pub(super) fn reserved_run(&self) -> ReservedRun {
        let submitted = UnixTime(self.submitted.unwrap_or_default());
        ReservedRun { submitted, started: self.started.map(UnixTime), ended: self.ended.map(|end| (UnixTime(end), self.ending)) }
    }
}

/// Looks the job up: in slurmctld while it has not ended, else in slurmdbd, which also knows how
/// long it was suspended.
pub(super) fn find(name: JobName, genuine: &Genuine) -> Result<Option<Job>, Failure> {
    let queued = controller::jobs_with_number(name.id);
    let known = match &queued {
        Ok(jobs) => choose(jobs, name, genuine),
        Err(_) => None,
    };
    if let Some(job) = known.as_ref().filter(|job| job.ended.is_none()) {
        return Ok(Some(job.clone()));
    }
    match (from_accounting(name, genuine), queued) {
        (Ok(Some(job)), queued) => {
            if let Err(error) = queued {
                output::warn(&format!("{error}; the answer is slurmdbd's"));
            }
            // What slurmdbd has of an earlier submission with the number is another job's.
            let same = known.as_ref().is_none_or(|known| known.id == job.id && known.submitted <= job.submitted);
            Ok(Some(match known {
                Some(known) if !same => known,
                // slurmdbd may learn of a short job's end before it learns of its start, with limit
                // and nodes: slurmctld has them all.
                Some(known) => Job {
                    source: job.source,
                    state: job.state,
                    ending: job.ending,
                    ended: job.ended,
                    suspended_s: job.suspended_s,
                    runs: job.runs,
                    earlier_runs: job.earlier_runs,
                    ..known
                },
                None => job,
            }))
        }
        (Ok(None), Ok(_)) => Ok(known),
        (Err(error), Ok(_)) if known.is_some() => {
            output::warn(&format!("{error}; the answer is slurmctld's"));
            Ok(known)
        }
        (Ok(None), Err(error)) | (Err(error), Ok(_)) => Err(Failure::Input(error.into())),
        (Err(accounting), Err(queue)) if accounting == queue => Err(Failure::Input(queue.into())),
        (Err(accounting), Err(queue)) => {
            output::warn(&accounting.to_string());
            Err(Failure::Input(queue.into()))
        }
    }
}

/// The job that is meant among those that slurmctld has under the number: the task that is named,
/// else the one with that very number.
fn choose(jobs: &[KnownJob], name: JobName, genuine: &Genuine) -> Option<Job> {
    let found = match name.task {
        // Tasks that still wait are in one record without a task number.
        Some(task) => jobs.iter().find(|job| job.array_task == Some(task)).or(jobs.iter().find(|job| job.array_task.is_none())),
        None => jobs.iter().find(|job| job.job.job_id == name.id).or(jobs.first()),
    };
    found.map(|job| queued(job, genuine))
}

fn queued(known: &KnownJob, genuine: &Genuine) -> Job {
    let job = &known.job;
    Job {
        id: job.job_id,
        array_task: job.array_job_id.map(|array| (array, known.array_task)),
        source: "slurmctld",
        state: job.state.into(),
        // slurmctld names users only where it is configured to.
        user: job.user.clone().or_else(|| user::name(job.user_id)),
        user_id: job.user_id,
        partition: job.partition.clone(),
        nodes: job.nodes,
        cpus: job.cpus,
        limit_s: job.time_limit_seconds,
        submitted: job.submitted,
        eligible: job.eligible,
        started: job.started,
        expected_start: job.expected_start,
        ended: known.ended,
        ending: job.state.ending().filter(|_| known.ended.is_some()),
        suspended_s: 0,
        runs: None,
        earlier_runs: Vec::new(),
        admin_comment: job.admin_comment.clone(),
        is_believed: genuine.believes_queued(job),
    }
}

fn from_accounting(name: JobName, genuine: &Genuine) -> Result<Option<Job>, ClientError> {
    let cluster = site()?.cluster;
    let mut runs: Vec<Job> = Vec::new();
    AccountingConnection::open()?.ended_runs(&cluster, name.id, name.task, |record| runs.push(ended(&record, genuine)))?;
    Ok(last_submission(runs, name))
}

/// How long after a run's end the next run of the same job is submitted at most: slurmctld puts a
/// job back into the queue while it still has it, which is for `MinJobAge` (300 s) after its end.
const REQUEUED_WITHIN_S: i64 = 300;

/// The job that was submitted last of those with a number, by its last run, with how many runs it
/// has had. Numbers of jobs begin anew at `MaxJobId`, so that another submission with the same
/// number is another job.
fn last_submission(mut runs: Vec<Job>, name: JobName) -> Option<Job> {
    let has_number = name.task.is_none() && runs.iter().any(|job| job.id == name.id);
    // An array's number brings all its tasks; the very job goes first.
    runs.retain(|job| !has_number || job.id == name.id);
    runs.sort_by_key(|job| (job.submitted, job.ended));
    let last = runs.pop()?;
    let (mut count, mut first) = (1, &last);
    let mut earlier_runs = Vec::new();
    for earlier in runs.iter().rev().filter(|earlier| earlier.id == last.id) {
        if !goes_on_in(earlier, first) {
            break;
        }
        (count, first) = (count + 1, earlier);
        earlier_runs.push(earlier.reserved_run());
    }
    Some(Job { runs: Some(count), earlier_runs, ..last.clone() })
}

/// Whether a run is followed by another of the same job: it was put back into the queue.
fn goes_on_in(run: &Job, next: &Job) -> bool {
    let gap = run.ended.zip(next.submitted).map(|(ended, submitted)| submitted - ended);
    let is_soon = gap.is_none_or(|gap| gap <= REQUEUED_WITHIN_S);
    run.user_id == next.user_id && run.array_task == next.array_task && (run.state == "requeued" || is_soon)
}

fn ended(record: &EndedJobRecord<'_>, genuine: &Genuine) -> Job {
    let owned = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned);
    Job {
        id: record.job_id,
        array_task: record.array.map(|array| (array.array_job_id, array.task_id)),
        source: "slurmdbd",
        state: record.state.into(),
        user: owned(&record.user).or_else(|| user::name(record.user_id)),
        user_id: record.user_id,
        partition: owned(&record.partition),
        nodes: if record.allocated_nodes > 0 { record.allocated_nodes } else { record.requested_nodes.unwrap_or(0) },
        cpus: record.allocated_cpus.unwrap_or(record.requested_cpus),
        limit_s: record.time_limit_seconds,
        submitted: record.submitted,
        eligible: record.eligible,
        started: record.started,
        expected_start: None,
        ended: Some(record.ended),
        ending: record.state.ending(),
        suspended_s: record.suspended_seconds,
        runs: None,
        earlier_runs: Vec::new(),
        admin_comment: owned(&record.admin_comment),
        is_believed: genuine.believes_ended(record),
    }
}

#[cfg(test)]
mod tests {
    use super::super::outcome::tests::job;
    use super::*;

    const NAME: JobName = JobName { id: JobId(7), task: None };

    fn run(submitted: i64, ended: i64) -> Job {
        Job { id: JobId(7), submitted: Some(submitted), started: Some(submitted), ended: Some(ended), ..job() }
    }

    fn found(runs: Vec<Job>, name: JobName) -> (Option<i64>, Option<usize>) {
        let found = last_submission(runs, name).unwrap();
        (found.submitted, found.runs)
    }

    #[test]
    fn another_submission_with_the_same_number_is_another_job() {
        let earlier = run(1_000, 2_000);
        let later = run(9_000_000, 9_001_000);
        assert_eq!(found(vec![later.clone(), earlier.clone()], NAME), (Some(9_000_000), Some(1)));
        let of_another = Job { user_id: UserId(99), ..run(2_100, 2_200) };
        assert_eq!(found(vec![earlier.clone(), of_another], NAME), (Some(2_100), Some(1)));
        assert_eq!(last_submission(Vec::new(), NAME), None);
        // A task of an array with that number, of before, and the job itself.
        let task = Job { id: JobId(8), array_task: Some((JobId(7), Some(1))), ..run(9_500_000, 9_600_000) };
        assert_eq!(found(vec![earlier, task, later], NAME), (Some(9_000_000), Some(1)));
    }

    #[test]
    fn runs_of_a_job_that_was_put_back_into_the_queue_are_one_job() {
        let requeued = |submitted, ended| Job { state: "requeued", ..run(submitted, ended) };
        let failed = Job { state: "node_fail", ..run(2_000, 3_000) };
        let before = run(10, 20);
        let runs = vec![before, requeued(1_000, 2_000), failed, run(3_000, 4_000)];
        assert_eq!(found(runs, NAME), (Some(3_000), Some(3)));
        let held_for_long = vec![requeued(1_000, 2_000), run(500_000, 500_100)];
        assert_eq!(found(held_for_long, NAME), (Some(500_000), Some(2)));
    }

    #[test]
    fn a_task_is_that_of_the_array_that_was_submitted_last() {
        let task = |id, submitted| Job { id: JobId(id), array_task: Some((JobId(7), Some(3))), ..run(submitted, submitted + 10) };
        let name = JobName { id: JobId(7), task: Some(3) };
        assert_eq!(last_submission(vec![task(10, 1_000), task(11, 9_000_000)], name).unwrap().id, JobId(11));
    }
}
