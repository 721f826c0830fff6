//! The machine, its queue and its reservations.

use job_types::time::{Seconds, UnixTime};
use queue_plan::placement::{
    Coming, Conflict, Cycle, Granted, Moving, Probing, Request, ResourceManager, Running, Slot, Waiting, Workload,
};
use queue_plan::{Resources, corrected_to};

use super::super::{Job, JobIndex};

/// A job that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Started {
    pub(super) index: JobIndex,
    pub(super) start: UnixTime,
    /// When it ends, which nobody knows before.
    end: UnixTime,
    estimate: Seconds,
    /// How long it was expected to run when it was submitted.
    runs: Seconds,
}

/// The machine, its queue and its reservations, in the middle of a scheduling cycle.
#[derive(Debug)]
pub(super) struct Manager {
    pub(super) workload: Workload,
    pub(super) cycle: Cycle,
    /// The jobs that run, in the order of [`Workload::running`].
    running: Vec<Started>,
    /// The jobs that wait, in the order of [`Workload::waiting`].
    waiting: Vec<JobIndex>,
    /// The requests of the reservations that were granted, in the order of [`Workload::granted`].
    granted: Vec<usize>,
    /// The request that is answered.
    pub(super) answered: usize,
    /// Jobs that have started in this cycle.
    pub(super) started: Vec<JobIndex>,
}

impl Manager {
    /// A machine on which nothing runs.
    pub(super) fn new(processors: u32) -> Self {
        let workload = Workload { offers: Resources::of_cpus(processors.into()), ..Workload::default() };
        let cycle = Cycle::of_heads(workload.now, workload.profile(), []);
        Self { workload, cycle, running: Vec::new(), waiting: Vec::new(), granted: Vec::new(), answered: 0, started: Vec::new() }
    }

    /// Puts a job at the end of the queue that is expected to run for so long.
    pub(super) fn submit(&mut self, index: JobIndex, job: &Job, runs: Seconds) {
        self.workload.waiting.push(waiting(job, runs));
        self.waiting.push(index);
        // Jobs are submitted in the order in which they came into sight.
        let is_in_sight = !self.workload.coming.is_empty();
        self.workload.coming.drain(..usize::from(is_in_sight));
    }

    /// Tells plans of a job that will be submitted and is expected to run for so long.
    pub(super) fn foresee(&mut self, job: &Job, runs: Seconds) {
        self.workload.coming.push(Coming { at: job.submit, job: waiting(job, runs) });
    }

    /// When the next job or reservation ends.
    pub(super) fn next_end(&self) -> Option<UnixTime> {
        let jobs = self.running.iter().map(|job| job.end);
        jobs.chain(self.workload.granted.iter().map(|granted| granted.slot.end)).min()
    }

    /// When the next reservation begins.
    pub(super) fn next_begin(&self) -> Option<UnixTime> {
        let begins = self.workload.granted.iter().map(|granted| granted.slot.start);
        begins.filter(|begin| *begin > self.workload.now).min()
    }

    /// Ends what ends by now. Returns the jobs that have ended, and whether one of them did so long
    /// before its estimate, or longer.
    pub(super) fn end(&mut self, far: Option<Seconds>) -> (Vec<Started>, bool) {
        let now = self.workload.now;
        let mut ends = self.running.iter().map(|job| job.end <= now);
        self.workload.running.retain(|_| !ends.next().unwrap_or(false));
        let (ended, running): (Vec<Started>, _) = std::mem::take(&mut self.running).into_iter().partition(|job| job.end <= now);
        self.running = running;
        let early = |job: &Started| job.start + job.estimate - now;
        let is_far_too_early = far.is_some_and(|far| ended.iter().any(|job| early(job) >= far));
        let mut ends = self.workload.granted.iter().map(|granted| granted.slot.end <= now);
        self.granted.retain(|_| !ends.next().unwrap_or(false));
        self.workload.granted.retain(|granted| granted.slot.end > now);
        (ended, is_far_too_early)
    }

    /// Begins a scheduling cycle: the jobs at the head of the queue start.
    pub(super) fn begin_cycle(&mut self, jobs: &[Job]) {
        self.started.clear();
        self.correct();
        self.cycle = Cycle::of_heads(self.workload.now, self.workload.profile(), self.workload.waiting.iter().copied());
        for _ in 0..self.cycle.started() {
            self.start(0, jobs);
        }
    }

    /// Expects jobs to run on that were expected to have ended.
    fn correct(&mut self) {
        let now = self.workload.now;
        for (job, running) in self.running.iter().zip(&mut self.workload.running) {
            running.ends = job.start + corrected_to(job.runs, now - job.start, job.estimate);
        }
    }

    /// Ends the cycle: jobs behind the head start.
    pub(super) fn end_cycle(&mut self, jobs: &[Job]) {
        let behind = self.workload.waiting.iter().skip(1).copied();
        for place in self.cycle.backfill(behind).into_iter().rev() {
            self.start(1 + place, jobs);
        }
    }

    fn start(&mut self, place: usize, jobs: &[Job]) {
        let now = self.workload.now;
        let (index, waiting) = (self.waiting.remove(place), self.workload.waiting.remove(place));
        let run_time = jobs.get(index as usize).map_or(Seconds::ZERO, |job| job.run_time);
        let Waiting { estimate, runs, asks } = waiting;
        self.workload.running.push(Running { until: now + estimate, ends: now + runs, holds: asks });
        self.running.push(Started { index, start: now, end: now + run_time, estimate, runs });
        self.started.push(index);
    }

    /// Moves slots to better ones, the earliest first, and says which requests have which now.
    pub(super) fn move_slots(&mut self, moving: &Moving, requests: &[Request], probing: Probing) -> Vec<(usize, Slot)> {
        let now = self.workload.now;
        let movable = self.granted.iter().zip(&self.workload.granted).filter(|(_, granted)| moving.is_movable(granted.slot, now));
        let mut movable: Vec<(UnixTime, usize)> = movable.map(|(request, granted)| (granted.slot.start, *request)).collect();
        movable.sort_unstable();
        let mut moved = Vec::new();
        for (_, index) in movable {
            let (Some(granted), Some(request)) = (self.give_back(index), requests.get(index)) else { continue };
            let better = moving.better((&self.workload, &self.cycle), request, granted.slot, probing);
            moved.extend(better.map(|slot| (index, slot)));
            self.put_back(index, Granted { slot: better.unwrap_or(granted.slot), ..granted });
        }
        moved
    }

    /// Starts reservations now that begin later, where there is room beside everybody else and
    /// their windows have begun, and says which requests have which slots now.
    pub(super) fn start_early(&mut self, requests: &[Request]) -> Vec<(usize, Slot)> {
        let now = self.workload.now;
        let of_later = |(request, granted): (&usize, &Granted)| (granted.slot.start > now).then_some((granted.slot.start, *request));
        let mut later: Vec<(UnixTime, usize)> = self.granted.iter().zip(&self.workload.granted).filter_map(of_later).collect();
        later.sort_unstable();
        let mut early = Vec::new();
        for (_, index) in later {
            let Some(request) = requests.get(index).filter(|request| request.may_start(now)) else { continue };
            if request.takes.cpus > self.cycle.profile.free_at(now).cpus {
                continue;
            }
            let Some(granted) = self.give_back(index) else { continue };
            let at_once = Granted { slot: Slot::of(now, request.duration), ..granted };
            let begins = self.cycle.has_room_for(&at_once) && Moving::begins_early(&self.workload, at_once, granted);
            early.extend(begins.then_some((index, at_once.slot)));
            self.put_back(index, if begins { at_once } else { granted });
        }
        early
    }

    /// Takes the reservation of a request out of the workload and the cycle.
    fn give_back(&mut self, index: usize) -> Option<Granted> {
        let place = self.granted.iter().position(|request| *request == index)?;
        self.granted.remove(place);
        let granted = self.workload.granted.remove(place);
        self.cycle.give_back(&granted);
        Some(granted)
    }

    fn put_back(&mut self, index: usize, granted: Granted) {
        self.granted.push(index);
        self.workload.granted.push(granted);
        self.cycle.grant(&granted);
    }

    /// The processors on which jobs that wait would run now if no reservation was to come.
    pub(super) fn kept_idle(&self) -> i64 {
        let now = self.workload.now;
        let is_to_come = |granted: &&Granted| granted.slot.start > now;
        if self.workload.waiting.is_empty() || !self.workload.granted.iter().any(|granted| is_to_come(&granted)) {
            return 0;
        }
        let mut free = self.workload.profile();
        for granted in self.workload.granted.iter().filter(is_to_come) {
            free.give_back(granted.slot.start, granted.slot.end, granted.takes);
        }
        let waiting = &self.workload.waiting;
        let mut cycle = Cycle::of_heads(now, free, waiting.iter().copied());
        let heads = cycle.started();
        let behind = cycle.backfill(waiting.iter().skip(heads + 1).copied());
        let started = (0..heads).chain(behind.into_iter().map(|place| heads + 1 + place));
        started.filter_map(|place| waiting.get(place)).map(|job| job.asks.cpus).sum()
    }
}

/// A job that waits and is expected to run for so long.
fn waiting(job: &Job, runs: Seconds) -> Waiting {
    let runs = runs.clamp(Seconds(1), job.estimate.max(Seconds(1)));
    Waiting { estimate: job.estimate, runs, asks: Resources::of_cpus(job.processors.into()) }
}

impl ResourceManager for Manager {
    fn state(&self) -> (&Workload, &Cycle) {
        (&self.workload, &self.cycle)
    }

    fn reserve(&mut self, request: &Request, slot: Slot) -> Result<(), Conflict> {
        let granted = Granted { slot, takes: request.takes };
        if slot.start < self.workload.now || !self.cycle.has_room_for(&granted) {
            return Err(Conflict);
        }
        self.cycle.grant(&granted);
        self.workload.granted.push(granted);
        self.granted.push(self.answered);
        Ok(())
    }
}
