//! Strictly in the order of submission: no job ever runs before one that came earlier (Geweke 2000,
//! 7.2.1.6). Nodes are counted, because each is one job's alone.

use std::collections::VecDeque;

use market::{Bid, Milliseconds};

use super::JobIndex;
use super::floor::Floor;
use super::scheduler::{Paid, Scheduler};

/// The queue, and the nodes that are free.
pub(super) struct Fifo {
    queue: VecDeque<JobIndex>,
    free_nodes: u32,
}

impl Fifo {
    pub(super) fn new(nodes: u32) -> Self {
        Self { queue: VecDeque::new(), free_nodes: nodes }
    }
}

impl Scheduler for Fifo {
    fn submit(&mut self, job: JobIndex, _nodes: u32, _bid: Bid, _now: Milliseconds) {
        self.queue.push_back(job);
    }

    fn rebid(&mut self, _job: JobIndex, _bid: Bid, _now: Milliseconds) {}

    fn leave(&mut self, job: JobIndex, nodes: u32, was_running: bool) {
        if was_running {
            self.free_nodes += nodes;
        } else {
            self.queue.retain(|queued| *queued != job);
        }
    }

    fn cycle(&mut self, now: Milliseconds, floor: &mut Floor<'_>) -> Paid {
        while let Some(&job) = self.queue.front() {
            let Some(rest) = self.free_nodes.checked_sub(floor.nodes(job)) else { break };
            self.free_nodes = rest;
            self.queue.pop_front();
            floor.start(job, &[], now);
        }
        Paid::default()
    }
}
