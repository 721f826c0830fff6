//! What a cycle changes.

use crate::{Bid, ContenderId};

/// What a cycle changes, in the order in which it has to be done: those that are suspended make
/// room for those that are resumed and started.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Those that run and have to stop.
    pub suspended: Vec<ContenderId>,
    /// Those that go on, on their own nodes.
    pub resumed: Vec<ContenderId>,
    /// Those that run for the first time, on the nodes that [`crate::Market::contender`] says.
    pub started: Vec<ContenderId>,
    /// Those that run and pay something else than before, with what they pay from now on per node
    /// and minute. Who is started or resumed has paid nothing before.
    pub pays: Vec<(ContenderId, Bid)>,
    /// The bid of the first that does not fit; zero where all fit.
    pub price: Bid,
    /// What all that run pay together, in credits per minute.
    pub revenue_per_minute: f64,
}

impl Outcome {
    /// Whether nobody's standing changes.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.suspended.is_empty() && self.resumed.is_empty() && self.started.is_empty()
    }
}
