//! What the plugin does: its gate and its decision, asked from the state of the simulation.

use job_types::number::{PartitionIndex, UserId};
use std::collections::HashMap;

use job_types::options::{Asked, Mode};
use job_types::policy::{Policy, When};
use job_types::time::{Seconds, UnixTime};
use predictor_core::decision::{
    Arrival, Bounds, Decision, Gate, NoState, Placement, Situation, Standing, Submission, TimeLimit, Timeliness, decide, gate,
};
use predictor_core::forecast::{Claimed, Claims};

use super::Decider;
use super::parts::{Parts, Wishes};
use super::state::State;
use super::waits::PastWaits;
use crate::engine::{Cluster, Job, JobIndex, Record, Submitted};

/// The decision that the plugin ships with, [`decide`], behind the [`gate`] of the submit filter.
pub struct Shipped {
    state: State,
    policy: Policy,
    wishes: Wishes,
    parts: Parts,
    /// By user and partition: what jobs that were decided about since the state was published take.
    claims: HashMap<(UserId, PartitionIndex), Claims>,
    /// What the job that is decided about is expected to run.
    expected: Option<Seconds>,
}

/// What a simulated cluster is like, on which the shipped decision is replayed.
#[derive(Debug, Clone, Copy)]
pub struct Site {
    /// Processors of the machine.
    pub processors: u32,
    /// The longest time limit that a job may have; `None` where the log has no limits.
    pub longest_limit: Option<Seconds>,
    /// How old the state gets before it is published anew.
    pub refresh: Seconds,
}

impl Shipped {
    /// For a workload of so many jobs.
    #[must_use]
    pub fn new(jobs: usize, site: &Site, wishes: Wishes, parts: Parts, seed: u64) -> Self {
        let mold = if parts.any_size { When::Asked } else { When::Always };
        let policy = Policy { mode: Mode::Enforce, mold, ..Policy::default() };
        // With a plan molding asks for no forecast of past waits, and to learn them takes most of
        // the time of an experiment.
        let waits = (wishes.deferral || !parts.plan).then(|| PastWaits::new(site.processors, seed));
        let state = State::new(jobs, site.processors, site.longest_limit, policy, site.refresh, parts, waits);
        Self { state, policy, wishes, parts, claims: HashMap::new(), expected: None }
    }

    /// What a user's jobs have claimed since the state was published.
    fn claimed(&self, user: UserId, partition: PartitionIndex) -> Claimed {
        if !self.parts.claims {
            return Claimed::default();
        }
        let mut claimed = Claimed::default();
        for ((_, place), claims) in self.claims.iter().filter(|((other, _), _)| *other == user) {
            claimed.cluster.add(claims);
            if *place == partition {
                claimed.partition = *claims;
            }
        }
        claimed
    }

    /// The submission that a job of the log is.
    fn submission<'a>(&self, job: &Job, partition: &'a str, account: &'a str) -> Submission<'a> {
        Submission {
            user: UserId(job.user),
            partition: Some(partition),
            account: Some(account),
            tasks: Some(job.processors),
            limit: TimeLimit::Limited(job.estimate),
            placement: (!self.parts.growth).then_some(Placement::NodeShape),
            asked: Asked { auto_mold: self.parts.any_size, auto_defer: self.wishes.deferral, ..Asked::default() },
            ..Submission::default()
        }
    }

    /// What is decided about a submission, if the gate lets it be decided about.
    fn decision(&mut self, submission: &Submission<'_>, now: UnixTime) -> Option<Decision> {
        let standing = Standing { is_off: false, is_transparent: self.policy.is_transparent() };
        let mut governing = None;
        let verdict = gate(&Arrival::of(submission), Some(standing), || {
            match self.state.timeliness(now) {
                Some(Timeliness::Current) => {}
                Some(Timeliness::TooOld) => return Err(NoState::TooOld),
                Some(Timeliness::Ahead) => return Err(NoState::Ahead),
                None => return Err(NoState::Absent),
            }
            governing = submission.governed_by(&self.state);
            governing.map(|(_, policy)| policy).ok_or(NoState::UnknownPartition)
        });
        let (Gate::Decide(_), Some((partition, policy))) = (verdict, governing) else { return None };
        let bounds = Bounds::of(submission, &partition, &self.state);
        let claimed = self.claimed(submission.user, partition.index);
        let situation = Situation { forecasts: &self.state, partition, policy, submission, bounds, now, claimed };
        let decision = decide(&situation);
        if let Some(claims) = decision.claims(&situation) {
            let most_cpus = u64::from(partition.cpus);
            self.claims.entry((submission.user, partition.index)).or_default().add_within(&claims, most_cpus);
        }
        Some(decision)
    }
}

impl Decider for Shipped {
    fn decide(&mut self, index: JobIndex, asked: &Job, cluster: &Cluster) -> Submitted {
        let now = cluster.now();
        if self.state.renew(cluster) {
            self.claims.clear();
        }
        self.state.prepare(index, asked);
        let (partition, account) = ((asked.queue as u16).to_string(), asked.group.to_string());
        let submission = self.submission(asked, &partition, &account);
        let decision = self.decision(&submission, now);
        self.expected = decision.as_ref().and_then(|decision| decision.decided.as_ref()).map(|decided| decided.run_time);
        let changes = decision.map(|decision| decision.changes()).unwrap_or_default();
        let processors = changes.size.map_or(asked.processors, |(size, _)| size.cpus);
        let estimate = changes.limit.unwrap_or(asked.estimate);
        let eligible = changes.begin.unwrap_or(now);
        Submitted { job: Job { processors, estimate, ..*asked }, eligible, hold_until: changes.hold_until }
    }

    fn passed(&mut self, index: JobIndex, _asked: &Job, submitted: &Submitted, cluster: &Cluster) {
        let expected = self.expected.take();
        self.state.passed(index, &submitted.job, expected, cluster.now(), submitted.eligible);
    }

    fn started(&mut self, index: JobIndex, _job: &Job, record: &Record) {
        self.state.started(index, record);
    }

    fn ended(&mut self, index: JobIndex, job: &Job, record: &Record) {
        self.state.ended(index, job, record);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeMap;

    use predictor_core::forecast::{ClassBounds, QueueForecaster, RunTimeModel, UserSize};
    use predictor_core::queue_plan::{PlannedPartition, QueuePlan};
    use predictor_core::snapshot::{Origin, PartitionState, Snapshot, write};
    use predictor_core::wait_model::FittedPast;

    use super::super::tests::jobs;
    use super::super::{ExperimentPolicy, MoldedRunTimes, SpeedUpModel, scheduler, speed_ups};
    use super::*;
    use crate::engine::{Machine, simulate};

    /// The shipped decision from the simulation's own state, held against the one from a snapshot
    /// of that state at each submission.
    struct AgainstSnapshot {
        shipped: Shipped,
        site: Site,
        published: Vec<u8>,
    }

    /// The run times that the simulation has published, by user, queue and size.
    struct PublishedPast {
        run_times: BTreeMap<UserSize, RunTimeModel>,
    }

    /// A partition for each queue of the log.
    const PARTITIONS: [&str; 8] = ["0", "1", "2", "3", "4", "5", "6", "7"];

    impl FittedPast for PublishedPast {
        fn partition_index(&mut self, name: &str) -> Option<PartitionIndex> {
            PARTITIONS.iter().position(|known| *known == name).map(|place| PartitionIndex(place as u16))
        }

        fn partition_names(&self) -> Vec<&str> {
            PARTITIONS.to_vec()
        }

        fn classes(&self) -> &[ClassBounds] {
            &[]
        }

        fn run_times(&self) -> &BTreeMap<UserSize, RunTimeModel> {
            &self.run_times
        }

        fn ended_jobs(&self) -> u64 {
            0
        }

        fn ends(&self) -> Option<(UnixTime, UnixTime)> {
            None
        }
    }

    impl AgainstSnapshot {
        fn publish(&mut self, now: UnixTime) {
            let site = &self.site;
            let partitions: Vec<PartitionState> = PARTITIONS
                .into_iter()
                .map(|name| PartitionState {
                    name: name.to_owned(),
                    policy: self.shipped.policy,
                    is_default: false,
                    whole_nodes: false,
                    cpus: site.processors,
                    nodes: site.processors,
                    max_time: site.longest_limit,
                    default_time: None,
                    running: Vec::new(),
                    pending_jobs: 0,
                    pending_cpus: 0,
                    limits: Default::default(),
                })
                .collect();
            let free = self.shipped.state.queue_plan(PartitionIndex(0)).unwrap();
            let planned = |index| PlannedPartition { index, cpus_per_node: 1, free: free.steps.to_vec(), ..PlannedPartition::default() };
            let plan = QueuePlan {
                at: now,
                pending_jobs: free.pending_jobs as u32,
                is_complete: true,
                jobs: Vec::new(),
                partitions: (0..PARTITIONS.len() as u16).map(PartitionIndex).map(planned).collect(),
            };
            let run_times = self.shipped.state.run_times().all().iter().map(|(key, model)| (*key, (**model).clone())).collect();
            let mut past = PublishedPast { run_times };
            let origin = Origin { published_at: now, maximum_age: site.refresh, site_policy: self.shipped.policy, ..Origin::default() };
            self.published = write(&mut past, &partitions, &origin, None, Some(&plan));
        }
    }

    impl Decider for AgainstSnapshot {
        fn decide(&mut self, index: JobIndex, asked: &Job, cluster: &Cluster) -> Submitted {
            let now = cluster.now();
            if self.shipped.state.renew(cluster) {
                self.shipped.claims.clear();
                self.publish(now);
            }
            let snapshot = Snapshot::open(&self.published).unwrap();
            assert_eq!(snapshot.timeliness(now), Timeliness::Current);
            let (partition, account) = (asked.queue.to_string(), asked.group.to_string());
            let submission = self.shipped.submission(asked, &partition, &account);
            let (partition, policy) = submission.governed_by(&snapshot).unwrap();
            let bounds = Bounds::of(&submission, &partition, &snapshot);
            let claimed = self.shipped.claimed(UserId(asked.user), partition.index);
            let situation = Situation { forecasts: &snapshot, partition, policy, submission: &submission, bounds, now, claimed };
            let changes = decide(&situation).changes();
            let submitted = self.shipped.decide(index, asked, cluster);
            let by_snapshot = (
                changes.size.map_or(asked.processors, |(size, _)| size.cpus),
                changes.limit.unwrap_or(asked.estimate),
                changes.begin.unwrap_or(now),
            );
            let simulated = (submitted.job.processors, submitted.job.estimate, submitted.eligible);
            assert_eq!(simulated, by_snapshot, "job {index} at {now:?}");
            submitted
        }

        fn passed(&mut self, index: JobIndex, asked: &Job, submitted: &Submitted, cluster: &Cluster) {
            self.shipped.passed(index, asked, submitted, cluster);
        }

        fn started(&mut self, index: JobIndex, job: &Job, record: &Record) {
            self.shipped.started(index, job, record);
        }

        fn ended(&mut self, index: JobIndex, job: &Job, record: &Record) {
            self.shipped.ended(index, job, record);
        }
    }

    #[test]
    fn the_simulation_decides_as_a_snapshot_of_its_state_does() {
        let jobs = jobs();
        assert!(jobs.iter().all(|job| (job.queue as usize) < PARTITIONS.len()));
        let longest_limit = jobs.iter().map(|job| job.estimate).max();
        for (refresh, parts) in [
            (30, Parts::default()),
            (3_600, Parts::default()),
            (30, Parts { any_size: false, ..Parts::default() }),
            (30, Parts { growth: false, ..Parts::default() }),
        ] {
            let site = Site { processors: 64, longest_limit, refresh: Seconds(refresh) };
            let shipped = Shipped::new(jobs.len(), &site, Wishes::default(), parts, 1);
            let decider = AgainstSnapshot { shipped, site, published: Vec::new() };
            let run_times = MoldedRunTimes::Computation(speed_ups(&jobs, SpeedUpModel::Downey, 1));
            let window = 0..jobs.len() as JobIndex;
            let mut policy = ExperimentPolicy::new(decider, run_times, window, vec![true; jobs.len()], None);
            simulate(&jobs, &Machine::new(64), &mut scheduler(), &mut policy).unwrap();
            let changed = policy.changed();
            assert!(changed.smaller > 20, "{changed:?}");
            assert!(parts.growth || changed.larger == 0, "{changed:?}");
        }
    }
}
