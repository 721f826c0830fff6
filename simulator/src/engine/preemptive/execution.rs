//! Which jobs run, where and how fast, and when they are done.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use market::Milliseconds;

use super::work::Work;
use super::{Job, Slowdown};

/// From how many expected ends on those are looked for that will not happen.
const MANY_ENDS: usize = 4096;

/// A job while it runs or is suspended.
#[derive(Debug, Clone, Default)]
struct Progress {
    work: Work,
    on: Box<[u32]>,
    is_running: bool,
    /// The most jobs that run on any of its nodes.
    most_jobs: u32,
    /// How many times as long it has taken since its work was counted last.
    times: u32,
    /// When it will be done as things are.
    end: Milliseconds,
    /// Whether its end has to be found anew.
    has_changed: bool,
}

/// The jobs that run or are suspended, and the nodes that they are on.
pub(super) struct Execution<'a> {
    jobs: &'a [Job],
    slowdown: Slowdown,
    progress: Vec<Progress>,
    /// The jobs that run on each node.
    on_node: Vec<Vec<u32>>,
    /// Ends that are expected, among them those that were expected before a job was suspended, or
    /// slowed down.
    ends: BinaryHeap<Reverse<(Milliseconds, u32)>>,
    many_ends: usize,
    changed: Vec<u32>,
    busy_nodes: u32,
}

impl<'a> Execution<'a> {
    pub(super) fn new(jobs: &'a [Job], nodes: u32, slowdown: Slowdown) -> Self {
        Self {
            jobs,
            slowdown,
            progress: jobs.iter().map(|job| Progress { work: Work::of(job.run_time), ..Progress::default() }).collect(),
            on_node: vec![Vec::new(); nodes as usize],
            ends: BinaryHeap::new(),
            many_ends: MANY_ENDS,
            changed: Vec::new(),
            busy_nodes: 0,
        }
    }

    /// How many nodes somebody runs on.
    pub(super) fn busy_nodes(&self) -> u32 {
        self.busy_nodes
    }

    /// A job runs for the first time, on these nodes. Who is alone on nodes that nobody tells apart
    /// names none.
    pub(super) fn start(&mut self, job: u32, on: &[u32], now: Milliseconds) {
        self.progress[job as usize].on = on.into();
        self.resume(job, now);
    }

    /// A job goes on, on its own nodes.
    pub(super) fn resume(&mut self, job: u32, now: Milliseconds) {
        let progress = &mut self.progress[job as usize];
        progress.work.go_on(now);
        progress.is_running = true;
        progress.most_jobs = 1;
        progress.times = 1;
        let on = std::mem::take(&mut progress.on);
        self.busy_nodes += self.nodes_of_its_own(job, &on);
        for &node in &on {
            let here = &mut self.on_node[node as usize];
            here.push(job);
            let jobs_here = here.len() as u32;
            self.busy_nodes += u32::from(jobs_here == 1);
            for &other in &self.on_node[node as usize] {
                let progress = &mut self.progress[other as usize];
                if progress.most_jobs < jobs_here {
                    progress.most_jobs = jobs_here;
                    note(progress, other, &mut self.changed);
                }
            }
        }
        let progress = &mut self.progress[job as usize];
        progress.on = on;
        note(progress, job, &mut self.changed);
    }

    /// A job does not run any more, or not for now.
    pub(super) fn stop(&mut self, job: u32, now: Milliseconds) {
        let progress = &mut self.progress[job as usize];
        progress.work.advance(now, progress.times);
        progress.is_running = false;
        let on = std::mem::take(&mut progress.on);
        self.busy_nodes -= self.nodes_of_its_own(job, &on);
        for &node in &on {
            let here = &mut self.on_node[node as usize];
            let jobs_before = here.len() as u32;
            here.retain(|other| *other != job);
            self.busy_nodes -= u32::from(here.is_empty());
            for &other in &self.on_node[node as usize] {
                let progress = &self.progress[other as usize];
                if progress.most_jobs == jobs_before {
                    let most = progress.on.iter().map(|node| self.on_node[*node as usize].len() as u32).max().unwrap_or(1);
                    let progress = &mut self.progress[other as usize];
                    // The nodes that the job has not left yet are counted when it does.
                    if most < progress.most_jobs {
                        progress.most_jobs = most;
                        note(progress, other, &mut self.changed);
                    }
                }
            }
        }
        self.progress[job as usize].on = on;
    }

    /// How many nodes a job has that are not told apart.
    fn nodes_of_its_own(&self, job: u32, on: &[u32]) -> u32 {
        if on.is_empty() { self.jobs[job as usize].nodes } else { 0 }
    }

    /// A job will not run again.
    pub(super) fn forget(&mut self, job: u32) {
        self.progress[job as usize].on = Box::default();
    }

    /// Finds the ends of all whose speed has changed, once all that changes at a moment has.
    pub(super) fn find_ends(&mut self, now: Milliseconds) {
        for job in self.changed.drain(..) {
            let progress = &mut self.progress[job as usize];
            progress.has_changed = false;
            if !progress.is_running {
                continue;
            }
            progress.work.advance(now, progress.times);
            progress.times = self.slowdown.times(&self.jobs[job as usize], progress.most_jobs);
            progress.end = progress.work.end(progress.times);
            self.ends.push(Reverse((progress.end, job)));
        }
        if self.ends.len() > self.many_ends {
            let progress = &self.progress;
            self.ends.retain(|Reverse(end)| is_expected(progress, *end));
            self.many_ends = MANY_ENDS.max(2 * self.ends.len());
        }
    }

    /// When a job is done next.
    pub(super) fn next_end(&mut self) -> Option<Milliseconds> {
        loop {
            let Reverse(end) = *self.ends.peek()?;
            if is_expected(&self.progress, end) {
                return Some(end.0);
            }
            self.ends.pop();
        }
    }

    /// The next job that is done at a moment, or was before.
    pub(super) fn pop_end(&mut self, now: Milliseconds) -> Option<u32> {
        if self.next_end()? > now {
            return None;
        }
        self.ends.pop().map(|Reverse((_, job))| job)
    }
}

/// Whether a job is still expected to be done then.
fn is_expected(progress: &[Progress], (end, job): (Milliseconds, u32)) -> bool {
    let progress = &progress[job as usize];
    progress.is_running && progress.end == end
}

/// Has the end of a job found anew.
fn note(progress: &mut Progress, job: u32, changed: &mut Vec<u32>) {
    if !progress.has_changed {
        progress.has_changed = true;
        changed.push(job);
    }
}
