//! A snapshot of a known past, for tests of what the filter does with it.

use crate::Cluster;
use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
use job_types::options::Mode;
use job_types::policy::Policy;
use job_types::record::WaitSource;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use learning::history::{EndedJob, History, HistoryLimits};
use predictor_core::blend::BoundTable;
use predictor_core::past::{FEATURES, Group, GroupKey, GroupKind, UserPast};
use predictor_core::queue_plan::QueuePlan;
use predictor_core::reliability::{PartitionScore, RELIABILITY, WaitSourceReason};
use predictor_core::snapshot::{Origin, PartitionState, RunningJob, write};
use predictor_core::trees::{Forest, NodeRecord};
use predictor_core::wait_model::WaitModel;
use std::time::{SystemTime, UNIX_EPOCH};

/// The present in Unix seconds.
#[must_use]
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}

/// A policy that enforces.
#[must_use]
pub fn enforcing() -> Policy {
    Policy { mode: Mode::Enforce, ..Policy::default() }
}

/// What a user's jobs in the partition `main` (8 nodes of 4 CPUs) have waited and run, by their
/// nodes.
#[derive(Clone, Copy, Debug)]
pub struct Past {
    /// Nodes.
    pub nodes: u32,
    /// Wait in seconds; of 200 jobs two each, in no order, have waited that and 0 to 99 times
    /// `more_wait_s`.
    pub wait_s: i64,
    /// Seconds that `wait_s` is lengthened by, times 0 to 99.
    pub more_wait_s: i64,
    /// Run time in seconds.
    pub run_s: i64,
}

/// Jobs on 8 nodes wait for hours, those on 2 nodes not at all, and run twice as long.
pub const LARGE_WAIT: [Past; 2] =
    [Past { nodes: 8, wait_s: 7_000, more_wait_s: 10, run_s: 100 }, Past { nodes: 2, wait_s: 0, more_wait_s: 0, run_s: 200 }];

impl Cluster {
    /// Publishes a snapshot of `past`, root's, under `policy`, in which a job of `running` nodes
    /// each is expected to end so many seconds from now.
    ///
    /// # Panics
    /// Where the state directory can't be written.
    pub fn publish(&self, policy: Policy, past: &[Past], running: &[(u32, i64)]) {
        self.publish_for(0, policy, past, running);
    }

    /// The same with a past of another user's jobs, who has that number.
    ///
    /// # Panics
    /// Where the state directory can't be written.
    pub fn publish_for(&self, user: u32, policy: Policy, past: &[Past], running: &[(u32, i64)]) {
        self.publish_with(user, policy, past, running, None);
    }

    /// Publishes a snapshot in which all 8 nodes are taken for so many more seconds, and a forecast
    /// by which root's jobs on 2 nodes wait two hours while no more than half of the CPUs are free,
    /// and not at all beyond.
    ///
    /// # Panics
    /// Where the state directory can't be written.
    pub fn publish_pressed(&self, policy: Policy, ends_in_s: i64) {
        self.publish_pressed_for(0, policy, ends_in_s);
    }

    /// The same for another user's jobs, who has that number.
    ///
    /// # Panics
    /// Where the state directory can't be written.
    pub fn publish_pressed_for(&self, user: u32, policy: Policy, ends_in_s: i64) {
        let past = [Past { nodes: 2, wait_s: 0, more_wait_s: 0, run_s: 50 }];
        let model = pressed(user, now() + ends_in_s);
        self.publish_with(user, policy, &past, &[(8, ends_in_s)], Some(&model));
    }

    fn publish_with(&self, user: u32, policy: Policy, past: &[Past], running: &[(u32, i64)], model: Option<&WaitModel>) {
        let now = UnixTime(now());
        let mut history = History::new(HistoryLimits::default());
        for job in past {
            // As many as QBETS needs to tell classes apart, and without a trend, which it would
            // take for a change.
            for n in 0..200 {
                // Each by itself, so that no job presses on another.
                let eligible = UnixTime(now.0 - 20_000_000 + n * 100_000 + i64::from(job.nodes) * 10_000);
                let start = eligible + Seconds(job.wait_s + n * 37 % 100 * job.more_wait_s);
                let size = Size { nodes: job.nodes, cpus: job.nodes * 4 };
                let (limit, suspended) = (Some(Seconds(600)), Seconds::ZERO);
                let (start, end) = (Some(start), start + Seconds(job.run_s));
                assert!(history.push(&EndedJob { user: UserId(user), partition: "main", size, limit, eligible, start, end, suspended }));
            }
        }
        history.fit(0.95);
        let running = running.iter().map(|(nodes, ends_in_s)| RunningJob {
            // Somebody of whom nothing is known but the time limit.
            user: UserId(user + 1),
            size: Size { nodes: *nodes, cpus: nodes * 4 },
            start: UnixTime(now.0 - 10_000),
            limit_end: Some(UnixTime(now.0 + ends_in_s)),
        });
        let partition = PartitionState {
            name: "main".to_owned(),
            policy,
            is_default: true,
            whole_nodes: false,
            cpus: 32,
            nodes: 8,
            max_time: Some(Seconds(7 * 86_400)),
            default_time: Some(Seconds(3_600)),
            running: running.collect(),
            pending_jobs: 0,
            pending_cpus: 0,
            limits: Default::default(),
        };
        let origin = Origin {
            cluster: "queuecast".to_owned(),
            generation: 1,
            published_at: now,
            maximum_age: Seconds(86_400),
            confidence: 0.95,
            site_policy: policy,
            ..Origin::default()
        };
        // An empty queue.
        let plan = QueuePlan { at: now, is_complete: true, ..QueuePlan::default() };
        self.publish_bytes(&write(&mut history, &[partition], &origin, model, Some(&plan)));
    }

    /// Puts bytes into the snapshot's place as the daemon does.
    ///
    /// # Panics
    /// Where the state directory can't be written.
    pub fn publish_bytes(&self, bytes: &[u8]) {
        let new = self.state_directory().join("snapshot.test");
        std::fs::write(&new, bytes).expect("the state directory is ours");
        std::fs::rename(new, self.state_directory().join("snapshot")).expect("the state directory is ours");
    }
}

/// A model of one tree, for 32 CPUs that are all busy until `free_at`: the root of a wait is 85
/// while at most 16 CPUs are free, and 0 beyond.
fn pressed(user: u32, free_at: i64) -> WaitModel {
    /// The cluster's free CPUs stand behind what is known of the job and before what is known of
    /// the groups.
    const FREE_CPUS: u16 = (FEATURES - (8 * 7 + 5 * 6 + 3 * 5) - 7) as u16;
    let nodes = vec![NodeRecord::fork(FREE_CPUS, 16.0, 1), NodeRecord::leaf(85.0), NodeRecord::leaf(0.0)];
    let tree = Forest { roots: vec![0.into()], nodes, base: 0.0 };
    let bounds = |first: u32| std::array::from_fn(|percentile| first + percentile as u32);
    let mut cluster = Group::default();
    (cluster.running.jobs, cluster.running.cpus) = (1.0, 32.0);
    let score = PartitionScore {
        partition: PartitionIndex(0),
        jobs: 1_000,
        median_error_s: 60.0,
        pinball_s: 30.0,
        reliability: RELIABILITY.map(|level| level as f32),
        source: WaitSource::Blended,
        reason: WaitSourceReason::Calibrated,
    };
    WaitModel {
        forests: Some([tree, Forest::default()]),
        weights: [0.0, 1.0, 0.0, 0.0],
        table: BoundTable {
            up_to: vec![50.0, 100.0],
            bounds_s: vec![bounds(0), bounds(7_200)],
            outcomes: vec![100, 100],
            at_once: vec![0.01, 0.0],
        },
        groups: vec![(GroupKey { kind: GroupKind::Cluster, values: [0; 3] }, cluster)],
        cpus: 32,
        ends_by_limit: vec![(free_at, 32.0)],
        ends_expected: vec![(free_at, 32.0)],
        users: vec![UserPast { user: UserId(user), last_two_s: Some([50.0; 2]), account: AccountIndex(0), qos: QosIndex(0) }],
        accounts: vec!["main".into()],
        qos: vec!["normal".into()],
        classes: Vec::new(),
        scores: vec![score],
        run_times: std::collections::BTreeMap::new(),
    }
}
