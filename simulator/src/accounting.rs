//! What Slurm's accounting tells of the past, as a workload log.
//!
//! The same jobs come as what `sacct` printed ([`sacct`](crate::sacct)) or from slurmdbd itself.
//! Either reader hands each run of a job to a [`LogBuilder`], which puts numbers in the place of
//! names and makes the log.

mod build;
mod machine;

pub use build::{Choices, LogBuilder};

use job_types::time::{Seconds, UnixTime};

use crate::swf::Status;

/// The time limit of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Limit {
    /// Nobody has noted it: the partition's, mostly of a job that never started.
    #[default]
    NotKnown,
    /// The job had no time limit.
    Unlimited,
    /// A time limit of this many seconds.
    Seconds(u64),
}

/// One run of a job as accounting has it. A job that was requeued has several. What is not known is
/// `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AccountedRun<'a> {
    /// What tells the job from others, for each task of an array its own.
    pub id: u64,
    /// The submission of the job, or the moment at which it was requeued.
    pub submitted: Option<UnixTime>,
    /// When nothing but resources and priority kept the job waiting.
    pub eligible: Option<UnixTime>,
    /// When the job started; `None` where it never did, or nobody noted it.
    pub started: Option<UnixTime>,
    /// When the job ended; `None` while it has not.
    pub ended: Option<UnixTime>,
    /// How long the job ran, without the time for which it was suspended; the time from its start
    /// to its end, less `suspended`, where that is not known.
    pub run_time: Option<Seconds>,
    /// How long the job was suspended.
    pub suspended: Seconds,
    /// CPUs that the job had.
    pub allocated_cpus: Option<u64>,
    /// CPUs that the job asked for.
    pub requested_cpus: Option<u64>,
    /// Nodes that the job asked for; 0 as `None`.
    pub requested_nodes: Option<u32>,
    /// Nodes that the job had; 0 as `None`.
    pub allocated_nodes: Option<u32>,
    /// Memory that the job asked for, in kilobytes for each CPU.
    pub requested_kilobytes_per_cpu: Option<f64>,
    /// The job's time limit.
    pub limit: Limit,
    /// How the run ended.
    pub ending: Option<Status>,
    /// Whether the job was put back into the queue while it ran.
    pub is_requeued: bool,
    /// The name of the user whose job it is; empty where not known.
    pub user: &'a str,
    /// The account that the job was charged to; empty where not known.
    pub account: &'a str,
    /// The job's partition, or the partitions that it was submitted to, separated by commas, of
    /// which the first counts; empty where not known.
    pub partition: &'a str,
    /// The name of the job's quality of service; empty where not known.
    pub qos: &'a str,
    /// The job's name; empty where not known.
    pub name: &'a str,
}
