//! Admission by probability on nodes that are shared in time, as the plugin decides it.
//!
//! The machine is one partition whose nodes have one CPU each. Decisions are made from a state that
//! is as old as a snapshot gets, with what was admitted since; what is known of run times is what
//! the jobs that ended by then have taught, by the clock, as accounting has them: what a job has
//! waited for others on its nodes is part of its run time. A running job has done as much of it as
//! it has run by the clock, and what it needs still is forecast anew with each state, as the daemon
//! does. On its nodes each job's share goes by its user's estimate, as by Libra
//! and LibraRisk.

use std::collections::BTreeMap;

use job_types::job::{EndedJob, WaitingJob};
use job_types::number::{AccountIndex, PartitionIndex, QosIndex};
use job_types::size::{Size, Unit};
use job_types::time::{Seconds, UnixTime};
use learning::{DeadlineLearner, DeadlineOutcome, RunTimeLearner};
use predictor_core::decisions::SharingRequest;
use predictor_core::decisions::deadline_methods::{NeededShare, NodeLoad, OnTimeProbability, Threshold};
use predictor_core::decisions::shared_nodes::{SharedNode, SharingJob};
use predictor_core::forecasts::deadline_history::DeadlineHistory;
use predictor_core::forecasts::deadline_run_times::with_deadline;
use predictor_core::forecasts::forecast::{RunTimeForecast, RunTimeQuestion};

use crate::engine::Job;
use crate::engine::shared::{Answer, DeadlineJob, Fate, Policy, Sharing, simulate};
use crate::experiment::deadline_state;

/// The partition that the machine is.
const PARTITION: PartitionIndex = PartitionIndex(0);

/// The settings of the policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByProbabilityOptions {
    /// The probability with which deadlines are to be kept.
    pub wanted: f64,
    /// How old the state gets that decisions are made from.
    pub refresh: Seconds,
}

/// Replays jobs by it on a machine of so many nodes, whose `deadlines` are those of `jobs`. On live
/// nodes a job gets no more than its CPUs, so that its share is capped at them. Returns what became
/// of each.
#[must_use]
pub fn by_probability(jobs: &[Job], deadlines: &[DeadlineJob], nodes: usize, sharing: Sharing, options: ByProbabilityOptions) -> Vec<Fate> {
    let sharing = Sharing { is_capped: true, ..sharing };
    simulate(deadlines, nodes, sharing, &mut ByProbability::new(jobs, nodes, options))
}

/// A job that was admitted and has not ended.
#[derive(Debug)]
struct Promise {
    nodes: Vec<u32>,
    started: UnixTime,
    deadline: UnixTime,
    probability: f64,
}

/// The policy.
struct ByProbability<'a> {
    jobs: &'a [Job],
    options: ByProbabilityOptions,
    run_times: RunTimeLearner,
    deadlines: DeadlineLearner,
    /// What became of promises, until their deadlines have passed.
    outcomes: BTreeMap<(UnixTime, u32), DeadlineOutcome>,
    running: BTreeMap<u32, Promise>,
    /// The nodes as they were published, with the jobs that were admitted since.
    nodes: Vec<SharedNode>,
    history: DeadlineHistory,
    published: Option<UnixTime>,
    newcomer: Option<(u32, DeadlineJob)>,
}

impl<'a> ByProbability<'a> {
    /// Creates the policy for jobs on a machine with this many nodes, before anything is known.
    fn new(jobs: &'a [Job], nodes: usize, options: ByProbabilityOptions) -> Self {
        Self {
            jobs,
            options,
            run_times: RunTimeLearner::new(&[Unit::Cpus]),
            deadlines: DeadlineLearner::default(),
            outcomes: BTreeMap::new(),
            running: BTreeMap::new(),
            nodes: vec![idle(); nodes],
            history: DeadlineHistory::default(),
            published: None,
            newcomer: None,
        }
    }

    /// Publishes the present state where what was published is too old.
    fn renew(&mut self, now: UnixTime) {
        if self.published.is_some_and(|published| now - published < self.options.refresh) {
            return;
        }
        self.published = Some(now);
        self.run_times.fit(usize::MAX);
        let to_come = self.outcomes.split_off(&(now, 0));
        for outcome in std::mem::replace(&mut self.outcomes, to_come).into_values() {
            self.deadlines.came_to(PARTITION, &outcome);
        }
        self.history = self.deadlines.of(PARTITION);
        self.nodes.fill(idle());
        for (index, promise) in &self.running {
            let admitted = Some((self.remaining(*index, promise, now), promise.deadline));
            add(&mut self.nodes, &promise.nodes, SharingJob { cpus: 1, admitted });
        }
    }

    /// What a job needs still, by what is known now.
    fn remaining(&self, index: u32, promise: &Promise, now: UnixTime) -> NeededShare {
        let Promise { started, deadline, .. } = *promise;
        let Some(job) = self.jobs.get(index as usize) else { return NeededShare::default() };
        let run_times = with_deadline(self.past(job), Some(job.estimate), deadline - started, &self.history.given);
        NeededShare::of(&run_times, now - started, deadline - now)
    }

    /// How long jobs like this one have run.
    fn past(&self, job: &Job) -> Option<RunTimeForecast<'_>> {
        let (unit, count, limit) = (Unit::Cpus, job.processors, Some(job.estimate));
        self.run_times.forecast(&RunTimeQuestion { user: job.user, partition: PARTITION, unit, count, limit })
    }
}

/// A job as the forecasts of run times see it.
fn waiting(job: &Job, eligible: UnixTime) -> WaitingJob {
    WaitingJob {
        user: job.user,
        account: AccountIndex(job.group),
        partition: PARTITION,
        qos: QosIndex(0),
        size: Size { nodes: job.processors, cpus: job.processors },
        limit: Some(job.estimate),
        eligible,
    }
}

fn idle() -> SharedNode {
    SharedNode::idle(1, u16::MAX, (0, 0))
}

fn add(nodes: &mut [SharedNode], places: &[u32], job: SharingJob) {
    for place in places {
        if let Some(node) = nodes.get_mut(*place as usize) {
            node.add(job);
        }
    }
}

impl Policy for ByProbability<'_> {
    fn submit(&mut self, index: u32, job: &DeadlineJob) {
        self.newcomer = Some((index, *job));
    }

    fn decide(&mut self, _now_s: f64, _nodes: &[NodeLoad], chosen: &mut Vec<u32>) -> Option<Answer> {
        let (index, job) = self.newcomer.take()?;
        let now = job.submit;
        self.renew(now);
        let Some(logged) = self.jobs.get(index as usize) else { return Some(Answer::Refused(index)) };
        let asked = SharingRequest {
            past: self.past(logged),
            limit: Some(logged.estimate),
            submitted: now,
            begin: now,
            deadline: job.deadline,
            nodes: job.nodes,
            cpus: 1,
        };
        let bar = Threshold::new(self.options.wanted, &self.history);
        let (OnTimeProbability::Taken { probability }, sharing) = asked.choose(&self.nodes, &bar, chosen) else {
            return Some(Answer::Refused(index));
        };
        add(&mut self.nodes, chosen, sharing);
        self.run_times.arrived(index, &waiting(logged, now));
        self.running.insert(index, Promise { nodes: chosen.clone(), started: now, deadline: job.deadline, probability });
        Some(Answer::Starts(index))
    }

    fn has_jobs(&self) -> bool {
        self.newcomer.is_some()
    }

    fn asks_for_loads(&self) -> bool {
        false
    }

    fn ended(&mut self, index: u32, end_s: f64) {
        let (Some(promise), Some(job)) = (self.running.remove(&index), self.jobs.get(index as usize)) else { return };
        // Ends are at fractions of a second, of which accounting knows none.
        let end = UnixTime((end_s - 1e-3).ceil() as i64);
        let past = EndedJob {
            submitted: waiting(job, promise.started),
            allocated: None,
            start: Some(promise.started),
            end,
            suspended: Seconds::ZERO,
        };
        self.run_times.ended(index, &past);
        self.deadlines.ran(PARTITION, promise.deadline - promise.started, (end - promise.started).max(Seconds(1)));
        // What counts for nobody teaches nothing.
        if let Some(is_kept) = deadline_state(promise.deadline, Some(end), job.ending).is_kept() {
            let outcome = DeadlineOutcome { promised: promise.probability, wanted: self.options.wanted, is_kept };
            self.outcomes.insert((promise.deadline, index), outcome);
        }
    }
}

#[cfg(test)]
mod tests {
    use job_types::number::UserId;
    use job_types::options::Mode;
    use job_types::policy::Admission;
    use predictor_core::decisions::site::Partition;
    use predictor_core::decisions::{Bounds, DecisionInputs, NotAdmitted, Submission, TimeLimit, decide};
    use predictor_core::forecasts::forecast::Claimed;
    use predictor_core::forecasts::wait_model::WaitModel;
    use predictor_core::snapshot::Snapshot;
    use snapshot_writer::SharedNodeState;

    use super::*;
    use crate::deadlines::{Choices, Method, Outcome};
    use crate::experiment::{PublishedSite, Site};

    /// Jobs of three sizes, each user with one run time, of which one in five has that as its limit
    /// and the others a far longer one. Deadlines are `times` the run time after the submission.
    fn workload(count: i64, times: i64) -> (Vec<Job>, Vec<DeadlineJob>) {
        let job = |n: i64| Job {
            submit: UnixTime(n * 40),
            run_time: Seconds(100 + 50 * (n % 7)),
            estimate: Seconds(if n % 5 == 0 { 100 + 50 * (n % 7) } else { 36_000 }),
            processors: 1 + (n % 3) as u32,
            number: n as u32,
            user: UserId((n % 7) as u32),
            ..Job::default()
        };
        let jobs: Vec<Job> = (0..count).map(job).collect();
        let with_deadline = |job: &Job| DeadlineJob {
            submit: job.submit,
            run_time: job.run_time,
            estimate: job.estimate,
            nodes: job.processors,
            deadline: job.submit + Seconds(job.run_time.0 * times),
        };
        let deadlines = jobs.iter().map(with_deadline).collect();
        (jobs, deadlines)
    }

    fn outcome(nodes: usize, times: i64, wanted: f64) -> Outcome {
        let (jobs, deadlines) = workload(2_000, times);
        let options = ByProbabilityOptions { wanted, refresh: Seconds(30) };
        let fates = by_probability(&jobs, &deadlines, nodes, Sharing::default(), options);
        Outcome::of(&deadlines[500..], &fates[500..])
    }

    #[test]
    fn what_is_known_of_run_times_fulfils_more_than_estimates_and_keeps_what_is_promised() {
        let (_, deadlines) = workload(2_000, 8);
        for wanted in [0.8, 0.9, 0.95] {
            let found = outcome(16, 8, wanted);
            assert!(found.fulfilled as f64 >= wanted * found.accepted as f64, "{found:?}");
            for method in [Method::Libra, Method::LibraRisk] {
                let published = Outcome::of_replay(&deadlines[500..], 16, method, &Choices::default());
                assert!(found.fulfilled > published.fulfilled, "{} {published:?} {found:?}", method.name());
            }
        }
    }

    /// The replayed decision, held at each submission against the one that the plugin makes from a
    /// snapshot of the same state.
    struct AgainstSnapshot<'a> {
        replayed: ByProbability<'a>,
        site: PublishedSite,
        published: Vec<u8>,
        /// The snapshot's nodes, with what was admitted since.
        nodes: Vec<SharedNode>,
        /// Jobs that were admitted, and those refused for want of nodes.
        seen: [u32; 2],
    }

    impl AgainstSnapshot<'_> {
        fn publish(&mut self, now: UnixTime) {
            let mut jobs = vec![Vec::new(); self.nodes.len()];
            for (index, promise) in &self.replayed.running {
                let admitted = Some((self.replayed.remaining(*index, promise, now), promise.deadline));
                promise.nodes.iter().for_each(|place| jobs[*place as usize].push(SharingJob { cpus: 1, admitted }));
            }
            let node = |jobs| SharedNodeState { name: "node".to_owned(), cpus: 1, jobs_to_a_cpu: u16::MAX, jobs };
            let mut partitions = self.site.partitions();
            partitions[0].shared_nodes = jobs.into_iter().map(node).collect();
            let run_times = self.replayed.run_times.published().iter().map(|(key, model)| (*key, (**model).clone())).collect();
            let model = WaitModel { deadlines: vec![(PARTITION, self.replayed.history)], ..WaitModel::default() };
            self.published = self.site.snapshot(now, &partitions, run_times, Some(&model), None);
            let snapshot = Snapshot::open(&self.published[..]).unwrap();
            self.nodes = predictor_core::decisions::site::Site::partition(&snapshot, "0").unwrap().shared_nodes.to_vec();
        }

        /// The nodes, what the job adds to each, and the probability in parts of 100,000; `None`
        /// where it is refused.
        fn by_snapshot(&mut self, job: &Job, with_deadline: &DeadlineJob) -> Option<(Vec<u32>, SharingJob, i64)> {
            let snapshot = Snapshot::open(&self.published[..]).unwrap();
            let submission = Submission {
                user: job.user,
                partition: Some("0"),
                tasks: Some(job.processors),
                limit: TimeLimit::Limited(job.estimate),
                deadline: Some(with_deadline.deadline),
                ..Submission::default()
            };
            let (partition, policy) = submission.governed_by(&snapshot).unwrap();
            let bounds = Bounds::of(&submission, &partition, &snapshot);
            let partition = Partition { shared_nodes: &self.nodes, ..partition };
            let (now, claimed) = (with_deadline.submit, Claimed::default());
            let decision =
                decide(&DecisionInputs { forecasts: &snapshot, partition, policy, submission: &submission, bounds, now, claimed });
            self.seen[0] += u32::from(matches!(decision.admission, Some(Ok(_))));
            self.seen[1] += u32::from(matches!(decision.admission, Some(Err(NotAdmitted::NoShare { .. }))));
            let probability = decision.admission.unwrap().ok()?.probability.unwrap();
            let given = decision.given_share.unwrap();
            add(&mut self.nodes, &given.nodes, given.job);
            Some((given.nodes, given.job, (probability * 1e5).round() as i64))
        }
    }

    impl Policy for AgainstSnapshot<'_> {
        fn submit(&mut self, index: u32, job: &DeadlineJob) {
            self.replayed.submit(index, job);
        }

        fn decide(&mut self, now_s: f64, nodes: &[NodeLoad], chosen: &mut Vec<u32>) -> Option<Answer> {
            let (index, job) = self.replayed.newcomer?;
            let before = self.replayed.published;
            self.replayed.renew(job.submit);
            if self.replayed.published != before {
                self.publish(job.submit);
            }
            let by_snapshot = self.by_snapshot(&self.replayed.jobs[index as usize], &job);
            let answer = self.replayed.decide(now_s, nodes, chosen);
            let replayed = matches!(answer, Some(Answer::Starts(_))).then(|| {
                let promise = &self.replayed.running[&index];
                let share = self.replayed.remaining(index, promise, job.submit);
                let sharing = SharingJob { cpus: 1, admitted: Some((share, promise.deadline)) };
                (promise.nodes.clone(), sharing, (promise.probability * 1e5).round() as i64)
            });
            assert_eq!(replayed, by_snapshot, "job {index} at {:?}", job.submit);
            answer
        }

        fn has_jobs(&self) -> bool {
            self.replayed.has_jobs()
        }

        fn asks_for_loads(&self) -> bool {
            false
        }

        fn ended(&mut self, index: u32, end_s: f64) {
            self.replayed.ended(index, end_s);
        }
    }

    #[test]
    fn what_is_replayed_is_what_the_plugin_decides_from_a_snapshot_of_the_same_state() {
        let (jobs, deadlines) = workload(1_000, 6);
        let nodes = 5;
        let options = ByProbabilityOptions { wanted: 0.9, refresh: Seconds(100) };
        let policy = job_types::policy::Policy {
            mode: Mode::Enforce,
            admission: Admission::Probability,
            deadline_probability: options.wanted,
            ..Default::default()
        };
        let site = Site { processors: nodes, longest_limit: None, refresh: options.refresh };
        let mut against = AgainstSnapshot {
            replayed: ByProbability::new(&jobs, nodes as usize, options),
            site: PublishedSite { site, policy, partitions: 1 },
            published: Vec::new(),
            nodes: vec![idle(); nodes as usize],
            seen: [0; 2],
        };
        simulate(&deadlines, nodes as usize, Sharing { is_capped: true, ..Sharing::default() }, &mut against);
        assert!(against.seen.iter().all(|seen| *seen > 100), "{:?} of {}", against.seen, jobs.len());
        assert_ne!(against.replayed.history, DeadlineHistory::default(), "what was learnt was published");
    }

    #[test]
    fn more_is_refused_where_there_are_fewer_nodes_and_all_that_is_larger_than_the_machine() {
        let [small, large] = [4, 16].map(|nodes| outcome(nodes, 8, 0.9));
        assert!(small.accepted < large.accepted, "{small:?} {large:?}");
        let too_small = outcome(1, 8, 0.9);
        assert!(too_small.accepted <= too_small.submitted.div_ceil(3), "{too_small:?}");
    }

    #[test]
    fn a_deadline_that_has_passed_is_refused() {
        assert_eq!(outcome(16, 0, 0.9).accepted, 0);
    }
}
