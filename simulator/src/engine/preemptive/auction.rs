//! The auctions: a [`Market`] says who runs, and is followed.

use market::{Bid, Contender, ContenderId, Market, Milliseconds, Settings, Standing};

use super::floor::Floor;
use super::scheduler::{Paid, Scheduler};
use super::{JobIndex, Rules};

/// A market, and which of its contenders is which job.
pub(super) struct Auction {
    market: Market,
    contenders: Vec<Option<ContenderId>>,
    /// The job of each contender, by its index.
    jobs: Vec<JobIndex>,
    submissions: u64,
}

impl Auction {
    pub(super) fn new(nodes: u32, jobs: usize, walk: market::WalkRule, rules: &Rules) -> Self {
        let settings = Settings { walk, overlap: rules.overlap, price: rules.price, retention: rules.retention };
        Self { market: Market::new(nodes, settings), contenders: vec![None; jobs], jobs: Vec::new(), submissions: 0 }
    }
}

impl Scheduler for Auction {
    fn submit(&mut self, job: JobIndex, nodes: u32, bid: Bid, now: Milliseconds) {
        let contender = Contender { submission: self.submissions, bid, nodes, standing: Standing::Queued };
        self.submissions += 1;
        // A job that does not fit onto the machine is not handed to schedulers.
        let Ok(id) = self.market.enter(contender, now) else { return };
        self.contenders[job as usize] = Some(id);
        if id.index() >= self.jobs.len() {
            self.jobs.resize(id.index() + 1, job);
        }
        self.jobs[id.index()] = job;
    }

    fn rebid(&mut self, job: JobIndex, bid: Bid, now: Milliseconds) {
        if let Some(id) = self.contenders[job as usize] {
            self.market.rebid(id, bid, now);
        }
    }

    fn leave(&mut self, job: JobIndex, _nodes: u32, _was_running: bool) {
        if let Some(id) = self.contenders[job as usize].take() {
            self.market.leave(id);
        }
    }

    fn cycle(&mut self, now: Milliseconds, floor: &mut Floor<'_>) -> Paid {
        self.market.cycle(now);
        let outcome = self.market.outcome();
        let job = |id: &ContenderId| self.jobs[id.index()];
        for id in &outcome.suspended {
            floor.suspend(job(id), now);
        }
        for id in &outcome.resumed {
            floor.resume(job(id), now);
        }
        for id in &outcome.started {
            floor.start(job(id), self.market.contender(*id).map_or(&[], |contender| contender.standing.nodes()), now);
        }
        for (id, pays) in &outcome.pays {
            floor.pays(job(id), *pays, now);
        }
        Paid { price: outcome.price, revenue_per_minute: outcome.revenue_per_minute }
    }

    fn wakes_at(&self) -> Option<Milliseconds> {
        self.market.wakes_at()
    }
}
