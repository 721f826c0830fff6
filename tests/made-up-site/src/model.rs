//! What was learnt of waits, as small as it can be.

use super::{NOW, USER};
use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
use job_types::record::WaitSource;
use predictor_core::forecasts::blend::BoundTable;
use predictor_core::forecasts::levels::Levels;
use predictor_core::forecasts::past::{FEATURES, Group, GroupKey, GroupKind, UserPast};
use predictor_core::forecasts::promise::{PromiseLevels, Shortfalls};
use predictor_core::forecasts::reliability::{PartitionScore, RELIABILITY, WaitSourceReason};
use predictor_core::forecasts::trees::{Forest, NodeRecord};
use predictor_core::forecasts::wait_model::WaitModel;

/// Index of the job's CPUs among the features.
pub const JOB_CPUS: u16 = 0;
/// Index of the job's time limit among the features.
pub const LIMIT: u16 = 2;
/// Index of the cluster's free CPUs among the features.
pub const FREE_CPUS: u16 = WAITING_JOBS - 7;
/// Index of the number of the cluster's waiting jobs among the features.
pub const WAITING_JOBS: u16 = (FEATURES - (8 * 7 + 5 * 6 + 3 * 5)) as u16;

/// A forest of one tree with one fork: the square root of the wait is `low` up to a threshold of a
/// feature and `high` beyond.
#[must_use]
pub fn fork(feature: u16, threshold: f32, low: f32, high: f32) -> Forest {
    let nodes = vec![NodeRecord::fork(feature, threshold, 1), NodeRecord::leaf(low), NodeRecord::leaf(high)];
    Forest { roots: vec![0.into()], nodes, base: 0.0 }
}

/// A model of the partition `batch` that forecasts by the first forest alone. Forecasts up to 50
/// (as root) are followed by 0 to 98 s, greater ones by 10,000 to 10,098 s. So many CPUs of the
/// cluster are busy.
#[must_use]
pub fn forecast_by(forest: Forest, busy_cpus: u32) -> WaitModel {
    let bounds = |first: u32| std::array::from_fn(|percentile| first + percentile as u32);
    let mut cluster = Group::default();
    cluster.running.jobs = 1.0;
    cluster.running.cpus = f64::from(busy_cpus);
    let key = GroupKey { kind: GroupKind::Cluster, values: [0; 3] };
    let idle = GroupKey { kind: GroupKind::User, values: [USER, 0, 0] };
    WaitModel {
        forests: Some([forest, Forest::default()]),
        weights: [0.0, 1.0, 0.0, 0.0],
        table: BoundTable {
            up_to: vec![50.0, 100.0],
            bounds_s: vec![bounds(0), bounds(10_000)],
            outcomes: vec![60, 70],
            at_once: vec![0.01, 0.0],
        },
        groups: vec![(idle, Group::default()), (key, cluster)],
        cpus: 256,
        ends_by_limit: vec![(NOW.0 + 3_600, busy_cpus as f32)],
        ends_expected: vec![(NOW.0 + 600, busy_cpus as f32)],
        users: vec![UserPast { user: UserId(USER), last_two_s: Some([500.0; 2]), account: AccountIndex(1), qos: QosIndex(1) }],
        accounts: vec!["physics".into(), "chemistry".into()],
        qos: vec!["normal".into(), "long".into()],
        classes: Vec::new(),
        deadlines: Vec::new(),
        promises: vec![PromiseLevels {
            partition: PartitionIndex(0),
            class: 0,
            levels: Levels::default(),
            shortfalls: Shortfalls::default(),
        }],
        scores: vec![score(WaitSource::Blended, WaitSourceReason::Calibrated)],
        run_times: std::collections::BTreeMap::new(),
    }
}

/// How well the forecasts of the first partition have done, with the source that is in force for
/// that.
#[must_use]
pub fn score(source: WaitSource, reason: WaitSourceReason) -> PartitionScore {
    let reliability = RELIABILITY.map(|level| level as f32);
    PartitionScore { partition: PartitionIndex(0), jobs: 1_000, median_error_s: 60.0, pinball_s: 30.0, reliability, source, reason }
}
