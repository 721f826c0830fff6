//! The process that asks several machines for the same nodes, and what stands between it and each
//! of them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::{JointOption, joint_reservation};

use super::super::super::Decider;
use super::super::super::NEVER;
use super::super::super::parts::ReservationWish;
use super::super::super::shipped::{Offer, Shipped};
use crate::engine::{Cluster, Job, JobIndex, Record, Revised, Submitted};

/// A joint reservation that was given.
#[derive(Debug, Clone)]
pub(super) struct Given {
    /// The reserved time.
    pub(super) at: UnixTime,
    /// The probability that was computed for it.
    pub(super) probability: f64,
    /// What is expected to be paid for it, in processor seconds.
    pub(super) expected: u64,
    /// What the cheapest reservation on one machine alone was expected to cost, where one reached
    /// the probability.
    pub(super) alone: Option<u64>,
    /// The job that was chosen on each machine; `None` on a machine without one.
    pub(super) jobs: Vec<Option<JobIndex>>,
    /// When the job on each machine started; `None` if it has not.
    pub(super) starts: Vec<Option<UnixTime>>,
}

/// What a process submits of all that is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chooses {
    /// The cheapest set that suffices; its other jobs are withdrawn once one has its nodes.
    Cheapest,
    /// A job on each machine, each with the same probability to miss; none is withdrawn.
    Evenly,
}

/// A job that is no longer needed, because another one of its reservation has its nodes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Superfluous {
    pub(super) machine: usize,
    pub(super) job: JobIndex,
    pub(super) since: UnixTime,
}

/// The time that is asked for now, and what the machines that were asked would give.
#[derive(Debug)]
struct Question {
    at: UnixTime,
    answers: Vec<Option<(JobIndex, Vec<Offer>)>>,
}

/// One process asks for its nodes on all machines at once. Refused, it asks again with another job;
/// given a joint reservation, it begins anew when its time has come.
#[derive(Debug)]
pub(super) struct Process {
    wish: ReservationWish,
    machines: usize,
    chooses: Chooses,
    /// It has a reservation for this time, and asks for none before.
    reserved: UnixTime,
    question: Option<Question>,
    pub(super) asked: usize,
    pub(super) given: Vec<Given>,
    /// The jobs that are to be submitted to each machine, with the offers that they were given.
    to_submit: Vec<Vec<(JobIndex, Offer)>>,
    /// The place in `given` of the reservation that each job belongs to, by machine and job.
    belongs: BTreeMap<(usize, JobIndex), usize>,
    /// Jobs that have become superfluous since this list was last read.
    superfluous: Vec<Superfluous>,
}

impl Process {
    /// Creates a process in front of this many machines that has not asked for anything yet.
    pub(super) fn new(wish: ReservationWish, machines: usize, chooses: Chooses) -> Self {
        Self {
            wish,
            machines,
            chooses,
            reserved: UnixTime(i64::MIN),
            question: None,
            asked: 0,
            given: Vec::new(),
            to_submit: vec![Vec::new(); machines],
            belongs: BTreeMap::new(),
            superfluous: Vec::new(),
        }
    }

    /// A machine has said what it would give for the job. Once all have, it is chosen.
    fn answered(&mut self, machine: usize, job: JobIndex, at: UnixTime, offers: Vec<Offer>) {
        let machines = self.machines;
        let question = self.question.get_or_insert_with(|| Question { at, answers: vec![None; machines] });
        if let Some(answer) = question.answers.get_mut(machine) {
            *answer = Some((job, offers));
        }
        if question.answers.iter().all(Option::is_some)
            && let Some(Question { at, answers }) = self.question.take()
        {
            self.choose(at, answers.into_iter().flatten().collect());
        }
    }

    /// Returns the place of the chosen offer on each machine. All jobs miss with equal probability,
    /// and together no more often than the wish allows.
    fn evenly(&self, answers: &[(JobIndex, Vec<Offer>)]) -> Option<Vec<Option<usize>>> {
        let each = 1.0 - (1.0 - self.wish.probability).powf(1.0 / self.machines.max(1) as f64);
        let cheapest = |offers: &Vec<Offer>| {
            let enough = offers.iter().enumerate().filter(|(_, offer)| offer.wanted >= each - 1e-9);
            enough.min_by_key(|(_, offer)| offer.reservation.cost().expected_node_seconds).map(|(place, _)| Some(place))
        };
        answers.iter().map(|(_, offers)| cheapest(offers)).collect()
    }

    /// Chooses of what the machines would give, where it suffices.
    fn choose(&mut self, at: UnixTime, answers: Vec<(JobIndex, Vec<Offer>)>) {
        self.asked += 1;
        let cost = |offer: &Offer| offer.reservation.cost().expected_node_seconds;
        let option = |offer: &Offer| JointOption { probability: offer.wanted, node_seconds: cost(offer) };
        let options: Vec<Vec<JointOption>> = answers.iter().map(|(_, offers)| offers.iter().map(option).collect()).collect();
        let chosen = match self.chooses {
            Chooses::Cheapest => joint_reservation(&options, self.wish.probability).ok().map(|joint| joint.chosen),
            Chooses::Evenly => self.evenly(&answers),
        };
        let Some(chosen) = chosen else { return };
        let enough = answers.iter().flat_map(|(_, offers)| offers).filter(|offer| offer.wanted >= self.wish.probability - 1e-9);
        let mut jobs = vec![None; self.machines];
        let (mut missed, mut expected) = (1.0, 0);
        for (machine, ((job, offers), chosen)) in answers.iter().zip(&chosen).enumerate() {
            let Some(offer) = chosen.and_then(|place| offers.get(place)) else { continue };
            missed *= 1.0 - offer.wanted;
            expected += cost(offer);
            jobs[machine] = Some(*job);
            self.to_submit[machine].push((*job, offer.clone()));
            self.belongs.insert((machine, *job), self.given.len());
        }
        self.reserved = at;
        let starts = vec![None; self.machines];
        self.given.push(Given { at, probability: 1.0 - missed, expected, alone: enough.map(cost).min(), jobs, starts });
    }

    fn has_started(&mut self, machine: usize, job: JobIndex, start: UnixTime) {
        let Some(place) = self.belongs.get(&(machine, job)) else { return };
        let Some(given) = self.given.get_mut(*place) else { return };
        if let Some(started) = given.starts.get_mut(machine) {
            *started = Some(start);
        }
        let others = given.jobs.iter().enumerate().filter(|(other, _)| *other != machine);
        self.superfluous.extend(others.filter_map(|(machine, job)| Some(Superfluous { machine, job: (*job)?, since: start })));
    }

    /// The jobs that are to be withdrawn, because another of the same reservation has started since
    /// this was last asked.
    pub(super) fn superfluous(&mut self) -> Vec<Superfluous> {
        let superfluous = std::mem::take(&mut self.superfluous);
        if self.chooses == Chooses::Evenly { Vec::new() } else { superfluous }
    }
}

/// The process in front of one of the machines, where the shipped decision says what is to be had.
pub(super) struct Front {
    process: Rc<RefCell<Process>>,
    machine: usize,
    shipped: Shipped,
    /// The jobs that may be asked for, as they are written.
    own: BTreeMap<JobIndex, Job>,
    /// How many of them have been put out of the way.
    out_of_the_way: usize,
}

impl Front {
    pub(super) fn new(process: &Rc<RefCell<Process>>, machine: usize, shipped: Shipped) -> Self {
        Self { process: Rc::clone(process), machine, shipped, own: BTreeMap::new(), out_of_the_way: 0 }
    }

    /// Whether a job is one that may be asked for, and is not submitted.
    fn is_unasked(&self, index: JobIndex) -> bool {
        self.own.contains_key(&index) && !self.process.borrow().belongs.contains_key(&(self.machine, index))
    }
}

impl Decider for Front {
    fn decide(&mut self, index: JobIndex, asked: &Job, cluster: &Cluster) -> Submitted {
        let now = cluster.now();
        self.own.insert(index, *asked);
        let mut process = self.process.borrow_mut();
        let at = process.wish.next(now);
        if now >= process.reserved {
            let offers = self.shipped.offers(asked, cluster);
            process.answered(self.machine, index, at, offers);
        }
        // A job stays out of the way until it is chosen, and for ever if it is not.
        self.out_of_the_way += 1;
        Submitted { job: *asked, eligible: NEVER + Seconds(self.out_of_the_way as i64), hold_until: Some(at) }
    }

    fn passed(&mut self, index: JobIndex, asked: &Job, submitted: &Submitted, cluster: &Cluster) {
        if !self.own.contains_key(&index) {
            self.shipped.passed(index, asked, submitted, cluster);
        }
    }

    fn started(&mut self, index: JobIndex, job: &Job, record: &Record) {
        if !self.is_unasked(index) {
            self.process.borrow_mut().has_started(self.machine, index, record.start);
            self.shipped.started(index, job, record);
        }
    }

    fn ended(&mut self, index: JobIndex, job: &Job, record: &Record) {
        if !self.is_unasked(index) {
            self.shipped.ended(index, job, record);
        }
    }

    fn withdrawn(&mut self, index: JobIndex) {
        self.shipped.withdrawn(index);
    }

    fn wakes_at(&self) -> Option<UnixTime> {
        // What was chosen is submitted at once.
        let has_chosen = self.process.borrow().to_submit.get(self.machine).is_some_and(|jobs| !jobs.is_empty());
        if has_chosen { Some(UnixTime(i64::MIN)) } else { self.shipped.wakes_at() }
    }

    fn revise(&mut self, cluster: &Cluster) -> Vec<Revised> {
        let now = cluster.now();
        let chosen = self.process.borrow_mut().to_submit.get_mut(self.machine).map(std::mem::take).unwrap_or_default();
        if chosen.is_empty() {
            return self.shipped.revise(cluster);
        }
        let mut revised = Vec::new();
        for (index, offer) in chosen {
            let Some(asked) = self.own.get(&index).copied() else { continue };
            let submitted = self.shipped.take(index, &asked, &offer, now);
            self.shipped.passed(index, &asked, &submitted, cluster);
            revised.push(Revised { job: index, eligible: Some(submitted.eligible), estimate: Some(submitted.job.estimate) });
        }
        revised
    }
}
