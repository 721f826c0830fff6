//! From event to event.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use market::Milliseconds;

use super::auction::Auction;
use super::fifo::Fifo;
use super::floor::Floor;
use super::glunix::Glunix;
use super::scheduler::Scheduler;
use super::users::{Desk, Wish};
use super::{Cycle, Job, JobIndex, Observer, Record, Rules, SchedulerName, Standing, Submission, Users};

/// Runs `jobs`, which are in the order of their submissions, on `nodes` nodes. Returns the record
/// of each, in their order.
pub fn simulate(
    jobs: &[Job],
    nodes: u32,
    rules: &Rules,
    users: &mut (impl Users + ?Sized),
    observer: &mut (impl Observer + ?Sized),
) -> Vec<Record> {
    match (rules.scheduler, rules.scheduler.walk()) {
        (_, Some(walk)) => run(jobs, nodes, rules, Auction::new(nodes, jobs.len(), walk, rules), users, observer),
        (SchedulerName::Glunix, _) => run(jobs, nodes, rules, Glunix::new(nodes), users, observer),
        _ => run(jobs, nodes, rules, Fifo::new(nodes), users, observer),
    }
}

fn run(
    jobs: &[Job],
    nodes: u32,
    rules: &Rules,
    scheduler: impl Scheduler,
    users: &mut (impl Users + ?Sized),
    observer: &mut (impl Observer + ?Sized),
) -> Vec<Record> {
    let floor = Floor::new(jobs, nodes, rules.slowdown);
    let mut simulation = Simulation { nodes, floor, scheduler, next: 0, delayed: BinaryHeap::new(), wishes: Vec::new() };
    let mut now = Milliseconds::ZERO;
    while let Some(moment) = simulation.next_moment(now, users) {
        now = moment;
        simulation.pass(now, users);
        let paid = simulation.scheduler.cycle(now, &mut simulation.floor);
        simulation.floor.execution.find_ends(now);
        let counts = simulation.floor.counts;
        observer.cycle(&Cycle {
            at: now,
            price: paid.price,
            revenue_per_minute: paid.revenue_per_minute,
            running: counts.running,
            suspended: counts.suspended,
            queued: counts.queued,
            running_nodes: counts.running_nodes,
            busy_nodes: simulation.floor.execution.busy_nodes(),
        });
    }
    simulation.floor.records
}

struct Simulation<'a, S> {
    nodes: u32,
    floor: Floor<'a>,
    scheduler: S,
    /// The next job of the workload.
    next: usize,
    /// Jobs whose users have put off their submissions.
    delayed: BinaryHeap<Reverse<(Milliseconds, JobIndex)>>,
    wishes: Vec<(JobIndex, Wish)>,
}

impl<S: Scheduler> Simulation<'_, S> {
    /// When something happens next; `None` once nothing will.
    fn next_moment(&mut self, now: Milliseconds, users: &(impl Users + ?Sized)) -> Option<Milliseconds> {
        let submission = self.floor.jobs.get(self.next).map(|job| job.submit.max(now));
        let delayed = self.delayed.peek().map(|Reverse((at, _))| *at);
        let end = self.floor.execution.next_end();
        if submission.is_none() && delayed.is_none() && self.floor.present() == 0 {
            return None;
        }
        let next_millisecond = now + Milliseconds(1);
        let wakes = [users.wakes_at(), self.scheduler.wakes_at()].into_iter().flatten().min().map(|at| at.max(next_millisecond));
        [submission, delayed, end, wakes].into_iter().flatten().min()
    }

    /// All that happens at a moment: jobs are done, users are asked, and jobs are submitted.
    fn pass(&mut self, now: Milliseconds, users: &mut (impl Users + ?Sized)) {
        let asks_for_time = users.wakes_at().is_some_and(|at| at <= now);
        while let Some(job) = self.floor.execution.pop_end(now) {
            self.leave(job, Standing::Done, now);
            let record = self.floor.records[job as usize];
            users.end(job, &record, &mut Desk { now, floor: &self.floor, wishes: &mut self.wishes });
        }
        if asks_for_time {
            users.time(&mut Desk { now, floor: &self.floor, wishes: &mut self.wishes });
        }
        self.grant_wishes(now);
        while let Some(job) = self.next_submission(now) {
            self.submit(job, now, users);
        }
        self.grant_wishes(now);
    }

    /// The next job that is to be submitted at a moment: first those that come, then those that
    /// were put off.
    fn next_submission(&mut self, now: Milliseconds) -> Option<JobIndex> {
        if self.floor.jobs.get(self.next).is_some_and(|job| job.submit <= now) {
            self.next += 1;
            return JobIndex::try_from(self.next - 1).ok();
        }
        self.delayed.peek().filter(|Reverse((at, _))| *at <= now)?;
        self.delayed.pop().map(|Reverse((_, job))| job)
    }

    fn submit(&mut self, index: JobIndex, now: Milliseconds, users: &mut (impl Users + ?Sized)) {
        let job = &self.floor.jobs[index as usize];
        if job.nodes == 0 || job.nodes > self.nodes {
            return self.floor.turn_away(index, Standing::Ineligible);
        }
        match users.submission(index, job, &mut Desk { now, floor: &self.floor, wishes: &mut self.wishes }) {
            Submission::Submits(bid) => {
                self.floor.submit(index, bid, now);
                self.scheduler.submit(index, job.nodes, bid, now);
            }
            Submission::Delays(until) => self.delayed.push(Reverse((until.max(now + Milliseconds(1)), index))),
            Submission::Skips => self.floor.turn_away(index, Standing::Skipped),
        }
    }

    fn grant_wishes(&mut self, now: Milliseconds) {
        for (job, wish) in std::mem::take(&mut self.wishes) {
            if !self.floor.standing(job).is_present() {
                continue;
            }
            match wish {
                Wish::Bid(bid) => {
                    self.floor.rebid(job, bid);
                    self.scheduler.rebid(job, bid, now);
                }
                Wish::Withdraw => self.leave(job, Standing::Withdrawn, now),
            }
        }
    }

    fn leave(&mut self, job: JobIndex, standing: Standing, now: Milliseconds) {
        let was_running = self.floor.standing(job) == Standing::Running;
        self.floor.end(job, standing, now);
        self.scheduler.leave(job, self.floor.nodes(job), was_running);
    }
}
