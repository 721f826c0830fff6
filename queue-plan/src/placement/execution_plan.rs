//! When the jobs of a workload start and end if nobody comes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use job_types::time::{Seconds, UnixTime};

use super::cycle::Cycle;
use super::slot::Slot;
use super::workload::{Granted, Running, Waiting, Workload};
use crate::profile::Profile;

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

/// When the jobs of a workload start and end if nobody comes and each runs for its estimate: an
/// execution plan (section 4.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutionPlan {
    /// When each waiting job starts, in seconds from now; `None` for one that asks for more than
    /// there ever is.
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
    /// that run and those that wait.
    #[must_use]
    pub fn of(workload: &Workload, placed: Placed) -> Self {
        let now = workload.now;
        let mut profile = workload.profile();
        let mut ends: BinaryHeap<Reverse<UnixTime>> = workload.running.iter().map(|job| Reverse(job.until)).collect();
        ends.extend(workload.granted.iter().map(|granted| Reverse(granted.slot.end)));
        let mut queue: Vec<(usize, Waiting)> = workload.waiting.iter().copied().enumerate().collect();
        let place_of_job = queue.len();
        match placed {
            Placed::Nothing => {}
            Placed::Reservation(granted) => {
                profile.take(granted.slot.start, granted.slot.end, granted.takes);
                ends.push(Reverse(granted.slot.end));
            }
            Placed::Job(job) => queue.push((place_of_job, job)),
        }
        let ended = |job: &Running| (job.until - now).max(Seconds::ZERO);
        let mut plan = Self {
            starts: vec![None; workload.waiting.len()],
            placed_job: None,
            makespan: workload.running.iter().map(ended).max().unwrap_or(Seconds::ZERO),
            completions: Seconds(workload.running.iter().map(|job| ended(job).0).sum()),
        };
        let mut at = now;
        while !queue.is_empty() {
            let least = queue.iter().map(|(_, job)| job.asks.cpus).min().unwrap_or_default();
            profile.forget_before(at);
            // Nobody starts where there is not even room for the smallest.
            if profile.free_at(at).cpus >= least {
                profile = plan.start(workload, at, profile, &mut queue, &mut ends);
            }
            let Some(next) = std::iter::from_fn(|| ends.pop()).map(|Reverse(end)| end).find(|end| *end > at) else { break };
            at = next;
        }
        plan
    }

    /// One scheduling cycle of the plan.
    fn start(
        &mut self,
        workload: &Workload,
        at: UnixTime,
        profile: Profile,
        queue: &mut Vec<(usize, Waiting)>,
        ends: &mut BinaryHeap<Reverse<UnixTime>>,
    ) -> Profile {
        let mut cycle = Cycle::of_heads(at, profile, queue.iter().map(|(_, job)| *job));
        let heads = cycle.started();
        // The first that did not start has the lock.
        let behind = heads + 1;
        let backfilled = cycle.backfill(queue.iter().skip(behind).map(|(_, job)| *job));
        let started: Vec<usize> = (0..heads).chain(backfilled.into_iter().map(|place| behind + place)).collect();
        for place in started.iter().rev() {
            let (index, job) = queue.remove(*place);
            let slot = Slot::of(at, job.estimate);
            ends.push(Reverse(slot.end));
            match self.starts.get_mut(index) {
                Some(start) => {
                    *start = Some(at - workload.now);
                    let end = slot.end - workload.now;
                    self.makespan = self.makespan.max(end);
                    self.completions = Seconds(self.completions.0 + end.0);
                }
                None => self.placed_job = Some(slot),
            }
        }
        cycle.without_lock()
    }

    /// How many jobs start later than in another plan of the same workload, and by how many seconds
    /// all of these together.
    #[must_use]
    pub fn delays(&self, other: &Self) -> (usize, Seconds) {
        let later = self.starts.iter().zip(&other.starts).filter_map(|(ours, other)| Some((*ours)? - (*other)?));
        later.filter(|later| *later > Seconds::ZERO).fold((0, Seconds::ZERO), |(jobs, sum), later| (jobs + 1, Seconds(sum.0 + later.0)))
    }
}
