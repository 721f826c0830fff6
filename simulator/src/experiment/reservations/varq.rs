//! The published method in the place of the shipped decision: [`Varq`], told of each start as it
//! happens.
//!
//! A job is decided about once, when it is submitted.

use job_types::time::{Seconds, UnixTime};
use published_methods::varq::{Asked, Choice, Point, Varq};

use super::super::Decider;
use super::super::expected_run_times::waiting_job;
use super::super::parts::ReservationWish;
use super::{Answer, Answers, Refusal};
use crate::engine::{Cluster, Job, JobIndex, Record, Submitted};

/// VARQ in front of a simulated machine.
pub(super) struct VarqDecider {
    varq: Varq,
    wish: ReservationWish,
    choice: Choice,
    longest_limit: Option<Seconds>,
    answers: Vec<Answer>,
}

impl VarqDecider {
    /// Before any job has started.
    pub(super) fn new(wish: ReservationWish, choice: Choice, longest_limit: Option<Seconds>) -> Self {
        Self { varq: Varq::new(), wish, choice, longest_limit, answers: Vec::new() }
    }

    fn answer(&mut self, job: &Job, now: UnixTime, reserved: UnixTime) -> Result<Point, Refusal> {
        let (choice, wanted) = (self.choice, self.wish.probability);
        let job = waiting_job(job, now);
        if !self.varq.knows(&job) {
            return Err(Refusal::NoWaits);
        }
        let asked = Asked { job: &job, now, reserved, longest_limit: self.longest_limit };
        self.varq.point(&asked, wanted, choice).map_err(|_| {
            let unlimited = Asked { longest_limit: None, ..asked };
            if self.varq.point(&unlimited, wanted, choice).is_ok() { Refusal::BeyondLimit } else { Refusal::Unlikely }
        })
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
    }

    fn ended(&mut self, _index: JobIndex, _job: &Job, _record: &Record) {}
}
