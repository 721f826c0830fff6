//! The simulation of nodes that are shared in time, from event to event.

use predictor_core::decisions::deadline_methods::NodeLoad;

use super::job::DeadlineJob;
use super::node::{Node, Sharing};

/// What a policy has decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The job starts on the nodes that were chosen.
    Starts(u32),
    /// The job never runs.
    Refused(u32),
}

/// A policy that says which jobs start, and on which nodes.
pub trait Policy {
    /// Tells the policy that a job has come; `index` is its place among the jobs.
    fn submit(&mut self, index: u32, job: &DeadlineJob);

    /// What is to be done at a moment, with the nodes as they are then: asked after each event, and
    /// again until there is nothing more. The nodes of a job that starts are put into `chosen`,
    /// each once.
    fn decide(&mut self, now_s: f64, nodes: &[NodeLoad], chosen: &mut Vec<u32>) -> Option<Answer>;

    /// Whether there is anything to decide about, so that it has to be asked.
    fn has_jobs(&self) -> bool;

    /// Whether it decides by what the nodes have to do by the estimates. If not, it is shown idle
    /// nodes, because on a large machine that is most of the work.
    fn asks_for_loads(&self) -> bool {
        true
    }

    /// A job has ended, with its last task.
    fn ended(&mut self, _index: u32, _end_s: f64) {}
}

/// What became of a job. Moments are seconds on the clock of the workload.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fate {
    /// The job waits, or runs.
    Open,
    /// The job was refused at a moment.
    Refused {
        /// When.
        at_s: f64,
    },
    /// The job ran.
    Done {
        /// When all its tasks started.
        start_s: f64,
        /// When its last task ended.
        end_s: f64,
    },
}

struct Progress {
    start_s: f64,
    tasks: u32,
}

/// Runs `jobs`, which are in the order of their submissions, on `nodes` nodes. Returns what became
/// of each, in their order; [`Fate::Open`] is what the policy never decided about.
pub fn simulate(jobs: &[DeadlineJob], nodes: usize, sharing: Sharing, policy: &mut (impl Policy + ?Sized)) -> Vec<Fate> {
    let mut fates = vec![Fate::Open; jobs.len()];
    let mut running: Vec<Option<Progress>> = jobs.iter().map(|_| None).collect();
    let mut machine = vec![Node::default(); nodes];
    let mut events = vec![f64::INFINITY; nodes];
    let mut loads = vec![NodeLoad::IDLE; nodes];
    let (mut next, mut now_s, mut chosen) = (0_usize, f64::NEG_INFINITY, Vec::new());
    loop {
        let event = soonest(&events);
        let submission = jobs.get(next).map_or(f64::INFINITY, |job| job.submit.0 as f64);
        let moment = event.min(submission.max(now_s));
        if moment.is_infinite() {
            return fates;
        }
        now_s = moment;
        for (node, event) in machine.iter_mut().zip(&mut events).filter(|(_, event)| **event <= now_s) {
            node.pass(now_s, sharing, |job| {
                if end_task(job, now_s, &mut running, &mut fates) {
                    policy.ended(job, now_s);
                }
            });
            *event = node.next_event(sharing);
        }
        // Jobs of one moment are decided about one by one, unless the policy waits.
        if event > now_s && submission <= now_s {
            if let (Some(job), Ok(index)) = (jobs.get(next), u32::try_from(next)) {
                policy.submit(index, job);
            }
            next += 1;
        }
        if !policy.has_jobs() {
            continue;
        }
        let asks_for_loads = policy.asks_for_loads();
        if asks_for_loads {
            loads.iter_mut().zip(&machine).for_each(|(load, node)| *load = node.load(now_s));
        }
        while policy.has_jobs() {
            match policy.decide(now_s, &loads, &mut chosen) {
                Some(Answer::Starts(index)) => {
                    let Some((job, place)) = jobs.get(index as usize).zip(running.get_mut(index as usize)) else { continue };
                    *place = Some(Progress { start_s: now_s, tasks: chosen.len() as u32 });
                    for &node in &chosen {
                        let node = node as usize;
                        machine[node].start(index, job, now_s, sharing);
                        events[node] = machine[node].next_event(sharing);
                        if asks_for_loads {
                            loads[node] = machine[node].load(now_s);
                        }
                    }
                }
                Some(Answer::Refused(index)) => fates[index as usize] = Fate::Refused { at_s: now_s },
                None => break,
            }
        }
    }
}

/// The soonest of the nodes' next events. Several minima side by side, which the processor computes
/// at once, because all nodes are gone through at each event.
fn soonest(events: &[f64]) -> f64 {
    const SIDE_BY_SIDE: usize = 8;
    let less = |one: f64, other: f64| if other < one { other } else { one };
    let chunks = events.chunks_exact(SIDE_BY_SIDE);
    let rest = chunks.remainder().iter().copied().fold(f64::INFINITY, less);
    let mut lanes = [f64::INFINITY; SIDE_BY_SIDE];
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, event)| *lane = less(*lane, *event));
    }
    lanes.into_iter().fold(rest, less)
}

/// A task of a job has ended. Returns whether the job has with it.
fn end_task(job: u32, now_s: f64, running: &mut [Option<Progress>], fates: &mut [Fate]) -> bool {
    let Some(Some(progress)) = running.get_mut(job as usize) else { return false };
    progress.tasks -= 1;
    let is_last = progress.tasks == 0;
    if is_last {
        fates[job as usize] = Fate::Done { start_s: progress.start_s, end_s: now_s };
    }
    is_last
}
