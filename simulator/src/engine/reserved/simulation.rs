//! The simulation, from event to event.

use job_types::time::{Seconds, UnixTime};
use queue_plan::placement::{ClusterService, Conflict, GridService, Moving, Probed, Ranking, Request, ResourceManager, Site, Slot};

use super::super::{Job, JobIndex};
use super::expectations::Expectations;
use super::manager::Manager;

/// What became of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RequestRecord {
    /// The slot that was granted.
    pub granted: Option<Slot>,
    /// How often the slot was moved.
    pub moved: usize,
    /// Whether the reservation began before its slot, which was given back.
    pub is_early: bool,
    /// The backlog of jobs and reservations when it was submitted, in seconds (L_r of section 5.2).
    pub backlog_s: f64,
}

/// What became of a workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// When each job started; in the order of the jobs.
    pub starts: Vec<UnixTime>,
    /// What became of each request, in their order.
    pub requests: Vec<RequestRecord>,
    /// Processor seconds that jobs would have had but for reservations to come.
    pub idle_processor_s: i64,
    /// The backlog after each event, with when it was, in seconds; processors in use by jobs.
    pub over_time: Vec<(UnixTime, f64, i64)>,
}

/// What becomes of requests after their first answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Afterwards {
    /// Whether a request that can't be granted stays open until its window has passed.
    pub is_patient: bool,
    /// How slots move inside their windows after they were granted; `None` if they are fixed. Where
    /// they move, a reservation also begins as soon as there is room for it beside everybody else.
    pub moving: Option<Moving>,
    /// How far ahead plans know all jobs that will be submitted, which nobody can know: a bound on
    /// what plans are worth. `None` if they know of none.
    pub foresight: Option<Seconds>,
}

/// The one cluster of a replay, behind the messages of a grid.
struct OneCluster<'a, R> {
    service: &'a ClusterService<R>,
    manager: &'a mut Manager,
}

impl<R: Ranking> Site for OneCluster<'_, R> {
    fn probe(&self, request: &Request) -> Probed {
        self.service.probe(self.manager, request)
    }

    fn reserve(&mut self, request: &Request, slot: Slot) -> Result<(), Conflict> {
        self.manager.reserve(request, slot)
    }
}

/// Runs jobs on a machine of `processors`, with requests for reservations between them.
///
/// Both are in order of submission; of one moment jobs come before requests. No job asks for more
/// than the machine has, or runs longer than its estimate. How long jobs run in plans,
/// `expectations` says.
pub fn simulate<R: Ranking>(
    jobs: &[Job],
    requests: &[Request],
    processors: u32,
    service: &ClusterService<R>,
    afterwards: Afterwards,
    expectations: &mut dyn Expectations,
) -> Outcome {
    let mut simulation = Simulation {
        jobs,
        requests,
        service,
        afterwards,
        expectations,
        next_review: UnixTime(i64::MIN),
        in_sight: 0,
        manager: Manager::new(processors),
        open: Vec::new(),
        outcome: Outcome {
            starts: vec![UnixTime::default(); jobs.len()],
            requests: vec![RequestRecord::default(); requests.len()],
            ..Outcome::default()
        },
    };
    simulation.run();
    simulation.outcome
}

struct Simulation<'a, R> {
    jobs: &'a [Job],
    requests: &'a [Request],
    service: &'a ClusterService<R>,
    afterwards: Afterwards,
    expectations: &'a mut dyn Expectations,
    /// When slots are ranked anew.
    next_review: UnixTime,
    /// How many jobs have come into sight.
    in_sight: usize,
    manager: Manager,
    /// Requests that have not been answered, in the order in which they came.
    open: Vec<usize>,
    outcome: Outcome,
}

impl<R: Ranking> Simulation<'_, R> {
    fn run(&mut self) {
        let (mut next_job, mut next_request) = (0, 0);
        let mut idle = 0;
        loop {
            let job = self.jobs.get(next_job).map(|job| job.submit);
            let request = self.requests.get(next_request).map(|request| request.submitted);
            let end = self.manager.next_end();
            // Nothing starts when a reservation begins, but jobs are no longer kept from its
            // processors.
            let begin = self.manager.next_begin();
            let review = self.review_at();
            let Some(now) = [job, request, end, begin, review].into_iter().flatten().min() else { return };
            let before = self.manager.workload.now;
            self.outcome.idle_processor_s += idle * (now - before).0.max(0);
            self.manager.workload.now = now;
            self.look_ahead();
            if end == Some(now) || review == Some(now) {
                let (ended, is_far_too_early) = self.manager.end(self.afterwards.moving.map(|moving| moving.every));
                for job in ended {
                    self.expectations.ended(job.index, &self.jobs[job.index as usize], job.start);
                }
                if is_far_too_early {
                    self.next_review = now;
                }
                self.cycle();
            }
            while let Some(job) = self.jobs.get(next_job).filter(|job| job.submit == now) {
                let index = next_job as JobIndex;
                let runs = self.expectations.submitted(index, job);
                self.manager.submit(index, job, runs);
                next_job += 1;
                self.cycle();
            }
            while self.requests.get(next_request).is_some_and(|request| request.submitted == now) {
                self.outcome.requests[next_request].backlog_s = self.manager.workload.backlog();
                self.open.push(next_request);
                next_request += 1;
                self.cycle();
            }
            idle = self.manager.kept_idle();
            let used = self.manager.workload.running.iter().map(|job| job.holds.cpus).sum();
            self.outcome.over_time.push((now, self.manager.workload.backlog_of_jobs(), used));
        }
    }

    /// Tells plans of jobs that come into sight.
    fn look_ahead(&mut self) {
        let Some(until) = self.afterwards.foresight.map(|foresight| self.manager.workload.now + foresight) else { return };
        while let Some(job) = self.jobs.get(self.in_sight).filter(|job| job.submit <= until) {
            let runs = self.expectations.in_sight(job);
            self.manager.foresee(job, runs);
            self.in_sight += 1;
        }
    }

    /// One scheduling cycle (section 2).
    fn cycle(&mut self) {
        self.manager.begin_cycle(self.jobs);
        self.note_starts();
        self.answer();
        self.review();
        self.manager.end_cycle(self.jobs);
        self.note_starts();
        if self.afterwards.moving.is_some() {
            for (index, slot) in self.manager.start_early(self.requests) {
                self.outcome.requests[index].granted = Some(slot);
                self.outcome.requests[index].is_early = true;
            }
        }
    }

    /// When slots are ranked anew; `None` where none moves.
    fn review_at(&self) -> Option<UnixTime> {
        let moving = self.afterwards.moving?;
        let now = self.manager.workload.now;
        let is_any_movable = self.manager.workload.granted.iter().any(|granted| moving.is_movable(granted.slot, now));
        is_any_movable.then_some(self.next_review.max(now))
    }

    /// Ranks slots anew that may still move, if it is time for that.
    fn review(&mut self) {
        let now = self.manager.workload.now;
        let Some(moving) = self.afterwards.moving.filter(|_| self.next_review <= now) else { return };
        self.next_review = now + moving.every;
        for (index, slot) in self.manager.move_slots(&moving, self.requests, self.service.probing) {
            self.outcome.requests[index].granted = Some(slot);
            self.outcome.requests[index].moved += 1;
        }
    }

    fn note_starts(&mut self) {
        for index in self.manager.started.drain(..) {
            self.outcome.starts[index as usize] = self.manager.workload.now;
        }
    }

    /// Answers open requests in the order in which they came.
    fn answer(&mut self) {
        let now = self.manager.workload.now;
        for place in std::mem::take(&mut self.open) {
            let request = &self.requests[place];
            self.manager.answered = place;
            let mut cluster = OneCluster { service: self.service, manager: &mut self.manager };
            match GridService.place(request, std::slice::from_mut(&mut cluster)).granted {
                Some((_, rated)) => self.outcome.requests[place].granted = Some(rated.slot),
                None if self.afterwards.is_patient && request.is_open(now) => self.open.push(place),
                None => {}
            }
        }
    }
}
