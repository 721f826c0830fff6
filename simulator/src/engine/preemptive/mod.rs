//! Jobs that can be suspended: several on a node, at a speed that changes.
//!
//! Nodes have numbers, and several jobs may run on one; a job that is suspended goes on on its own
//! nodes, and what it has done is kept. Users may change the bid of a job or withdraw it while it
//! waits or runs ([`users`]). Who runs is said by one of four schedulers ([`SchedulerName`]), two
//! of which are auctions that the crate [`market`] holds.
//!
//! Times are whole milliseconds. At one moment jobs are done first, in their order; then users are
//! asked for what they want, then jobs are submitted, in their order, and then the scheduler
//! decides once about all of it: a cycle. Whoever tables cycles looks on as an [`Observer`].
//!
//! A job does exactly its run time in work. Beside others it is done in the first whole millisecond
//! at which that is so.

mod auction;
mod execution;
mod fifo;
mod floor;
mod glunix;
mod job;
mod observer;
mod scheduler;
mod simulation;
mod slowdown;
pub mod users;
mod work;

pub use job::{Job, Record, Standing};
pub use market::{Bid, Milliseconds, Overlap, PriceRule, Retention};
pub use observer::{Cycle, Observer};
pub use scheduler::{Rules, SchedulerName};
pub use simulation::simulate;
pub use slowdown::{Factors, Slowdown};
pub use users::{Desk, GivenBids, Submission, Users};

use super::JobIndex;

#[cfg(test)]
mod tests;
