//! What the plugin does: its gate and its decision, asked from the state of the simulation.

mod offers;
#[cfg(test)]
mod tests;

pub(super) use self::offers::Offer;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use job_types::number::{PartitionIndex, UserId};
use job_types::options::{Mode, SuccessProbability, UserOptions};
use job_types::policy::{Admission, Policy, When};
use job_types::promise::Promise;
use job_types::record::Record as PromiseRecord;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::{
    Admitted, Arrival, Bounds, Decision, DecisionInputs, FilterState, Gate, NoState, NotAdmitted, NotReserved, Placement, Refusal,
    Submission, TimeLimit, Timeliness, TrajectoryPoint, decide, gate,
};
use predictor_core::forecasts::forecast::{Claimed, Claims};
use published_methods::varq::Choice;

use super::Decider;
use super::NEVER;
use super::given::GivenReservations;
use super::learnt_waits::{LearntWaits, PublishedSite, ReservationGiven};
use super::parts::{Ablations, AdmissionRule, RequestedFeatures, Site};
use super::priced_time::Agreement;
use super::state::State;
use crate::engine::{Cluster, Job, JobIndex, Record, Revised, Submitted};

/// What was answered to a job that asked for its nodes at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AskedReservation {
    /// The job.
    pub job: JobIndex,
    /// The time.
    pub at: UnixTime,
    /// When it becomes eligible and with which probability it has its nodes by then, or why it was
    /// refused.
    pub answer: Result<TrajectoryPoint, NotReserved>,
}

/// What a job takes from those that are decided about after it.
struct NewClaims {
    /// Whose it is, in which partition.
    of: (UserId, PartitionIndex),
    claims: Claims,
    /// What it takes at most.
    most_cpus: u64,
}

/// A decision with what follows from it.
struct Decided {
    decision: Decision,
    /// What the job takes from those that are decided about after it.
    claims: Option<NewClaims>,
    /// The record that the submit filter writes into a job that is given a reservation.
    record: Option<PromiseRecord>,
}

/// A job with the names by which the state knows what it belongs to.
struct Named {
    job: Job,
    partition: String,
    account: String,
    /// Empty where it is not known.
    qos: String,
}

/// Names a job by its log's numbers; the state calls the partition as the log calls the queue.
impl From<Job> for Named {
    fn from(job: Job) -> Self {
        Self { partition: job.queue.to_string(), account: job.group.to_string(), qos: job.qos_name(), job }
    }
}

/// What was forecast for a job with a deadline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeadlineForecast {
    /// The job.
    pub job: JobIndex,
    /// The deadline.
    pub deadline: UnixTime,
    /// The probability that it is done by then; `None` where nothing is known of waits and a start
    /// at once would be in time.
    pub probability: Option<f64>,
}

/// The decision that the plugin ships with, [`decide`], behind the [`gate`] of the submit filter.
pub struct Shipped {
    state: State,
    site: PublishedSite,
    wishes: RequestedFeatures,
    parts: Ablations,
    /// What the jobs that were decided about since the state was published take, by user and
    /// partition.
    claims: HashMap<(UserId, PartitionIndex), Claims>,
    /// The job that was decided about last, and how long it is expected to run.
    expected: Option<(JobIndex, Seconds)>,
    /// The numbers of the log's queues, ascending: each is a partition, called by its place.
    queues: Vec<u32>,
    given: GivenReservations,
    /// What the job that is decided about was given.
    reserved: Option<ReservationGiven>,
    asked_reservations: Vec<AskedReservation>,
    deadline_forecasts: Vec<DeadlineForecast>,
    /// The deadline of each job, if jobs are admitted with deadlines.
    deadlines: Vec<UnixTime>,
    /// Whether jobs that are not likely enough to be in time run as others do.
    is_in_shadow: bool,
    /// The answers to the jobs with deadlines.
    admissions: BTreeMap<JobIndex, Result<Admitted, NotAdmitted>>,
    /// The number of jobs that were refused.
    refused: i64,
}

impl Shipped {
    /// Creates the policy for a workload.
    #[must_use]
    pub fn new(jobs: &[Job], site: &Site, wishes: RequestedFeatures, parts: Ablations, seed: u64) -> Self {
        let mold = match (wishes.molding, parts.any_size) {
            (false, _) => When::Never,
            (true, true) => When::Asked,
            (true, false) => When::Always,
        };
        let success_probability = wishes.reservation.map_or(parts.site.success_probability, |wish| wish.probability);
        let policy = Policy { mode: Mode::Enforce, mold, defer: When::Asked, success_probability, ..parts.site };
        let queues: BTreeSet<u32> = jobs.iter().map(|job| job.queue).collect();
        let site = PublishedSite { site: *site, policy, partitions: u16::try_from(queues.len()).unwrap_or(u16::MAX) };
        // With a plan, molding asks for no forecast from past waits, and learning those waits takes
        // most of the time of an experiment.
        let is_by_plan = parts.plan && wishes == RequestedFeatures { molding: wishes.molding, ..RequestedFeatures::default() };
        let waits = (!is_by_plan).then(|| LearntWaits::new(site, seed));
        Self {
            state: State::new(jobs.len(), site, parts, waits),
            site,
            wishes,
            parts,
            claims: HashMap::new(),
            expected: None,
            queues: queues.into_iter().collect(),
            reserved: None,
            given: GivenReservations::new(parts.reviewed, site.site.refresh),
            asked_reservations: Vec::new(),
            deadline_forecasts: Vec::new(),
            deadlines: Vec::new(),
            is_in_shadow: false,
            admissions: BTreeMap::new(),
            refused: 0,
        }
    }

    /// Creates the policy for a workload in which each job has a deadline and is admitted with the
    /// wanted probability or refused.
    #[must_use]
    pub fn admitting(jobs: &[Job], site: &Site, deadlines: Vec<UnixTime>, rule: AdmissionRule, seed: u64) -> Self {
        let wishes = RequestedFeatures { molding: rule.molding, ..RequestedFeatures::default() };
        let mut shipped = Self::new(jobs, site, wishes, Ablations::default(), seed);
        shipped.site.policy = Policy { admission: Admission::Probability, deadline_probability: rule.wanted, ..shipped.site.policy };
        let waits = None;
        shipped.state = State::new(jobs.len(), shipped.site, shipped.parts, waits);
        shipped.state.admits();
        shipped.deadlines = deadlines;
        shipped.is_in_shadow = rule.in_shadow;
        shipped
    }

    /// What is promised to a job: where refused jobs run as others do, its forecast probability as
    /// well.
    fn promised(&self, index: JobIndex, answer: Result<Admitted, NotAdmitted>) -> Result<Admitted, NotAdmitted> {
        match (answer, self.deadlines.get(index as usize)) {
            (Err(NotAdmitted::Unlikely { probability, .. }), Some(deadline)) if self.is_in_shadow => Ok(Admitted {
                by: Admission::Probability,
                deadline: *deadline,
                probability: Some(probability),
                wanted: Some(self.site.policy.deadline_probability),
                begin: None,
            }),
            (answer, _) => answer,
        }
    }

    /// What was answered to the jobs that asked to be admitted with their deadlines.
    #[must_use]
    pub fn admissions(&self) -> &BTreeMap<JobIndex, Result<Admitted, NotAdmitted>> {
        &self.admissions
    }

    /// What was answered to the jobs that asked for their nodes at a time, in the order in which
    /// they did.
    #[must_use]
    pub fn asked_reservations(&self) -> &[AskedReservation] {
        &self.asked_reservations
    }

    /// What was forecast for the jobs with deadlines, in the order in which they were submitted.
    #[must_use]
    pub fn deadline_forecasts(&self) -> &[DeadlineForecast] {
        &self.deadline_forecasts
    }

    /// The job with its queue called as the state calls the partition.
    fn in_partition(&self, job: &Job) -> Job {
        Job { queue: self.queues.binary_search(&job.queue).unwrap_or_default() as u32, ..*job }
    }

    /// Takes up the state that is in force when a job arrives; the job as the state calls what it
    /// belongs to.
    fn arriving(&mut self, asked: &Job, cluster: &Cluster) -> Named {
        if self.state.renew(cluster) {
            self.claims.clear();
        }
        let job = self.in_partition(asked);
        self.state.prepare(&job);
        Named::from(job)
    }

    /// What a user's jobs have claimed since the state was published.
    fn claimed(&self, user: UserId, partition: PartitionIndex) -> Claimed {
        if !self.parts.claims {
            return Claimed::default();
        }
        let mut claimed = Claimed::default();
        if !self.deadlines.is_empty() {
            // All partitions have the same processors.
            self.claims.values().for_each(|claims| claimed.admitted.add(claims));
        }
        for ((_, place), claims) in self.claims.iter().filter(|((other, _), _)| *other == user) {
            claimed.cluster.add(claims);
            if *place == partition {
                claimed.partition = *claims;
            }
        }
        claimed
    }

    /// The submission that a job of the log is.
    fn submission<'a>(&self, Named { job, partition, account, qos }: &'a Named, now: UnixTime) -> Submission<'a> {
        let RequestedFeatures { molding, deferral, reservation, deadline } = self.wishes;
        let limit = job.estimate;
        let asked = UserOptions {
            auto_mold: molding && self.parts.any_size,
            auto_defer: deferral,
            reserve_at: reservation.map(|wish| wish.next(now).0),
            success_probability: reservation.filter(|wish| wish.names_probability).map(|wish| match wish.point {
                Choice::Latest => SuccessProbability::AtLeast(wish.probability),
                Choice::MostProbable => SuccessProbability::Best,
            }),
            ..UserOptions::default()
        };
        Submission {
            user: job.user,
            partition: Some(partition),
            account: Some(account),
            qos: Some(qos.as_str()).filter(|qos| !qos.is_empty()),
            tasks: Some(job.processors),
            limit: TimeLimit::Limited(limit),
            deadline: deadline.map(|slack| now + limit + slack),
            placement: (!self.parts.growth).then_some(Placement::NodeShape),
            asked,
            ..Submission::default()
        }
    }

    /// What is decided about a submission, if the gate lets it be decided about.
    fn decided(&self, submission: &Submission<'_>, now: UnixTime) -> Option<Decided> {
        let standing = FilterState { is_off: false, is_transparent: self.site.policy.is_transparent() };
        let mut governing = None;
        let verdict = gate(&Arrival::from(submission), Some(standing), || {
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
        let situation = DecisionInputs { forecasts: &self.state, partition, policy, submission, bounds, now, claimed };
        let mut decision = decide(&situation);
        self.refuse_unlikely(&mut decision);
        let of = (submission.user, partition.index);
        let claims = decision.claims(&situation).map(|claims| NewClaims { of, claims, most_cpus: u64::from(partition.cpus) });
        let record = matches!(decision.reservation, Some(Ok(_))).then(|| decision.record(&situation, 0));
        Some(Decided { decision, claims, record })
    }

    /// Decides about a submission, and notes what its job takes from later ones. Returns the
    /// decision, and the job's record where it is given a reservation.
    fn decision(&mut self, submission: &Submission<'_>, now: UnixTime) -> (Option<Decision>, Option<PromiseRecord>) {
        let Some(Decided { decision, claims, record }) = self.decided(submission, now) else { return (None, None) };
        if let Some(NewClaims { of, claims, most_cpus }) = claims {
            self.claims.entry(of).or_default().add_within(&claims, most_cpus);
        }
        (Some(decision), record)
    }

    /// Refuses a most probable point that does not reach the probability that is asked for.
    fn refuse_unlikely(&self, decision: &mut Decision) {
        let (Some(wish), Some(Ok(best))) = (self.wishes.reservation, decision.reservation) else { return };
        // What reaches the probability that is asked for is given, whatever is told of it.
        if wish.point == Choice::MostProbable && best.point.probability < wish.probability - 1e-9 {
            let wanted = SuccessProbability::AtLeast(wish.probability);
            decision.reservation = Some(Err(NotReserved::Unlikely { best: Some(best), wanted, asked: wish.probability, later: None }));
        }
    }

    /// Keeps what is to be held against what happens.
    fn note(&mut self, job: JobIndex, submission: &Submission<'_>, decision: &Decision) {
        if let (Some(at), Some(reservation)) = (submission.asked.reserve_at, &decision.reservation) {
            let answer = reservation.as_ref().map(|reservation| reservation.point).map_err(|why| *why);
            self.asked_reservations.push(AskedReservation { job, at: UnixTime(at), answer });
        }
        if let Some(deadline) = submission.deadline {
            // A probability is also known without any knowledge of waits, if not even a start now
            // would be in time.
            let probability = decision.decided.as_ref().and_then(|decided| decided.deadline_probability);
            self.deadline_forecasts.push(DeadlineForecast { job, deadline, probability });
        }
    }
}

impl Decider for Shipped {
    fn withdrawn(&mut self, index: JobIndex) {
        self.given.ended(index);
        self.state.withdrawn(index);
    }

    fn decide(&mut self, index: JobIndex, asked: &Job, cluster: &Cluster) -> Submitted {
        let now = cluster.now();
        let named = self.arriving(asked, cluster);
        self.state.hold_against_plan(&named.job, cluster);
        let mut submission = self.submission(&named, now);
        submission.deadline = self.deadlines.get(index as usize).copied().or(submission.deadline);
        let (mut decision, mut record) = self.decision(&submission, now);
        let mut offered = None;
        if self.wishes.molding
            && let Some(Refusal::NotAdmitted(why)) = decision.as_ref().and_then(Decision::refusal)
            && let Some(size) = why.alternatives().size
        {
            // A user who asks for that takes the size that is offered.
            let limit = size.limit.unwrap_or(asked.estimate);
            let smaller = Job { processors: size.tasks.unwrap_or(size.count), estimate: limit, ..*asked };
            submission = Submission { tasks: Some(smaller.processors), limit: TimeLimit::Limited(limit), ..submission };
            (decision, record) = self.decision(&submission, now);
            offered = Some(smaller);
        }
        let asked = offered.as_ref().unwrap_or(asked);
        self.expected = decision.as_ref().and_then(|decision| decision.decided.as_ref()).map(|decided| (index, decided.run_time));
        if let Some(decision) = &decision {
            self.note(index, &submission, decision);
        }
        if let (Some(Ok(reservation)), Some(record)) = (decision.as_ref().and_then(|decision| decision.reservation.as_ref()), record) {
            let promise = Promise::given(&record).and_then(Promise::reservation);
            self.reserved = promise.map(|promise| ReservationGiven { promise, own_limit: named.job.estimate });
            self.given.add(index, &named.job, reservation.at, record, now);
        }
        if let Some(admission) = decision.as_ref().and_then(|decision| decision.admission) {
            self.admissions.insert(index, admission);
            let job = self.in_partition(asked);
            match self.promised(index, admission) {
                Ok(admitted) => self.expected = self.state.admitted(index, &job, admitted, now).map(|expected| (index, expected)),
                Err(_) => {
                    // It is refused, and never comes into the queue.
                    self.refused += 1;
                    return Submitted { job: *asked, eligible: NEVER + Seconds(self.refused), hold_until: None };
                }
            }
        }
        // A reservation that slurmctld would refuse lets its job go on as it was written, without a
        // promise.
        let changes = decision.filter(|decision| decision.refusal().is_none()).map(|decision| decision.changes()).unwrap_or_default();
        let processors = changes.size.map_or(asked.processors, |(size, _)| size.cpus);
        let estimate = changes.limit.unwrap_or(asked.estimate);
        let eligible = changes.begin.unwrap_or(now);
        Submitted { job: Job { processors, estimate, ..*asked }, eligible, hold_until: changes.hold_until }
    }

    fn passed(&mut self, index: JobIndex, _asked: &Job, submitted: &Submitted, cluster: &Cluster) {
        if self.admissions.get(&index).is_some_and(|answer| self.promised(index, *answer).is_err()) {
            return;
        }
        let expected = self.expected.take().filter(|(of, _)| *of == index).map(|(_, expected)| expected);
        let job = self.in_partition(&submitted.job);
        self.state.passed(index, &job, expected, cluster.now(), submitted.eligible);
        if let Some(given) = self.reserved.take() {
            self.state.reserved(index, given);
        }
    }

    fn started(&mut self, index: JobIndex, _job: &Job, record: &Record) {
        self.given.started(index, record);
        self.state.started(index, record);
    }

    fn ended(&mut self, index: JobIndex, job: &Job, record: &Record) {
        let job = self.in_partition(job);
        self.given.ended(index);
        self.state.ended(index, &job, record);
    }

    fn wakes_at(&self) -> Option<UnixTime> {
        self.given.wakes_at()
    }

    fn agreement(&self) -> Option<Agreement> {
        self.state.agreement()
    }

    fn revise(&mut self, cluster: &Cluster) -> Vec<Revised> {
        let now = cluster.now();
        let due = self.given.due(now);
        if due.iter().any(|index| self.given.needs_forecasts(*index, now)) && self.state.renew(cluster) {
            self.claims.clear();
        }
        let revised: Vec<Revised> = due.into_iter().filter_map(|index| self.given.look(index, &self.state, now)).collect();
        for revised in &revised {
            self.state.revised(revised);
        }
        revised
    }
}
