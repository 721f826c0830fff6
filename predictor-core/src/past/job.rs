//! One job of the past.

use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};

/// A job as slurmdbd or a workload log tells it. A task of an array and each run of a requeued job
/// are jobs of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastJob {
    /// Numeric id of the user.
    pub user: UserId,
    /// Index of the account (of the group, in a workload log).
    pub account: AccountIndex,
    /// Index of the partition (of the queue, in a workload log).
    pub partition: PartitionIndex,
    /// Index of the quality of service.
    pub qos: QosIndex,
    /// Nodes and CPUs that it asked for, which is all that is known when it is submitted.
    pub size: Size,
    /// Nodes and CPUs that it got, where they are others; nodes that are given whole, for one.
    pub allocated: Option<Size>,
    /// Time limit; `None` is unlimited or not known.
    pub limit: Option<Seconds>,
    /// When it could first have started.
    pub eligible: UnixTime,
    /// When it started; `None` if it never did, or has not yet.
    pub start: Option<UnixTime>,
    /// When it ended, or was cancelled; `None` if it has not yet.
    pub end: Option<UnixTime>,
    /// For how much of the time between start and end its program did not run: suspended, or
    /// waiting on its nodes for a reserved time.
    pub suspended: Seconds,
}

impl PastJob {
    /// From eligibility to start; `None` where it never started.
    #[must_use]
    pub fn wait(&self) -> Option<Seconds> {
        Some(Seconds((self.start? - self.eligible).0.max(0)))
    }

    /// From start to end, without the time that it was suspended; `None` where it never started or
    /// has not ended.
    #[must_use]
    pub fn run_time(&self) -> Option<Seconds> {
        Some(Seconds(((self.end? - self.start?) - self.suspended).0.max(0)))
    }

    /// Nodes and CPUs that it occupies while it runs.
    #[must_use]
    pub fn occupied(&self) -> Size {
        self.allocated.unwrap_or(self.size)
    }

    /// The time limit in seconds, 0 where there is none.
    #[must_use]
    pub fn limit_or_zero(&self) -> Seconds {
        self.limit.unwrap_or(Seconds::ZERO)
    }
}
