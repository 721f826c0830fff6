//! A made-up site for the tests of all crates: jobs that have ended, the partitions as they are
//! now, what was learnt of waits and a plan of the queue. [`MadeUpSite`] puts them together, as
//! values that decisions can be made from or as a snapshot.
#![allow(clippy::unwrap_used, clippy::panic)]

mod cluster;
mod large_model;
mod model;
mod slurm_reservations;

pub use cluster::{Cluster, Wait};
pub use large_model::large_model;
pub use model::{FREE_CPUS, JOB_CPUS, LIMIT, WAITING_JOBS, forecast_by, fork, score};
pub use slurm_reservations::{ALL, site_beside, slurm_reservation, slurm_reservations};

use job_types::job::{EndedJob, WaitingJob};
use job_types::number::{JobId, PartitionIndex, UserId};
use job_types::options::{Mode, SuccessProbability, UserOptions};
use job_types::policy::Policy;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use learning::history::{History, HistoryLimits};
use predictor_core::decisions::site::Site;
use predictor_core::decisions::{Bounds, DecisionInputs, NodeRange, Submission, TimeLimit, decide};
use predictor_core::forecasts::forecast::Claimed;
use predictor_core::forecasts::queue_plan::{PlannedPartition, QueuePlan};
use predictor_core::forecasts::wait_model::WaitModel;
use predictor_core::snapshot::Snapshot;
use snapshot_writer::{Origin, PartitionState, RunningJob, write};
use upkeep::QueuedJob;

/// A present, for tests that need no clock.
pub const NOW: UnixTime = UnixTime(1_800_000_000);

/// The user whose past is known.
pub const USER: u32 = 1000;

/// A site as of one moment. It has no partition, no past and no plan until it is given them.
#[derive(Debug)]
pub struct MadeUpSite {
    origin: Origin,
    partitions: Vec<PartitionState>,
    ended_jobs: Vec<EndedJob<(), &'static str, ()>>,
    model: Option<WaitModel>,
    queue: Option<QueuePlan>,
}

impl MadeUpSite {
    /// A site at a moment, with the policy of [`enforcing`]; snapshots of it are in force for ten
    /// minutes.
    #[must_use]
    pub fn new(now: UnixTime) -> MadeUpSite {
        let origin = Origin {
            cluster: "test".into(),
            generation: 7,
            published_at: now,
            maximum_age: Seconds(600),
            confidence: 0.95,
            site_policy: enforcing(),
            ..Origin::default()
        };
        MadeUpSite { origin, partitions: Vec::new(), ended_jobs: Vec::new(), model: None, queue: None }
    }

    /// Changes where the snapshot comes from: its number, its policy and so on.
    #[must_use]
    pub fn origin(mut self, change: impl FnOnce(&mut Origin)) -> MadeUpSite {
        change(&mut self.origin);
        self
    }

    /// Adds a partition.
    #[must_use]
    pub fn partition(mut self, partition: PartitionState) -> MadeUpSite {
        self.partitions.push(partition);
        self
    }

    /// Adds jobs to the past.
    #[must_use]
    pub fn ended_jobs(mut self, jobs: impl IntoIterator<Item = EndedJob<(), &'static str, ()>>) -> MadeUpSite {
        self.ended_jobs.extend(jobs);
        self
    }

    /// Says what was learnt of waits.
    #[must_use]
    pub fn learnt(mut self, model: &WaitModel) -> MadeUpSite {
        self.model = Some(model.clone());
        self
    }

    /// Says when what waits will start.
    #[must_use]
    pub fn queue(mut self, plan: &QueuePlan) -> MadeUpSite {
        self.queue = Some(plan.clone());
        self
    }

    /// The past, fitted.
    ///
    /// # Panics
    /// Where the times of a job contradict each other.
    #[must_use]
    pub fn history(&self) -> History {
        let mut history = History::new(HistoryLimits::default());
        for job in &self.ended_jobs {
            assert!(history.push(job), "{job:?}");
        }
        history.fit(self.origin.confidence);
        history
    }

    /// The first partition and its past as plain values.
    ///
    /// # Panics
    /// Where there is no partition.
    #[must_use]
    pub fn state(&self) -> Cluster {
        Cluster::of(self.partitions.first().unwrap().clone(), &self.history())
    }

    /// A snapshot, as the daemon writes it.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        write(&mut self.history(), &self.partitions, &self.origin, self.model.as_ref(), self.queue.as_ref())
    }

    /// A snapshot, opened.
    ///
    /// # Panics
    /// Where a snapshot that was just written can't be read.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot<Vec<u8>> {
        Snapshot::open(self.bytes()).unwrap()
    }
}

/// A policy that enforces.
#[must_use]
pub fn enforcing() -> Policy {
    Policy { mode: Mode::Enforce, ..Policy::default() }
}

/// The partition `batch`: 64 whole nodes of 4 CPUs, two days at the most, an hour where no time
/// limit is given; nothing runs or waits.
#[must_use]
pub fn batch(policy: Policy) -> PartitionState {
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
        coming: Vec::new(),
        reserved: Vec::new(),
        limits: Default::default(),
        slurm_reservations: Vec::new(),
        shared_nodes: Vec::new(),
    }
}

/// A job of the past in `batch`, on so many nodes of 4 CPUs: its time limit, its wait and its run
/// time are in seconds.
#[must_use]
pub fn ended_job(user: UserId, eligible: UnixTime, nodes: u32, limit: i64, wait: i64, run_time: i64) -> EndedJob<(), &'static str, ()> {
    let start = eligible + Seconds(wait);
    EndedJob {
        submitted: WaitingJob {
            user,
            account: (),
            partition: "batch",
            qos: (),
            size: Size { nodes, cpus: nodes * 4 },
            limit: Some(Seconds(limit)),
            eligible,
        },
        allocated: None,
        start: Some(start),
        end: start + Seconds(run_time),
        suspended: Seconds::ZERO,
    }
}

/// A job of somebody of whom nothing else is known, that runs on so many nodes of 4 CPUs.
#[must_use]
pub fn running_job(nodes: u32, start: UnixTime, limit_end: UnixTime) -> RunningJob {
    let size = Size { nodes, cpus: nodes * 4 };
    RunningJob { user: UserId(1), size, start, waits_on_nodes: Seconds::ZERO, limit_end: Some(limit_end) }
}

/// A plan by which so many CPUs of the first partition, of 4 on each node, are free from these
/// moments on, behind so many jobs that wait in the cluster.
#[must_use]
pub fn free_cpus(at: UnixTime, free: Vec<(UnixTime, u32)>, pending_jobs: u32) -> QueuePlan {
    let partition = PlannedPartition { index: PartitionIndex(0), cpus_per_node: 4, free, ..PlannedPartition::default() };
    QueuePlan { at, pending_jobs, is_complete: true, jobs: Vec::new(), partitions: vec![partition], promised: Vec::new() }
}

/// A job on so many whole nodes for an hour, of [`USER`].
#[must_use]
pub fn submission(nodes: u32, asked: UserOptions) -> Submission<'static> {
    Submission {
        user: UserId(USER),
        partition: Some("batch"),
        nodes: Some(NodeRange { least: nodes, most: nodes }),
        limit: TimeLimit::Limited(Seconds(3_600)),
        asked,
        ..Submission::default()
    }
}

/// A job of an hour on 4 nodes as the filter wrote it, reserved with 0.9 for four hours from
/// [`NOW`].
#[must_use]
pub fn reserved_job(site: &Cluster) -> QueuedJob {
    let success_probability = Some(SuccessProbability::AtLeast(0.9));
    let submission = submission(4, UserOptions { reserve_at: Some(NOW.0 + 4 * 3_600), success_probability, ..UserOptions::default() });
    let situation = site.situation(&submission);
    let decision = decide(&situation);
    let job = QueuedJob::as_recorded(JobId(1), UserId(USER), decision.record(&situation, 7));
    QueuedJob { partition: Some("batch".to_owned()), whole_nodes: true, accounting_is_enforced: true, ..job }
}

/// A submission to `batch` as it meets a snapshot at [`NOW`], with nothing decided since.
///
/// # Panics
/// Where the snapshot has no such partition.
#[must_use]
pub fn situation<'a>(snapshot: &'a Snapshot<Vec<u8>>, submission: &'a Submission<'a>) -> DecisionInputs<'a, Snapshot<Vec<u8>>> {
    let partition = snapshot.partition("batch").unwrap();
    let bounds = Bounds::of(submission, &partition, snapshot);
    DecisionInputs { forecasts: snapshot, partition, policy: partition.policy, submission, bounds, now: NOW, claimed: Claimed::default() }
}
