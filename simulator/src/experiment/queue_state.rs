//! The queue of a simulated machine as a plan of it asks for it.
//!
//! The daemon makes the same state of what slurmctld says (`sidecar/src/plan/state.rs`), and a test
//! there holds the plans of both against each other.

use job_types::number::JobId;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use queue_plan::{Node, Partition, PendingJob, Resources, RunTimes, RunningJob, State, corrected_to};

use super::NEVER;
use crate::engine::{Cluster, JobIndex, Record};

/// What is expected of a job.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// How long it is expected to run.
    pub run_time: Seconds,
    /// What it can run at most, as far as it is known to who decides: in a log without limits not
    /// what the scheduler is told, which is the job's run time.
    pub limit: Seconds,
}

impl Default for Expected {
    fn default() -> Self {
        Self { run_time: Seconds(1), limit: Seconds(1) }
    }
}

/// A job that waits, or becomes eligible later.
#[derive(Clone, Copy, Debug)]
pub struct QueuedJob {
    /// The job.
    pub job: JobIndex,
    /// Processors that it asks for.
    pub processors: u32,
    /// When it comes into the queue, or came into it: not before now.
    pub eligible: UnixTime,
}

/// The jobs that wait, in the order of the queue, and behind them those that become eligible later.
/// Jobs that an experiment has put out of the way for good are left out.
#[must_use]
pub fn queue_of(cluster: &Cluster) -> Vec<QueuedJob> {
    let now = cluster.now();
    let waiting = cluster.waiting().iter().map(|entry| QueuedJob { job: entry.job, processors: entry.processors, eligible: now });
    let later = cluster.deferred().filter(|(eligible, _)| *eligible < NEVER);
    let later = later.map(|(eligible, job)| QueuedJob { job, processors: cluster.job(job).processors, eligible });
    waiting.chain(later).collect()
}

/// What is to be planned: the machine is one node, the jobs of `queue` are served in its order, and
/// each job runs as long as `expected` says of it.
pub fn state_of(cluster: &Cluster, queue: &[QueuedJob], expected: impl Fn(JobIndex) -> Expected) -> State {
    let now = cluster.now();
    let running = cluster.running().by_expected_end().map(|(_, processors, job)| {
        // It runs from when it no longer waits on its nodes; its limit counts from its start.
        let Record { start, held, .. } = *cluster.record(job);
        let Expected { run_time, limit } = expected(job);
        // Corrected as in the daemon's plan where it is outlived; it ends any moment at the least.
        let runs_from = start + held;
        let end = runs_from + corrected_to(run_time, (now - runs_from).max(Seconds::ZERO), limit - held);
        RunningJob {
            nodes: vec![0],
            holds: Resources::of_cpus(processors.into()),
            reservation: None,
            remaining: run_times((end - now).max(Seconds(1))),
        }
    });
    let pending = (0u32..).zip(queue).map(|(place, job)| PendingJob {
        id: JobId(job.job),
        priority: u32::MAX - place,
        ..pending_job(job.eligible, job.processors, expected(job.job).run_time)
    });
    State {
        now,
        nodes: vec![Node { offers: Size { nodes: 1, cpus: cluster.machine().processors }.into(), takes_jobs: true }],
        partitions: vec![Partition { nodes: vec![0], is_up: true, ..Partition::default() }],
        reservations: Vec::new(),
        running: running.collect(),
        pending: pending.collect(),
    }
}

/// A job that waits for processors of the machine.
pub(super) fn pending_job(eligible: UnixTime, processors: u32, run_time: Seconds) -> PendingJob {
    PendingJob {
        partitions: vec![0],
        asks: Size { nodes: 1, cpus: processors }.into(),
        tasks: 1,
        eligible,
        run_time: run_times(run_time),
        ..PendingJob::default()
    }
}

/// One run time in the place of all three.
fn run_times(expected: Seconds) -> RunTimes {
    RunTimes { optimistic: expected, expected, limit: expected }
}
