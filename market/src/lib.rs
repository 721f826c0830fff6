//! Who runs, and at what price, where jobs bid for nodes and losers are suspended.
//!
//! Jobs bid credits per node and minute (Geweke 2000, 5.2.3). A [`Market`] knows all that want to
//! run and says, whenever something has changed, who has to be suspended, resumed and started for
//! that, and what each of those that run pays from then on. It is pure: the same contenders give
//! the same answer, and an answer that was followed stands until something changes.
//!
//! - [`Bid`] and [`Contender`]: what goes in.
//! - [`WalkRule`]: who gets nodes, which are counted and not placed.
//! - [`Overlap`]: what happens where a suspended job returns to nodes that another one has.
//! - [`PriceRule`]: what those who run pay, never more than their own bids.
//! - [`Retention`]: what protects those who run from being suspended at once.
//! - [`NodeLoads`]: which nodes a job gets that runs for the first time.

mod bid;
mod book;
mod contender;
mod contenders;
mod cycle;
mod externality;
mod market;
mod milliseconds;
mod outcome;
mod overlap;
mod placement;
mod price;
mod settings;
mod walk;

pub use bid::{Bid, BidOutOfRange};
pub use contender::{Contender, ContenderId, NeverFits, Standing};
pub use market::Market;
pub use milliseconds::Milliseconds;
pub use outcome::Outcome;
pub use placement::{NodeLoads, Presence};
pub use settings::{Overlap, PriceRule, Retention, Settings, WalkRule};

#[cfg(test)]
mod tests;
