//! When the jobs of a workload start and end if nobody else comes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter::{Peekable, Zip};
use std::ops::Range;
use std::slice;

use job_types::time::{Seconds, UnixTime};

use super::cycle::Cycle;
use super::outcome::Outcome;
use super::slot::Slot;
use super::workload::{Coming, Granted, Running, Waiting, Workload};
use crate::profile::Profile;
use crate::resources::Resources;

/// What is put into a workload before it is planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// Nothing (plan ORG).
    Nothing,
    /// A reservation (plan RSV).
    Reservation(Granted),
    /// A job at the end of the queue (plan JOB).
    Job(Waiting),
}

/// When the jobs of a workload start and end if nobody else comes: an execution plan (section 4.2).
///
/// Jobs are scheduled by their estimates, and end when they are expected to; in the publication
/// these are one, and no job is known to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutionPlan {
    /// When each job starts, those that wait and then those that come, in seconds from now; `None`
    /// for one that asks for more than there ever is.
    pub starts: Vec<Option<Seconds>>,
    /// When the job starts that was put in.
    pub placed_job: Option<Slot>,
    /// When the last job ends, in seconds from now (C_max, equation 2).
    pub makespan: Seconds,
    /// The sum over the jobs of the seconds from now until each ends. Over their number it is the
    /// mean completion time (C_avg, equation 3).
    pub completions: Seconds,
}

impl ExecutionPlan {
    /// Plans a workload with something put in. The figures are of the workload's own jobs, those
    /// that run, that wait and that come.
    #[must_use]
    pub fn of(workload: &Workload, placed: Placed) -> Self {
        let mut planning = Planning::of(workload, placed);
        let mut at = workload.now;
        while !planning.is_done() {
            planning.start(at);
            while let Some(job) = planning.submit(at) {
                // Nothing has become free since the last cycle but for this one.
                if job.asks.cpus <= planning.profile.free_at(at).cpus {
                    planning.start(at);
                }
            }
            let Some(next) = planning.next(at) else { break };
            at = next;
        }
        planning.plan
    }

    /// What the workload's jobs come to.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        Outcome { makespan: self.makespan, completions: self.completions }
    }

    /// How many jobs start later than in another plan of the same workload, and by how many seconds
    /// all of these together.
    #[must_use]
    pub fn delays(&self, other: &Self) -> (usize, Seconds) {
        let later = self.starts.iter().zip(&other.starts).filter_map(|(ours, other)| Some((*ours)? - (*other)?));
        later.filter(|later| *later > Seconds::ZERO).fold((0, Seconds::ZERO), |(jobs, sum), later| (jobs + 1, Seconds(sum.0 + later.0)))
    }
}

/// An end that is to come: when, until when the processors were taken, and how many.
type End = Reverse<(UnixTime, UnixTime, i64)>;

/// A plan that is being made.
struct Planning<'w> {
    workload: &'w Workload,
    profile: Profile,
    ends: BinaryHeap<End>,
    /// The jobs that wait, by their places in [`ExecutionPlan::starts`].
    queue: Vec<(usize, Waiting)>,
    /// The jobs that come, by the same places.
    coming: Peekable<Zip<Range<usize>, slice::Iter<'w, Coming>>>,
    plan: ExecutionPlan,
}

impl<'w> Planning<'w> {
    fn of(workload: &'w Workload, placed: Placed) -> Self {
        let mut profile = workload.profile();
        let mut ends: BinaryHeap<End> = workload.running.iter().map(|job| Reverse((job.ends, job.until, job.holds.cpus))).collect();
        let mut granted = |granted: &Granted| ends.push(Reverse((granted.slot.end, granted.slot.end, 0)));
        workload.granted.iter().for_each(&mut granted);
        let mut queue: Vec<(usize, Waiting)> = workload.waiting.iter().copied().enumerate().collect();
        let jobs = workload.waiting.len() + workload.coming.len();
        match placed {
            Placed::Nothing => {}
            Placed::Reservation(reservation) => {
                profile.take(reservation.slot.start, reservation.slot.end, reservation.takes);
                granted(&reservation);
            }
            Placed::Job(job) => queue.push((jobs, job)),
        }
        let coming = (workload.waiting.len()..jobs).zip(&workload.coming).peekable();
        let ended = |job: &Running| (job.ends - workload.now).max(Seconds::ZERO);
        let plan = ExecutionPlan {
            starts: vec![None; jobs],
            placed_job: None,
            makespan: workload.running.iter().map(ended).max().unwrap_or(Seconds::ZERO),
            completions: Seconds(workload.running.iter().map(|job| ended(job).0).sum()),
        };
        Self { workload, profile, ends, queue, coming, plan }
    }

    /// Whether each job has started.
    fn is_done(&mut self) -> bool {
        self.queue.is_empty() && self.coming.peek().is_none()
    }

    /// Puts the next job into the queue that comes by now, and says which.
    fn submit(&mut self, at: UnixTime) -> Option<Waiting> {
        let (place, coming) = self.coming.next_if(|(_, coming)| coming.at <= at)?;
        self.queue.push((place, coming.job));
        Some(coming.job)
    }

    /// Goes to the next moment at which something ends or a job comes, and gives back what is taken
    /// beyond an end.
    fn next(&mut self, at: UnixTime) -> Option<UnixTime> {
        let comes = self.coming.peek().map(|(_, coming)| coming.at);
        let mut next = None;
        while let Some(&Reverse((end, until, cpus))) = self.ends.peek() {
            if next.or(comes).is_some_and(|next| end > next) {
                break;
            }
            self.ends.pop();
            self.profile.give_back(end.max(at), until, Resources::of_cpus(cpus));
            if end > at {
                next = Some(end);
            }
        }
        next.or(comes)
    }

    /// One scheduling cycle.
    fn start(&mut self, at: UnixTime) {
        self.profile.forget_before(at);
        let Some(least) = self.queue.iter().map(|(_, job)| job.asks.cpus).min() else { return };
        // Nobody starts where there is not even room for the smallest.
        if self.profile.free_at(at).cpus < least {
            return;
        }
        let profile = std::mem::replace(&mut self.profile, Profile::new(at, Resources::NONE));
        let mut cycle = Cycle::of_heads(at, profile, self.queue.iter().map(|(_, job)| *job));
        let heads = cycle.started();
        // The first that did not start has the lock.
        let behind = heads + 1;
        let backfilled = cycle.backfill(self.queue.iter().skip(behind).map(|(_, job)| *job));
        let started: Vec<usize> = (0..heads).chain(backfilled.into_iter().map(|place| behind + place)).collect();
        for place in started.iter().rev() {
            let (index, job) = self.queue.remove(*place);
            self.ends.push(Reverse((at + job.runs, at + job.estimate, job.asks.cpus)));
            let now = self.workload.now;
            match self.plan.starts.get_mut(index) {
                Some(start) => {
                    *start = Some(at - now);
                    let end = at + job.runs - now;
                    self.plan.makespan = self.plan.makespan.max(end);
                    self.plan.completions = Seconds(self.plan.completions.0 + end.0);
                }
                None => self.plan.placed_job = Some(Slot::of(at, job.estimate)),
            }
        }
        self.profile = cycle.without_lock();
    }
}
