//! A small cluster with a known past, as a snapshot.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

pub mod cluster;

use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
use job_types::options::{Asked, Mode};
use job_types::policy::Policy;
use job_types::record::WaitSource;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use learning::history::{EndedJob, History, HistoryLimits};
use predictor_core::blend::BoundTable;
use predictor_core::decision::{Bounds, NodeRange, Situation, Submission, TimeLimit};
use predictor_core::forecast::Claimed;
use predictor_core::past::{FEATURES, Group, GroupKey, GroupKind, UserPast};
use predictor_core::reliability::{PartitionScore, RELIABILITY, WaitSourceReason};
use predictor_core::site::Site;
use predictor_core::snapshot::{Origin, PartitionState, RunningJob, Snapshot, write};
use predictor_core::trees::{Forest, NodeRecord};
use predictor_core::wait_model::WaitModel;

pub const NOW: UnixTime = UnixTime(1_800_000_000);
pub const USER: u32 = 1000;

pub fn policy() -> Policy {
    Policy { mode: Mode::Enforce, ..Policy::default() }
}

/// A job of the past on so many nodes of 4 CPUs, `ago` seconds before [`NOW`].
pub fn past_job(user: UserId, nodes: u32, limit: i64, ago: i64, wait: i64, run_time: i64) -> EndedJob<'static> {
    let eligible = UnixTime(NOW.0 - ago);
    let start = eligible + Seconds(wait);
    EndedJob {
        user,
        partition: "batch",
        size: Size { nodes, cpus: nodes * 4 },
        limit: Some(Seconds(limit)),
        eligible,
        start: Some(start),
        end: start + Seconds(run_time),
        suspended: Seconds::ZERO,
    }
}

pub fn partition(policy: Policy) -> PartitionState {
    PartitionState {
        name: "batch".into(),
        policy,
        is_default: true,
        whole_nodes: true,
        cpus: 256,
        nodes: 64,
        max_time: Some(Seconds(2 * 86_400)),
        default_time: Some(Seconds(3_600)),
        running: Vec::new(),
        pending_jobs: 0,
        pending_cpus: 0,
        limits: Default::default(),
    }
}

pub fn origin() -> Origin {
    Origin {
        cluster: "test".into(),
        generation: 7,
        published_at: NOW,
        maximum_age: Seconds(600),
        confidence: 0.95,
        site_policy: policy(),
        ..Origin::default()
    }
}

pub fn history(jobs: impl IntoIterator<Item = EndedJob<'static>>) -> History {
    let mut history = History::new(HistoryLimits::default());
    for job in jobs {
        assert!(history.push(&job), "{job:?}");
    }
    history.fit(0.95);
    history
}

pub fn snapshot(jobs: impl IntoIterator<Item = EndedJob<'static>>, partition: &PartitionState) -> Snapshot<Vec<u8>> {
    Snapshot::open(write(&mut history(jobs), std::slice::from_ref(partition), &origin(), None, None)).unwrap()
}

/// As [`snapshot`], with what was learnt of waits.
pub fn snapshot_with(
    jobs: impl IntoIterator<Item = EndedJob<'static>>,
    partition: &PartitionState,
    model: &WaitModel,
) -> Snapshot<Vec<u8>> {
    Snapshot::open(write(&mut history(jobs), std::slice::from_ref(partition), &origin(), Some(model), None)).unwrap()
}

/// Indices of features: the job's CPUs and its time limit, the cluster's free CPUs, and how many of
/// its jobs wait.
pub const JOB_CPUS: u16 = 0;
pub const LIMIT: u16 = 2;
pub const FREE_CPUS: u16 = WAITING_JOBS - 7;
pub const WAITING_JOBS: u16 = (FEATURES - (8 * 7 + 5 * 6 + 3 * 5)) as u16;

/// A forest of one tree with one fork: the square root of the wait is `low` up to a threshold of a
/// feature and `high` beyond.
pub fn fork(feature: u16, threshold: f32, low: f32, high: f32) -> Forest {
    let nodes = vec![NodeRecord::fork(feature, threshold, 1), NodeRecord::leaf(low), NodeRecord::leaf(high)];
    Forest { roots: vec![0.into()], nodes, base: 0.0 }
}

/// A model of the partition `batch` that forecasts by the first forest alone. Forecasts up to 50
/// (as root) are followed by 0 to 98 s, greater ones by 10,000 to 10,098 s. So many CPUs of the
/// cluster are busy.
pub fn model(forest: Forest, busy_cpus: u32) -> WaitModel {
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
        scores: vec![score(WaitSource::Blended, WaitSourceReason::Calibrated)],
        run_times: std::collections::BTreeMap::new(),
    }
}

pub fn score(source: WaitSource, reason: WaitSourceReason) -> PartitionScore {
    let reliability = RELIABILITY.map(|level| level as f32);
    PartitionScore { partition: PartitionIndex(0), jobs: 1_000, median_error_s: 60.0, pinball_s: 30.0, reliability, source, reason }
}

pub fn running(nodes: u32, ends_in: i64) -> RunningJob {
    RunningJob {
        user: UserId(1),
        size: Size { nodes, cpus: nodes * 4 },
        start: UnixTime(NOW.0 - 600),
        limit_end: Some(UnixTime(NOW.0 + ends_in)),
    }
}

/// A job on so many whole nodes for an hour, of [`USER`].
pub fn submission(nodes: u32, asked: Asked) -> Submission<'static> {
    Submission {
        user: UserId(USER),
        partition: Some("batch"),
        nodes: Some(NodeRange { least: nodes, most: nodes }),
        limit: TimeLimit::Limited(Seconds(3_600)),
        asked,
        ..Submission::default()
    }
}

/// That job as it meets the cluster of `snapshot`, with nothing decided since.
pub fn situation<'a>(snapshot: &'a Snapshot<Vec<u8>>, submission: &'a Submission<'a>) -> Situation<'a, Snapshot<Vec<u8>>> {
    let partition = snapshot.partition("batch").unwrap();
    let bounds = Bounds::of(submission, &partition, snapshot);
    Situation { forecasts: snapshot, partition, policy: partition.policy, submission, bounds, now: NOW, claimed: Claimed::default() }
}
