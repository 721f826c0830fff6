//! Each job starts at once, on the nodes with the fewest jobs, and all that are on a node share it
//! (Geweke 2000, 7.2.1.6).

use std::collections::HashMap;

use market::{Bid, Milliseconds, NodeLoads, Presence};

use super::JobIndex;
use super::floor::Floor;
use super::scheduler::{Paid, Scheduler};

/// The nodes, and the jobs that have come since the last cycle.
pub(super) struct Glunix {
    loads: NodeLoads,
    came: Vec<JobIndex>,
    on: HashMap<JobIndex, Box<[u32]>>,
}

impl Glunix {
    pub(super) fn new(nodes: u32) -> Self {
        Self { loads: NodeLoads::new(nodes), came: Vec::new(), on: HashMap::new() }
    }
}

impl Scheduler for Glunix {
    fn submit(&mut self, job: JobIndex, _nodes: u32, _bid: Bid, _now: Milliseconds) {
        self.came.push(job);
    }

    fn rebid(&mut self, _job: JobIndex, _bid: Bid, _now: Milliseconds) {}

    fn leave(&mut self, job: JobIndex, _nodes: u32, was_running: bool) {
        match self.on.remove(&job) {
            Some(on) if was_running => self.loads.change(&on, Some(Presence::Running), None),
            _ => self.came.retain(|came| *came != job),
        }
    }

    fn cycle(&mut self, now: Milliseconds, floor: &mut Floor<'_>) -> Paid {
        for job in self.came.drain(..) {
            let on = self.loads.with_fewest(floor.nodes(job));
            self.loads.change(&on, None, Some(Presence::Running));
            floor.start(job, &on, now);
            self.on.insert(job, on);
        }
        Paid::default()
    }
}
