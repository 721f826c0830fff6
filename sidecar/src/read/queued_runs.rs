//! A job of slurmctld's queue, as the learner and the forecasts take it.

use std::collections::HashSet;
use std::sync::Arc;

use job_types::job::{EndedJob, Job, RunningJob, WaitingJob};
use job_types::promise::SlotAsked;
use job_types::record;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use learning::{AdmissionOutcome, PromiseOutcome, RecordedForecast, Run, RunId};
use slurm_sys::client::JobState;
use slurm_sys::client::controller::QueuedJob;

use crate::known::cluster::{Ended, QueuedRun};
use crate::known::names::{first_partition, shared};
use crate::read::accounting::wait_on_nodes;

fn id(job: &QueuedJob) -> RunId {
    RunId { submitted: job.submitted.unwrap_or_default(), job: job.job_id }
}

/// The job as it was while it waited; `None` where its partition is not known.
fn submitted(job: &QueuedJob, eligible: UnixTime, names: &mut HashSet<Arc<str>>) -> Option<WaitingJob<Arc<str>, Arc<str>, Arc<str>>> {
    Some(WaitingJob {
        user: job.user_id,
        account: shared(job.account.as_deref().unwrap_or_default(), names),
        partition: shared(first_partition(job.partition.as_deref()?), names),
        qos: shared(job.qos.as_deref().unwrap_or_default(), names),
        size: asked(job),
        limit: job.time_limit_seconds.map(Seconds),
        eligible,
    })
}

/// What it got, where that is another size than it asked for.
fn allocated(job: &QueuedJob) -> Option<Size> {
    Some(occupied(job)).filter(|size| *size != asked(job))
}

/// What one job, or one task of an array, occupies or waits for.
fn occupied(job: &QueuedJob) -> Size {
    Size { nodes: job.nodes.max(1), cpus: job.cpus.max(1) }
}

/// What a job, or one task of an array, asked for. slurmctld shows what it got in its place once it
/// runs, and tells the former beside it.
pub(super) fn asked(job: &QueuedJob) -> Size {
    let least = |requested: Option<u32>, shown: u32| requested.filter(|count| *count > 0).unwrap_or(shown).max(1);
    Size { nodes: least(job.requested_nodes, job.nodes), cpus: least(job.requested_cpus, job.cpus) }
}

/// The forecast of the job's wait that the submit filter gave.
fn recorded_forecast(job: &QueuedJob, eligible: UnixTime) -> Option<RecordedForecast> {
    RecordedForecast::read(job.admin_comment.as_deref()?, eligible)
}

fn is_in_slot(job: &QueuedJob) -> bool {
    job.admin_comment.as_deref().is_some_and(SlotAsked::is_used_by)
}

/// A job that has ended, or was cancelled while it waited, which slurmctld shows for some minutes
/// more (`MinJobAge` of slurm.conf). One that was never eligible was never in the queue.
pub(super) fn ended(job: &QueuedJob, names: &mut HashSet<Arc<str>>) -> Option<Ended> {
    // A job that completes still holds its nodes; one that was put back into the queue is among
    // those that wait.
    if matches!(job.state, JobState::Completing | JobState::Resized | JobState::Revoked | JobState::Unknown(_)) {
        return None;
    }
    let end = job.ended?;
    let eligible = UnixTime(job.eligible.or(job.started)?);
    let submitted = submitted(job, eligible, names)?;
    let held = wait_on_nodes(job.admin_comment.as_deref(), job.started, submitted.limit, end);
    Some(Run {
        id: id(job),
        array: job.array_job_id,
        tasks: 1,
        is_held: false,
        job: EndedJob {
            submitted,
            allocated: job.started.and_then(|_start| allocated(job)),
            start: job.started.map(UnixTime),
            end: UnixTime(end),
            suspended: Seconds(job.suspended_seconds) + held.time,
        },
        promise: job.admin_comment.as_deref().and_then(|comment| PromiseOutcome::read(comment, &job.reserved_run())),
        admission: job.admin_comment.as_deref().and_then(|comment| AdmissionOutcome::read(comment, UnixTime(end), job.state.ending())),
        recorded_forecast: recorded_forecast(job, eligible),
        is_in_slot: is_in_slot(job),
        is_interrupted: job.state.is_interruption() || held.ends_with_the_job,
    })
}

/// What the demand and the forecasts need of a job; `None` for one that has ended or that runs
/// without nodes.
pub(super) fn live(job: &QueuedJob, names: &mut HashSet<Arc<str>>, read_at: UnixTime) -> Option<QueuedRun> {
    let has_nodes = match job.state {
        JobState::Pending => false,
        JobState::Running | JobState::Suspended => true,
        _ => return None,
    };
    let tasks = if has_nodes { 1 } else { job.task_count };
    let start = job.started.filter(|_start| has_nodes);
    // A job of no nodes (`--nodes=0`, which makes or removes a burst buffer) runs without a start
    // that counts, and waits for nothing.
    if has_nodes && start.is_none() {
        return None;
    }
    let eligible = job.eligible.or(start).map(UnixTime);
    let submitted = submitted(job, eligible.unwrap_or(read_at), names)?;
    let Size { nodes, cpus } = occupied(job);
    let run = Run {
        id: id(job),
        array: job.array_job_id,
        tasks,
        is_held: eligible.is_none(),
        job: match start.map(UnixTime) {
            None => Job::Waiting(submitted),
            Some(start) => Job::Running(RunningJob { submitted, allocated: allocated(job), start }),
        },
        promise: job.admin_comment.as_deref().and_then(|comment| PromiseOutcome::read_live(comment, &job.reserved_run(), read_at)),
        admission: job.admin_comment.as_deref().and_then(|comment| AdmissionOutcome::read_live(comment, read_at)),
        recorded_forecast: eligible.and_then(|eligible| recorded_forecast(job, eligible)),
        is_in_slot: is_in_slot(job),
        is_interrupted: false,
    };
    let size = Size { nodes: nodes.saturating_mul(tasks), cpus: cpus.saturating_mul(tasks) };
    let waits_on_nodes = start.map_or(Seconds::ZERO, |start| {
        record::wait_on_nodes(job.admin_comment.as_deref(), UnixTime(start), job.time_limit_seconds.map(Seconds))
    });
    Some(QueuedRun { run, size, runs: job.state == JobState::Running, waits_on_nodes })
}

#[cfg(test)]
mod tests;
