//! A snapshot of a known past, for tests of what the filter does with it.

use crate::Cluster;
use job_types::number::{AccountIndex, QosIndex, UserId};
use job_types::policy::Policy;
use job_types::time::{Seconds, UnixTime};
use made_up_site::{FREE_CPUS, MadeUpSite, batch, ended_job, forecast_by, fork, running_job};
use predictor_core::forecasts::blend::BoundTable;
use predictor_core::forecasts::past::UserPast;
use predictor_core::forecasts::queue_plan::QueuePlan;
use predictor_core::forecasts::wait_model::WaitModel;
use snapshot_writer::{PartitionState, RunningJob};
use std::time::{SystemTime, UNIX_EPOCH};

/// The present in Unix seconds.
#[must_use]
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
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

    /// Publishes a snapshot as [`Cluster::publish`] does, with a past of the jobs of the user with
    /// this number.
    ///
    /// # Panics
    /// Where the state directory can't be written.
    pub fn publish_for(&self, user: u32, policy: Policy, past: &[Past], running: &[(u32, i64)]) {
        self.publish_with(8, user, policy, past, running, None, Seconds::ZERO);
    }

    /// Publishes a snapshot as [`Cluster::publish_for`] does, with an empty queue. The queue was
    /// read so late that it lacks nothing that was let through before, as a daemon would tell a few
    /// seconds later.
    ///
    /// # Panics
    /// Where the state directory can't be written.
    pub fn publish_later_for(&self, user: u32, policy: Policy, past: &[Past]) {
        self.publish_with(8, user, policy, past, &[], None, Seconds(4));
    }

    /// Publishes a snapshot as [`Cluster::publish_for`] does, of a partition with this many nodes,
    /// for tests that reserve more at once than 8 nodes leave room for.
    ///
    /// # Panics
    /// Where the state directory can't be written.
    pub fn publish_of(&self, nodes: u32, user: u32, policy: Policy, past: &[Past]) {
        self.publish_with(nodes, user, policy, past, &[], None, Seconds::ZERO);
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

    /// Publishes a snapshot as [`Cluster::publish_pressed`] does, with the jobs of the user with
    /// this number.
    ///
    /// # Panics
    /// Where the state directory can't be written.
    pub fn publish_pressed_for(&self, user: u32, policy: Policy, ends_in_s: i64) {
        let past = [Past { nodes: 2, wait_s: 0, more_wait_s: 0, run_s: 50 }];
        let model = pressed(user, now() + ends_in_s);
        self.publish_with(8, user, policy, &past, &[(8, ends_in_s)], Some(&model), Seconds::ZERO);
    }

    #[allow(clippy::too_many_arguments)] // in one place, for the ways above
    fn publish_with(
        &self,
        nodes: u32,
        user: u32,
        policy: Policy,
        past: &[Past],
        running: &[(u32, i64)],
        model: Option<&WaitModel>,
        read_in: Seconds,
    ) {
        let now = UnixTime(now());
        let past = past.iter().flat_map(|job| {
            // There are as many jobs as QBETS needs to tell classes apart. They have no trend,
            // which QBETS would take for a change.
            (0..200).map(move |n| {
                // Each job runs by itself, so that no job presses on another.
                let eligible = now - Seconds(20_000_000 - n * 100_000 - i64::from(job.nodes) * 10_000);
                let wait_s = job.wait_s + n * 37 % 100 * job.more_wait_s;
                let job = ended_job(UserId(user), eligible, job.nodes, 600, wait_s, job.run_s);
                job.of((), "main", ())
            })
        });
        let running = running.iter().map(|(nodes, ends_in_s)| {
            // Somebody of whom nothing is known but the time limit.
            let user = UserId(user + 1);
            RunningJob { user, ..running_job(*nodes, now - Seconds(10_000), now + Seconds(*ends_in_s)) }
        });
        let partition = PartitionState {
            name: "main".to_owned(),
            whole_nodes: false,
            cpus: 4 * nodes,
            nodes,
            max_time: Some(Seconds(7 * 86_400)),
            running: running.collect(),
            ..batch(policy)
        };
        // An empty queue.
        let plan = QueuePlan { at: now, is_complete: true, ..QueuePlan::default() };
        let site = MadeUpSite::new(now).partition(partition).ended_jobs(past).queue(&plan).origin(|origin| {
            origin.cluster = self.name();
            // Two in one second are not the same.
            origin.generation = u64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_micros()).unwrap_or(1);
            origin.site_policy = policy;
            origin.maximum_age = Seconds(86_400);
            // Otherwise it is as old as the snapshot.
            origin.controller_read_at = (read_in > Seconds::ZERO).then_some(now + read_in);
        });
        self.publish_bytes(&match model {
            Some(model) => site.learnt(model).bytes(),
            None => site.bytes(),
        });
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
    let forecast = forecast_by(fork(FREE_CPUS, 16.0, 85.0, 0.0), 32);
    let bounds = |first: u32| std::array::from_fn(|percentile| first + percentile as u32);
    WaitModel {
        table: BoundTable { bounds_s: vec![bounds(0), bounds(7_200)], outcomes: vec![100, 100], ..forecast.table },
        cpus: 32,
        ends_by_limit: vec![(free_at, 32.0)],
        ends_expected: vec![(free_at, 32.0)],
        users: vec![UserPast { user: UserId(user), last_two_s: Some([50.0; 2]), account: AccountIndex(0), qos: QosIndex(0) }],
        accounts: vec!["main".into()],
        qos: vec!["normal".into()],
        ..forecast
    }
}
