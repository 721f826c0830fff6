//! The messages that the daemon's other threads send to its main thread.

use std::sync::Arc;
use std::time::Duration;

use job_types::time::{Seconds, UnixTime};
use learning::Change;
use predictor_core::forecasts::queue_plan::QueuePlan;
use predictor_core::forecasts::wait_model::WaitModel;
use slurm_sys::client::ClientError;

use crate::guard::Replayed;
use crate::known::checkpoint::Reading;
use crate::known::cluster::{Cluster, Ended};
use crate::known::rule_load_report::RuleLoadReport;

/// A message to the main thread.
#[derive(Debug)]
pub(crate) enum Message {
    /// Jobs that have ended; each is sent once.
    Ended(Vec<Ended>),
    /// The answer to a request to read slurmdbd.
    Accounting(Result<AccountingRead, ClientError>),
    /// The clock was set back by so much: what was sent until now is dated ahead, and is sent again
    /// from here on.
    ClockSetBack { by: Seconds },
    /// The answer to a request to read slurmctld.
    Controller(Result<Arc<Cluster>, ClientError>),
    /// What the learner has learnt.
    Learnt(Box<Learnt>),
    /// What the planner has planned.
    Planned(Box<Planned>),
    /// What became of the site's own rules.
    Rules(Box<RuleLoadReport>),
    /// What became of a replay of the past.
    Replayed(Box<Replayed>),
    /// Publish now (SIGUSR1).
    Publish,
    /// Read the configuration again (SIGHUP).
    Reload,
    /// End (SIGTERM, SIGINT).
    Stop,
    /// A thread has panicked.
    Died(&'static str),
}

/// What the learner has learnt.
#[derive(Debug)]
pub(crate) struct Learnt {
    pub(crate) model: Arc<WaitModel>,
    /// The moment up to which the model has learnt.
    pub(crate) at: UnixTime,
    pub(crate) events: usize,
    pub(crate) late: usize,
    pub(crate) changes: Vec<Change>,
    pub(crate) took: Duration,
}

/// The planner's answer to a question.
#[derive(Debug)]
pub(crate) struct Planned {
    /// `None` where planning failed.
    pub(crate) plan: Option<QueuePlan>,
    pub(crate) took: Duration,
}

/// How far slurmdbd has been read.
#[derive(Debug)]
pub(crate) struct AccountingRead {
    /// All records of jobs that ended before this have been sent.
    pub(crate) until: UnixTime,
    /// How far it has read, where that was asked for.
    pub(crate) reading: Option<Reading>,
}
