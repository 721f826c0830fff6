//! The published method in the place of the shipped decision: [`Varq`], told of each start as it
//! happens.
//!
//! While a job waits to be submitted, its trajectory is made anew (Nurmi, Wolski and Brevik 2008,
//! 3.1, the last paragraph but one: "VARQ continually generates new probability trajectories while
//! waiting to submit a job"), so that it is submitted by what is known then. They do not say how
//! often, nor what becomes of a job of which no point reaches the probability any more. Here it is
//! done in the steps of the trajectory, where a wait was learnt since the last; and such a job goes
//! to the most probable point, because its user was promised nodes.

use std::collections::BTreeMap;

use job_types::time::{Seconds, UnixTime};
use learning::waits::qbets::Classes;
use published_methods::varq::{Choice, Point, ReservationRequest, STEP, Varq};

use super::super::Decider;
use super::super::expected_run_times::waiting_job;
use super::super::parts::ReservationWish;
use super::{Answer, Answers, Refusal};
use crate::engine::{Cluster, Job, JobIndex, Record, Revised, Submitted};

/// A job that was given a reservation and waits to be submitted.
struct ToSubmit {
    job: Job,
    reserved: UnixTime,
    /// When it is submitted, and with which limit, by the latest trajectory.
    point: Point,
}

/// VARQ in front of a simulated machine.
pub(super) struct VarqDecider {
    varq: Varq,
    wish: ReservationWish,
    /// Whether trajectories are made anew while jobs wait to be submitted.
    recomputes: bool,
    longest_limit: Option<Seconds>,
    to_submit: BTreeMap<JobIndex, ToSubmit>,
    /// When the trajectories were made.
    made: UnixTime,
    /// Whether a wait was learnt since.
    has_learnt: bool,
    answers: Vec<Answer>,
}

impl VarqDecider {
    /// Creates a decider that has seen no job start yet.
    pub(super) fn new(wish: ReservationWish, classes: Classes, recomputes: bool, longest_limit: Option<Seconds>) -> Self {
        Self {
            varq: Varq::with_classes(classes),
            wish,
            recomputes,
            longest_limit,
            to_submit: BTreeMap::new(),
            made: UnixTime(i64::MIN / 2),
            has_learnt: false,
            answers: Vec::new(),
        }
    }

    fn answer(&mut self, job: &Job, now: UnixTime, reserved: UnixTime) -> Result<Point, Refusal> {
        let (choice, wanted) = (self.wish.point, self.wish.probability);
        let job = waiting_job(job, now);
        if !self.varq.knows(&job) {
            return Err(Refusal::NoWaits);
        }
        let asked = ReservationRequest { job: &job, now, reserved, longest_limit: self.longest_limit };
        self.varq.point(&asked, wanted, choice).map_err(|_| {
            let unlimited = ReservationRequest { longest_limit: None, ..asked };
            if self.varq.point(&unlimited, wanted, choice).is_ok() { Refusal::BeyondLimit } else { Refusal::Unlikely }
        })
    }

    /// The point that a job gets which was given a reservation, by what is known now.
    fn newest_point(&mut self, index: JobIndex, now: UnixTime) -> Option<Point> {
        let ToSubmit { job, reserved, .. } = self.to_submit.get(&index)?;
        let job = waiting_job(job, now);
        let asked = ReservationRequest { job: &job, now, reserved: *reserved, longest_limit: self.longest_limit };
        let wanted = self.varq.point(&asked, self.wish.probability, self.wish.point);
        wanted.or_else(|_| self.varq.point(&asked, 0.0, Choice::MostProbable)).ok()
    }
}

impl Answers for VarqDecider {
    fn answers(&self) -> Vec<Answer> {
        self.answers.clone()
    }

    fn given(&self, job: JobIndex) -> Option<UnixTime> {
        self.answers.last().filter(|answer| answer.job == job && answer.answer.is_ok()).map(|answer| answer.at)
    }
}

impl Decider for VarqDecider {
    fn decide(&mut self, index: JobIndex, asked: &Job, cluster: &Cluster) -> Submitted {
        let now = cluster.now();
        let at = self.wish.next(now);
        let answer = self.answer(asked, now, at);
        let submitted = match &answer {
            Ok(point) => {
                if self.recomputes && point.begin > now {
                    self.to_submit.insert(index, ToSubmit { job: *asked, reserved: at, point: *point });
                }
                let job = Job { estimate: point.padded_limit, ..*asked };
                Submitted { job, eligible: point.begin, hold_until: Some(at) }
            }
            Err(_) => Submitted { job: *asked, eligible: now, hold_until: None },
        };
        self.answers.push(Answer { job: index, at, answer: answer.map(|point| point.probability()) });
        submitted
    }

    fn passed(&mut self, _index: JobIndex, _asked: &Job, _submitted: &Submitted, _cluster: &Cluster) {}

    fn started(&mut self, _index: JobIndex, job: &Job, record: &Record) {
        self.varq.observe(&waiting_job(job, record.eligible), record.start - record.eligible);
        self.has_learnt = true;
    }

    fn ended(&mut self, _index: JobIndex, _job: &Job, _record: &Record) {}

    fn wakes_at(&self) -> Option<UnixTime> {
        (self.has_learnt && !self.to_submit.is_empty()).then_some(self.made + STEP)
    }

    fn revise(&mut self, cluster: &Cluster) -> Vec<Revised> {
        let now = cluster.now();
        (self.made, self.has_learnt) = (now, false);
        self.to_submit.retain(|_, job| job.point.begin > now);
        let waiting: Vec<JobIndex> = self.to_submit.keys().copied().collect();
        let mut revised = Vec::new();
        for index in waiting {
            let Some(newest) = self.newest_point(index, now) else { continue };
            let Some(job) = self.to_submit.get_mut(&index).filter(|job| job.point.begin != newest.begin) else { continue };
            job.point = newest;
            revised.push(Revised { job: index, eligible: Some(newest.begin), estimate: Some(newest.padded_limit) });
        }
        revised
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::jobs;
    use super::super::super::{ExperimentPolicy, MoldedRunTimes, easy};
    use super::*;
    use crate::engine::{Machine, simulate};

    /// Returns, for each job that was given a reservation, the reserved time and what became of the
    /// job.
    fn replayed(recomputes: bool) -> BTreeMap<JobIndex, (UnixTime, Record)> {
        let jobs = jobs();
        let wish = ReservationWish { every: Seconds(6 * 3_600), probability: 0.5, names_probability: true, point: Choice::Latest };
        let decider = VarqDecider::new(wish, Classes::Found, recomputes, None);
        let asks = (0..jobs.len()).map(|place| place >= 300 && place % 3 == 0).collect();
        let mut policy = ExperimentPolicy::new(decider, MoldedRunTimes::Computation(Vec::new()), 0..900, asks, None);
        let records = simulate(&jobs, &Machine::new(64), &mut easy(), &mut policy).unwrap();
        for answer in policy.decider().answers.iter().filter(|answer| answer.answer.is_ok()) {
            let (job, record) = (&jobs[answer.job as usize], &records[answer.job as usize]);
            assert_eq!(record.estimate, job.estimate + (answer.at - record.eligible), "the limit reaches from the submission");
            assert!(record.eligible >= record.submit && record.eligible < answer.at);
        }
        policy
            .decider()
            .answers()
            .iter()
            .filter(|answer| answer.answer.is_ok())
            .map(|answer| (answer.job, (answer.at, records[answer.job as usize])))
            .collect()
    }

    #[test]
    fn a_job_is_submitted_by_the_trajectory_of_then_and_not_of_when_it_was_given_its_reservation() {
        let (anew, once) = (replayed(true), replayed(false));
        assert!(once.len() > 40, "{}", once.len());
        let moved = once.iter().filter(|(job, (_, once))| anew.get(job).is_some_and(|(_, anew)| anew.eligible != once.eligible)).count();
        assert!(moved > 10, "{moved} of {}", once.len());
    }
}
