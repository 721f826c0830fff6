//! What the other threads tell the main one.

use std::sync::Arc;

use predictor_core::size::Size;
use predictor_core::snapshot::RunningJob;
use predictor_core::time::{Seconds, UnixTime};
use slurm_sys::client::{ClientError, controller};

/// What the other threads tell the main one.
#[derive(Debug)]
pub(crate) enum News {
    /// Jobs that have ended, each told once.
    Ended(Vec<Ended>),
    /// The answer to a request to read slurmdbd.
    Accounting(Result<AccountingRead, ClientError>),
    /// The answer to a request to read slurmctld.
    Controller(Result<Box<Cluster>, ClientError>),
    /// Publish now (SIGUSR1).
    Publish,
    /// Read the configuration again (SIGHUP).
    Reload,
    /// End (SIGTERM, SIGINT).
    Stop,
    /// A thread has panicked.
    Died(&'static str),
}

/// A job that has ended, with its partition's name shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) user: u32,
    pub(crate) partition: Arc<str>,
    pub(crate) size: Size,
    pub(crate) limit: Option<Seconds>,
    pub(crate) eligible: UnixTime,
    pub(crate) start: Option<UnixTime>,
    pub(crate) end: UnixTime,
    pub(crate) suspended: Seconds,
}

/// slurmdbd has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AccountingRead {
    /// All records that ended before this were told.
    pub(crate) until: UnixTime,
}

/// The cluster as slurmctld described it.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) read_at: UnixTime,
    pub(crate) partitions: Vec<controller::Partition>,
    /// Jobs that run or wait, whose partition is known.
    pub(crate) jobs: Vec<Live>,
}

/// A job that runs or waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Live {
    pub(crate) user: u32,
    /// Where it runs, or the first of the partitions that it waits for.
    pub(crate) partition: Arc<str>,
    /// Of all tasks, where it stands for several of an array.
    pub(crate) size: Size,
    /// How many tasks it stands for.
    pub(crate) tasks: u32,
    pub(crate) limit: Option<Seconds>,
    /// `None`: something else than resources and priority keeps it waiting.
    pub(crate) eligible: Option<UnixTime>,
    pub(crate) start: Option<UnixTime>,
    /// Whether it holds its nodes and gets on.
    pub(crate) runs: bool,
}

impl Live {
    /// As the snapshot describes a running job.
    pub(crate) fn running(&self) -> Option<RunningJob> {
        let start = self.start.filter(|_start| self.runs)?;
        Some(RunningJob { user: self.user, size: self.size, start, limit_end: self.limit.map(|limit| start + limit) })
    }
}
