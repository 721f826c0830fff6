//! Who looks on.

use market::{Bid, Milliseconds};

/// The machine after a cycle; so it stays until the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cycle {
    /// When it was.
    pub at: Milliseconds,
    /// The bid of the first that does not fit; zero where all fit, and without an auction.
    pub price: Bid,
    /// What all that run pay together, in credits per minute.
    pub revenue_per_minute: f64,
    /// The jobs that run.
    pub running: u32,
    /// The jobs that are suspended.
    pub suspended: u32,
    /// The jobs that have not run yet.
    pub queued: u32,
    /// The nodes of all that run, each as often as jobs run on it. By the number of nodes this is
    /// the mean load.
    pub running_nodes: u64,
    /// The nodes on which somebody runs.
    pub busy_nodes: u32,
}

/// Is told of each cycle, in the order of time.
pub trait Observer {
    /// A cycle is over.
    fn cycle(&mut self, cycle: &Cycle);
}

/// Looks at nothing.
impl Observer for () {
    fn cycle(&mut self, _: &Cycle) {}
}

/// Whatever takes cycles.
impl<F: FnMut(&Cycle)> Observer for F {
    fn cycle(&mut self, cycle: &Cycle) {
        self(cycle);
    }
}
