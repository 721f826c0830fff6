//! A snapshot of a known past, for tests of what the filter does with it.

use crate::Cluster;
use predictor_core::history::{EndedJob, History, HistoryLimits};
use predictor_core::options::Mode;
use predictor_core::policy::Policy;
use predictor_core::size::Size;
use predictor_core::snapshot::{Origin, PartitionState, QueuePlan, RunningJob, write};
use predictor_core::time::{Seconds, UnixTime};
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

/// What a user's jobs in the partition `main` (8 nodes of 4 CPUs) have waited and run, by their nodes.
#[derive(Clone, Copy, Debug)]
pub struct Past {
    /// Nodes.
    pub nodes: u32,
    /// Wait in seconds; of 100 jobs, the n-th has waited that and `n` times `more_wait_s`.
    pub wait_s: i64,
    /// See `wait_s`.
    pub more_wait_s: i64,
    /// Run time in seconds.
    pub run_s: i64,
}

/// Jobs on 8 nodes wait for hours, those on 2 nodes not at all, and run twice as long.
pub const LARGE_WAIT: [Past; 2] =
    [Past { nodes: 8, wait_s: 7_000, more_wait_s: 10, run_s: 100 }, Past { nodes: 2, wait_s: 0, more_wait_s: 0, run_s: 200 }];

/// A job on nodes of 4 CPUs with a limit of ten minutes.
fn ended(user: u32, nodes: u32, eligible: UnixTime, wait_s: i64, run_s: i64) -> EndedJob<'static> {
    let start = eligible + Seconds(wait_s);
    EndedJob {
        user,
        partition: "main",
        size: Size { nodes, cpus: nodes * 4 },
        limit: Some(Seconds(600)),
        eligible,
        start: Some(start),
        end: start + Seconds(run_s),
        suspended: Seconds::ZERO,
    }
}

impl Cluster {
    /// Publishes a snapshot of `past`, root's, under `policy`, in which a job of `running` nodes each is expected to end so many seconds from now.
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
        let now = now();
        let jobs = past.iter().flat_map(|job| {
            (0..100).map(move |n| {
                // Each by itself, so that no job presses on another.
                let eligible = UnixTime(now - 20_000_000 + n * 100_000 + i64::from(job.nodes) * 10_000);
                ended(user, job.nodes, eligible, job.wait_s + n * job.more_wait_s, job.run_s)
            })
        });
        self.publish_jobs(policy, jobs, running);
    }

    /// Publishes a snapshot in which root's jobs on 2 nodes that came while another user had 7 have waited
    /// hours, and others not at all; another user has 7 now, until so many seconds from now.
    ///
    /// # Panics
    /// Where the state directory can't be written.
    pub fn publish_pressed(&self, policy: Policy, ends_in_s: i64) {
        let now = now();
        let jobs = (0..100).flat_map(|n| {
            let (calm, pressed) = (now - 9_000_000 + n * 20_000, now - 4_000_000 + n * 20_000);
            [
                ended(0, 2, UnixTime(calm), 0, 500),
                ended(1, 7, UnixTime(pressed), 10, 15_000),
                ended(0, 2, UnixTime(pressed + 5_000), 9_000, 500),
            ]
        });
        self.publish_jobs(policy, jobs, &[(7, ends_in_s)]);
    }

    fn publish_jobs(&self, policy: Policy, jobs: impl Iterator<Item = EndedJob<'static>>, running: &[(u32, i64)]) {
        let now = UnixTime(now());
        let mut history = History::new(HistoryLimits::default());
        for job in jobs {
            assert!(history.push(&job));
        }
        history.fit(0.95);
        let running = running.iter().map(|(nodes, ends_in_s)| RunningJob {
            user: 0,
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
        self.publish_bytes(&write(&mut history, &[partition], &origin, None, Some(&plan)));
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
