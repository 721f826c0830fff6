//! Jobs that have something in common, summed: how many wait and run, and how long the latest
//! waited.

use crate::forecasts::class::{limit_class, size_class};
use job_types::job::WaitingJob;
use job_types::number::{AccountIndex, QosIndex, UserId};
use job_types::time::UnixTime;
use serde::{Deserialize, Serialize};

/// What the jobs of a group have in common. The order is that of the groups in
/// [`FeatureInputs`](super::FeatureInputs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum GroupKind {
    /// All jobs of the cluster.
    Cluster = 0,
    /// Partition and quality of service.
    Partition = 1,
    /// One user.
    User = 2,
    /// User and partition.
    UserPartition = 3,
    /// One account.
    Account = 4,
    /// Partition and size class.
    SizeClass = 5,
    /// Partition, size class and limit class.
    Class = 6,
    /// User, CPUs and time limit: most likely the same program again.
    UserRequest = 7,
}

impl GroupKind {
    /// All of them, in order.
    pub const ALL: [GroupKind; 8] = [
        GroupKind::Cluster,
        GroupKind::Partition,
        GroupKind::User,
        GroupKind::UserPartition,
        GroupKind::Account,
        GroupKind::SizeClass,
        GroupKind::Class,
        GroupKind::UserRequest,
    ];
}

/// A group: what its jobs have in common, and the values. Ordered as in a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GroupKey {
    /// What the jobs of the group have in common.
    pub kind: GroupKind,
    /// The values, 0 where fewer than three are needed.
    pub values: [u32; 3],
}

impl GroupKey {
    /// The groups that a job belongs to, in the order of [`GroupKind::ALL`].
    #[must_use]
    pub fn of(job: &WaitingJob) -> [GroupKey; GroupKind::ALL.len()] {
        let partition = u32::from(job.partition.0);
        let size = u32::from(size_class(job.size));
        let limit_s = job.limit.map_or(u32::MAX, |limit| limit.clamped_u32());
        GroupKind::ALL.map(|kind| {
            let values = match kind {
                GroupKind::Cluster => [0; 3],
                GroupKind::Partition => [partition, u32::from(job.qos.0), 0],
                GroupKind::User => [job.user.0, 0, 0],
                GroupKind::UserPartition => [job.user.0, partition, 0],
                GroupKind::Account => [job.account.0, 0, 0],
                GroupKind::SizeClass => [partition, size, 0],
                GroupKind::Class => [partition, size, u32::from(limit_class(job.limit))],
                GroupKind::UserRequest => [job.user.0, job.size.cpus, limit_s],
            };
            GroupKey { kind, values }
        })
    }
}

/// Sums over jobs that wait, or over jobs that run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sum {
    /// Number of jobs.
    pub jobs: f64,
    /// The CPUs of these jobs.
    pub cpus: f64,
    /// The time limits of these jobs in seconds.
    pub limits_s: f64,
    /// CPUs times time limit, in CPU-seconds.
    pub work: f64,
    /// CPUs times expected run time, in CPU-seconds.
    pub expected_work: f64,
    /// The moments since which they wait or run, in Unix seconds.
    pub since: f64,
    /// CPUs times those moments.
    pub cpus_since: f64,
}

impl Sum {
    /// Adds a job that waits or runs since a moment.
    pub fn add(&mut self, job: &WaitingJob, expected_s: f32, since: UnixTime) {
        self.change(job, expected_s, since, 1.0);
    }

    /// Takes out a job that was added with the same arguments.
    pub fn remove(&mut self, job: &WaitingJob, expected_s: f32, since: UnixTime) {
        self.change(job, expected_s, since, -1.0);
    }

    fn change(&mut self, job: &WaitingJob, expected_s: f32, since: UnixTime, sign: f64) {
        let (cpus, limit_s, since) = (f64::from(job.size.cpus), job.limit_or_zero().0 as f64, since.0 as f64);
        self.jobs += sign;
        self.cpus += sign * cpus;
        self.limits_s += sign * limit_s;
        self.work += sign * cpus * limit_s;
        self.expected_work += sign * cpus * f64::from(expected_s);
        self.since += sign * since;
        self.cpus_since += sign * cpus * since;
    }

    /// Multiplies everything that is summed by `part`.
    pub fn scale(&mut self, part: f64) {
        let Sum { jobs, cpus, limits_s, work, expected_work, since, cpus_since } = self;
        for number in [jobs, cpus, limits_s, work, expected_work, since, cpus_since] {
            *number *= part;
        }
    }

    /// Seconds for which they have waited or run, summed.
    #[must_use]
    pub fn elapsed_s(&self, now: UnixTime) -> f64 {
        (self.jobs * now.0 as f64 - self.since).max(0.0)
    }

    /// CPU-seconds for which they have waited or run, summed.
    #[must_use]
    pub fn elapsed_work(&self, now: UnixTime) -> f64 {
        (self.cpus * now.0 as f64 - self.cpus_since).max(0.0)
    }
}

/// The part of a fast mean and of a slow one that the latest wait makes up.
const FAST: f32 = 0.3;
const SLOW: f32 = 0.03;

/// The waits of a group's latest jobs, as square roots of seconds, which are less swayed by a few
/// long ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recent {
    /// The latest, and the one before.
    pub last: [f32; 2],
    /// Mean over some three jobs.
    pub fast: f32,
    /// Mean over some thirty jobs.
    pub slow: f32,
    /// Share of those that waited no longer than a minute, likewise over some thirty.
    pub at_once: f32,
    /// How many jobs have started.
    pub starts: f32,
    /// When the latest started, in Unix seconds; 0 if none.
    pub started_at: f64,
    /// When the latest arrived; 0 if none.
    pub arrived_at: f64,
}

impl Recent {
    /// A job has started at a moment, after a wait of so many seconds.
    pub fn learn(&mut self, wait_s: f64, at: UnixTime) {
        let wait = wait_s.max(0.0).sqrt() as f32;
        let at_once = if wait_s <= 60.0 { 1.0 } else { 0.0 };
        // While there are few, a mean is the mean of all.
        let fast = FAST.max(1.0 / (self.starts + 1.0));
        let slow = SLOW.max(1.0 / (self.starts + 1.0));
        self.fast += fast * (wait - self.fast);
        self.slow += slow * (wait - self.slow);
        self.at_once += slow * (at_once - self.at_once);
        self.last = [wait, self.last[0]];
        self.starts += 1.0;
        self.started_at = at.0 as f64;
    }
}

/// A group at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Sums over the group's jobs that wait.
    pub waiting: Sum,
    /// Sums over the group's jobs that run.
    pub running: Sum,
    /// The waits of the group's latest jobs.
    pub recent: Recent,
    /// The time from which on the oldest waiting job of the group has waited, in Unix seconds; 0 if
    /// none waits.
    pub oldest: f64,
}

/// What is known of a user by what they did last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UserPast {
    /// Numeric id.
    pub user: UserId,
    /// Run times of the last two jobs that ended, in seconds, the last first; `None` if none has.
    pub last_two_s: Option<[f32; 2]>,
    /// Index of the account of the last job that arrived.
    pub account: AccountIndex,
    /// Index of its quality of service.
    pub qos: QosIndex,
}
