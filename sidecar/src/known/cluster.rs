//! The cluster and its jobs, as slurmctld and slurmdbd describe them.

mod queue;

use std::sync::Arc;

use crate::known::promised_job::PromisedJob;
use crate::known::shared_nodes::SharedNodes;
use job_types::job::{EndedJob, Job};
use job_types::record::SealKey;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use learning::Run;
use predictor_core::decisions::limits::{AccountingLimits, PartitionLimits};
use slurm_sys::client::controller;
use snapshot_writer::{ComingJob, RunningJob, SeenSubmissions};

pub(crate) use queue::{Phase, PlanJob, PlanNode, Queue};

/// The cluster as slurmctld described it.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) read_at: UnixTime,
    /// By how many seconds slurmctld's clock was ahead of this machine's; `None` if it told no
    /// time.
    pub(crate) controller_ahead: Option<Seconds>,
    pub(crate) partitions: Vec<controller::Partition>,
    /// CPUs of all its nodes.
    pub(crate) cpus: u32,
    /// Jobs that run or wait, whose partition is known.
    pub(crate) jobs: Vec<QueuedRun>,
    /// Jobs that have ended or were cancelled while they waited, whose records may still be on
    /// their way to slurmdbd.
    pub(crate) ended: Vec<Ended>,
    /// The nodes, partitions and jobs that a plan is made from.
    pub(crate) queue: Queue,
    /// Nodes whose CPUs jobs share, by the partition that shares them.
    pub(crate) shared_nodes: SharedNodes,
    /// Jobs that carry a reservation.
    pub(crate) reserved: Vec<PromisedJob>,
    /// Jobs that were admitted with a deadline.
    pub(crate) admitted: Vec<PromisedJob>,
    /// Jobs for which a firm slot is asked.
    pub(crate) slots: Vec<PromisedJob>,
    /// The submissions of the last minutes that became jobs.
    pub(crate) submissions: Arc<SeenSubmissions>,
    /// How slurmctld makes the priorities of jobs.
    pub(crate) priorities: Arc<controller::Priorities>,
    /// What accounting allows jobs.
    pub(crate) limits: Arc<AccountingLimits>,
    /// What each partition allows one job, in their order.
    pub(crate) partition_limits: Vec<PartitionLimits>,
    /// The key by which records are sealed; without it no job is changed.
    pub(crate) record_key: Option<SealKey>,
}

/// A run of a job that has ended. Account, partition and quality of service go by their names, of
/// which jobs share one copy each; that of an account or quality of service which is not known is
/// empty.
pub(crate) type Ended = Run<EndedJob<Arc<str>, Arc<str>, Arc<str>>>;

/// A run of a job that runs or waits, with names as [`Ended`] has them. It is in the partition
/// where it runs, or in the first of those that it waits for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueuedRun {
    pub(crate) run: Run<Job<Arc<str>, Arc<str>, Arc<str>>>,
    /// What it occupies or waits for; of all tasks, where it stands for several of an array.
    pub(crate) size: Size,
    /// Whether it holds its nodes and gets on.
    pub(crate) runs: bool,
    /// How long it waits on its nodes for its reserved time, counted from its start.
    pub(crate) waits_on_nodes: Seconds,
}

impl QueuedRun {
    /// The partition's name.
    pub(crate) fn partition(&self) -> &Arc<str> {
        &self.run.job.submitted().partition
    }

    /// Whether it waits for resources and priority alone.
    pub(crate) fn is_pending(&self, now: UnixTime) -> bool {
        matches!(&self.run.job, Job::Waiting(job) if !self.run.is_held && job.eligible <= now)
    }

    /// Describes a job that becomes eligible later, as the snapshot has it; `None` for any other
    /// job.
    pub(crate) fn coming(&self, now: UnixTime) -> Option<ComingJob> {
        let Job::Waiting(job) = &self.run.job else { return None };
        let is_coming = !self.run.is_held && job.eligible > now;
        is_coming.then_some(ComingJob { at: job.eligible, cpus: self.size.cpus, limit: job.limit })
    }

    /// Describes a running job, as the snapshot has it; `None` for any other job.
    pub(crate) fn running(&self) -> Option<RunningJob> {
        let Job::Running(job) = &self.run.job else { return None };
        let limit_end = job.limit_end();
        let (user, waits_on_nodes) = (job.submitted.user, self.waits_on_nodes);
        self.runs.then_some(RunningJob { user, size: self.size, start: job.start, waits_on_nodes, limit_end })
    }
}
