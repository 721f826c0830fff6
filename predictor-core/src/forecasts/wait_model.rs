//! What the daemon has learnt of waits and run times, as it is handed to those who forecast from
//! it.

use crate::forecasts::blend::{BoundTable, Weights};
use crate::forecasts::deadline_history::DeadlineHistory;
use crate::forecasts::forecast::ClassBounds;
use crate::forecasts::past::{Group, GroupKey, UserPast};
use crate::forecasts::promise::PromiseLevels;
use crate::forecasts::reliability::PartitionScore;
use crate::forecasts::run_time_models::{LikeJobs, RunTimeModel};
use crate::forecasts::trees::Forest;
use job_types::number::PartitionIndex;
use job_types::time::UnixTime;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The default predictor of waits with the state of the cluster that it forecasts from.
///
/// Partitions are known by the indices of [`FittedPast::partition_index`], which the jobs of the
/// past must have been given as well.
#[derive(Clone, Debug, Default)]
pub struct WaitModel {
    /// The forests of the root and of the logarithm of the wait; `None` until they are trained.
    pub forests: Option<[Forest; 2]>,
    /// Weights of the members.
    pub weights: Weights,
    /// Bounds by point forecast; empty until there are outcomes.
    pub table: BoundTable,
    /// All groups of jobs, in any order.
    pub groups: Vec<(GroupKey, Group)>,
    /// CPUs of the cluster.
    pub cpus: u32,
    /// When the cluster's running jobs end by their time limits: ascending moments in Unix seconds,
    /// with the CPUs freed until then, summed.
    pub ends_by_limit: Vec<(i64, f32)>,
    /// When they end if they run as long as expected, likewise.
    pub ends_expected: Vec<(i64, f32)>,
    /// What is known of each user, in any order.
    pub users: Vec<UserPast>,
    /// Names of the accounts, by their indices.
    pub accounts: Vec<String>,
    /// Names of the qualities of service, by their indices.
    pub qos: Vec<String>,
    /// The classes of QBETS, told once for each of their regions. They go before those of the
    /// history; without any, the history's stand.
    pub classes: Vec<ClassBounds>,
    /// How well the forecasts have done in each partition, and which are in force there; in any
    /// order.
    pub scores: Vec<PartitionScore>,
    /// How virtual reservations and deadlines were kept, in any order.
    pub promises: Vec<PromiseLevels>,
    /// What jobs with deadlines have taught, by partition, in any order.
    pub deadlines: Vec<(PartitionIndex, DeadlineHistory)>,
    /// Run times by the default forecast of them. They go before the history's own; sizes that the
    /// history does not know are left out.
    pub run_times: BTreeMap<LikeJobs, Arc<RunTimeModel>>,
}

/// What is kept of the ended jobs, once it is fitted: the fallback where no model has been learnt.
pub trait FittedPast {
    /// Index of a partition, new if it was not known; `None` beyond 65,535 of them.
    fn partition_index(&mut self, name: &str) -> Option<PartitionIndex>;

    /// Names of the partitions, in the order of their indices.
    fn partition_names(&self) -> Vec<&str>;

    /// The classes of jobs of like delay, with the bounds on their waits.
    fn classes(&self) -> &[ClassBounds];

    /// The run times of each user at each size.
    fn run_times(&self) -> &BTreeMap<LikeJobs, RunTimeModel>;

    /// How many ended jobs it rests on.
    fn ended_jobs(&self) -> u64;

    /// When the first and the last of them ended.
    fn ends(&self) -> Option<(UnixTime, UnixTime)>;
}
