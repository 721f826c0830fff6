//! Admission by probability on nodes that are shared in time, as the plugin decides it.
//!
//! The machine is one partition whose nodes have one CPU each. Decisions are made from a state that
//! is as old as a snapshot gets, with what was admitted since; what is known of run times is what
//! the jobs that ended by then have taught, by the clock, as accounting has them: what a job has
//! waited for others on its nodes is part of its run time. A running job has done as much of it as
//! it has run by the clock. On its nodes each job's share goes by its user's estimate, as by Libra
//! and LibraRisk.

use std::collections::BTreeMap;

use job_types::job::{EndedJob, WaitingJob};
use job_types::number::{AccountIndex, PartitionIndex, QosIndex};
use job_types::size::{Size, Unit};
use job_types::time::{Seconds, UnixTime};
use learning::{DeadlineLearner, DeadlineOutcome, RunTimeLearner};
use predictor_core::admission::{Chance, NeededShare, NodeLoad, UncertainJob};
use predictor_core::deadline_history::DeadlineHistory;
use predictor_core::deadline_run_times::open_minded;
use predictor_core::forecast::{RunTimeForecast, UserSize};
use predictor_core::shared_nodes::{SharedNode, SharingJob};

use crate::engine::Job;
use crate::engine::shared::{Answer, DeadlineJob, Fate, Policy, Sharing, simulate};

/// The partition that the machine is.
const PARTITION: PartitionIndex = PartitionIndex(0);

/// What is wanted.
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
    run_times: Vec<(f64, f64)>,
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
    /// As they were published, with what was admitted since.
    nodes: Vec<SharedNode>,
    history: DeadlineHistory,
    published: Option<UnixTime>,
    newcomer: Option<(u32, DeadlineJob)>,
}

impl<'a> ByProbability<'a> {
    /// For jobs on a machine of so many nodes, before anything is known.
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
        for promise in self.running.values() {
            let share = NeededShare::of(&promise.run_times, now - promise.started, promise.deadline - now);
            add(&mut self.nodes, &promise.nodes, share, promise.deadline);
        }
    }

    /// The run times of a job that is submitted with a deadline so far ahead.
    fn run_times_of(&self, job: &Job, given: Seconds) -> Vec<(f64, f64)> {
        let known = self.run_times.fitted().get(&user_size(job));
        let forecast = known.map(|model| RunTimeForecast { jobs: model.jobs, longest_limit: None, ranges: &model.ranges });
        let ranges = forecast.map(|forecast| forecast.within(Some(job.estimate)));
        open_minded(ranges.as_deref(), job.estimate, given, &self.history.given)
    }
}

fn idle() -> SharedNode {
    SharedNode::idle(1, u16::MAX, (0, 0))
}

fn add(nodes: &mut [SharedNode], places: &[u32], share: NeededShare, deadline: UnixTime) {
    for place in places {
        if let Some(node) = nodes.get_mut(*place as usize) {
            node.add(SharingJob { cpus: 1, admitted: Some((share, deadline)) });
        }
    }
}

fn user_size(job: &Job) -> UserSize {
    UserSize { user: job.user, partition: PARTITION, unit: Unit::Cpus, count: job.processors }
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
        let run_times = self.run_times_of(logged, job.deadline - now);
        let asked = UncertainJob {
            run_times: &run_times,
            begin: now,
            deadline: job.deadline,
            nodes: job.nodes as usize,
            cpus: 1,
            wanted: self.options.wanted,
            history: &self.history,
        };
        let load = |place: u32| self.nodes.get(place as usize).and_then(|node| node.load(1));
        let Chance::Taken { probability } = asked.choose_among(self.nodes.len() as u32, load, chosen) else {
            return Some(Answer::Refused(index));
        };
        add(&mut self.nodes, chosen, asked.share(), job.deadline);
        self.running.insert(index, Promise { nodes: chosen.clone(), started: now, deadline: job.deadline, run_times, probability });
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
        let submitted = WaitingJob {
            user: job.user,
            account: AccountIndex(job.group),
            partition: PARTITION,
            qos: QosIndex(0),
            size: Size { nodes: job.processors, cpus: job.processors },
            limit: Some(job.estimate),
            eligible: promise.started,
        };
        let past = EndedJob { submitted, allocated: None, start: Some(promise.started), end, suspended: Seconds::ZERO };
        self.run_times.ended(&past, end);
        self.deadlines.ran(PARTITION, promise.deadline - promise.started, (end - promise.started).max(Seconds(1)));
        let outcome = DeadlineOutcome { promised: promise.probability, wanted: self.options.wanted, is_kept: end <= promise.deadline };
        self.outcomes.insert((promise.deadline, index), outcome);
    }
}

#[cfg(test)]
mod tests {
    use job_types::number::UserId;

    use super::*;
    use crate::deadlines::{Choices, Method, Outcome};

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
