//! What the process that replays the past is asked, and what it answers.

use std::path::PathBuf;
use std::time::Duration;

use job_types::policy::Others;
use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};
use simulator::guard::state::{GuardedPolicy, NotKnown, Postponed, Replay};

/// What is to be replayed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Question {
    /// Now.
    pub(crate) at: UnixTime,
    /// How much of the past counts.
    pub(crate) window: Seconds,
    /// The cluster.
    pub(crate) cluster: String,
    /// Other clusters whose jobs count as its past.
    pub(crate) earlier_clusters: Vec<String>,
    /// The site's slurm.conf.
    pub(crate) slurm_conf: PathBuf,
    /// The key of records.
    pub(crate) record_key: PathBuf,
    /// The partitions in which something is enforced; those that come first are replayed first.
    pub(crate) partitions: Vec<AskedPartition>,
}

/// A partition that is asked about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AskedPartition {
    pub(crate) name: String,
    /// CPUs of its nodes.
    pub(crate) processors: u32,
    /// The least gains of the site's policy there: the part, and the time.
    pub(crate) min_gain: f64,
    pub(crate) min_gain_time: Seconds,
    /// What a deferral has to gain there, and how long it may be.
    pub(crate) defer_threshold: f64,
    pub(crate) max_defer: Seconds,
    /// What a change may do to others there.
    pub(crate) others: Others,
    pub(crate) policies: Vec<AskedPolicy>,
}

/// A policy that is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct AskedPolicy {
    pub(crate) policy: GuardedPolicy,
    /// Whether it applies to jobs whose users ask for nothing.
    pub(crate) is_unasked: bool,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// The records that were read.
    pub(crate) jobs: u64,
    /// The replays by partition and policy.
    pub(crate) replays: Vec<(String, GuardedPolicy, Replay)>,
    /// What there was no time for.
    pub(crate) postponed: Vec<Postponed>,
    /// What they do not know.
    pub(crate) not_known: Vec<NotKnown>,
}

/// What became of a question.
#[derive(Debug)]
pub(crate) struct Replayed {
    pub(crate) asked_at: UnixTime,
    pub(crate) took: Duration,
    /// What was found, or what failed.
    pub(crate) outcome: Result<Answer, String>,
}
