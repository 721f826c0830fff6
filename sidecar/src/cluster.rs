//! The cluster and its jobs, as slurmctld and slurmdbd describe them.

mod queue;

use job_types::number::{JobId, UserId};
use std::sync::Arc;

use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use learning::RecordedForecast;
use predictor_core::limits::{AccountingLimits, PartitionLimits};
use predictor_core::snapshot::RunningJob;
use slurm_sys::client::controller;

pub(crate) use queue::{Phase, PlanJob, Queue};

/// The cluster as slurmctld described it.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) read_at: UnixTime,
    pub(crate) partitions: Vec<controller::Partition>,
    /// CPUs of all its nodes.
    pub(crate) cpus: u32,
    /// Jobs that run or wait, whose partition is known.
    pub(crate) jobs: Vec<Live>,
    /// Jobs that have ended or were cancelled while they waited, whose records may still be on
    /// their way to slurmdbd.
    pub(crate) ended: Vec<Ended>,
    /// The nodes, partitions and jobs that a plan is made from.
    pub(crate) queue: Queue,
    /// What accounting allows jobs.
    pub(crate) limits: Arc<AccountingLimits>,
    /// What each partition allows one job, in their order.
    pub(crate) partition_limits: Vec<PartitionLimits>,
}

/// What a run of a job is known by, and what it belongs to; names are shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) job_id: JobId,
    /// The array's number, where it is a task of one.
    pub(crate) array: Option<JobId>,
    /// Unix seconds; of a requeued job, when it was requeued.
    pub(crate) submitted: i64,
    /// Empty where there is none.
    pub(crate) account: Arc<str>,
    /// Name of the quality of service, empty where that is not known.
    pub(crate) qos: Arc<str>,
}

/// A run of a job that has ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ended {
    pub(crate) identity: Identity,
    /// Whether it ended although its program had not, or had not begun.
    pub(crate) is_interrupted: bool,
    pub(crate) user: UserId,
    pub(crate) partition: Arc<str>,
    /// Nodes and CPUs that it asked for.
    pub(crate) size: Size,
    /// Nodes and CPUs that it was allocated; `None` where it never started.
    pub(crate) allocated: Option<Size>,
    pub(crate) limit: Option<Seconds>,
    pub(crate) eligible: UnixTime,
    pub(crate) start: Option<UnixTime>,
    pub(crate) end: UnixTime,
    /// For how much of the time from start to end its program did not run: suspended, or waiting on
    /// its nodes for its reserved time.
    pub(crate) stood_still: Seconds,
    /// The forecast of its wait that the submit filter gave.
    pub(crate) recorded_forecast: Option<RecordedForecast>,
}

/// A job that runs or waits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Live {
    pub(crate) identity: Identity,
    pub(crate) user: UserId,
    /// Where it runs, or the first of the partitions that it waits for.
    pub(crate) partition: Arc<str>,
    /// What it occupies or waits for; of all tasks, where it stands for several of an array.
    pub(crate) size: Size,
    /// What one of its tasks asked for.
    pub(crate) asked: Size,
    /// How many tasks it stands for.
    pub(crate) tasks: u32,
    pub(crate) limit: Option<Seconds>,
    /// `None`: something else than resources and priority keeps it waiting.
    pub(crate) eligible: Option<UnixTime>,
    pub(crate) start: Option<UnixTime>,
    /// Whether it holds its nodes and gets on.
    pub(crate) runs: bool,
    /// The forecast of its wait that the submit filter gave.
    pub(crate) recorded_forecast: Option<RecordedForecast>,
}

impl Live {
    /// Of one of its tasks.
    pub(crate) fn task_size(&self) -> Size {
        let tasks = self.tasks.max(1);
        Size { nodes: (self.size.nodes / tasks).max(1), cpus: (self.size.cpus / tasks).max(1) }
    }

    /// As the snapshot describes a running job.
    pub(crate) fn running(&self) -> Option<RunningJob> {
        let start = self.start.filter(|_start| self.runs)?;
        Some(RunningJob { user: self.user, size: self.size, start, limit_end: self.limit.map(|limit| start + limit) })
    }
}
