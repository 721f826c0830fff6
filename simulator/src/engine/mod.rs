//! The scheduling engine: jobs, a machine, a scheduler and a policy in front of it in; a record per
//! job out.
//!
//! It goes from event to event and is pure: the same input gives the same records, whatever runs
//! beside it. A scheduler has three parts, each behind a trait of its own, with one file for each
//! implementation:
//!
//! - [`Order`]: who comes first in the queue ([`order`]),
//! - [`Backfill`]: who may start now ([`backfill`]),
//! - [`Estimates`]: how long jobs are expected to run ([`estimates`]).
//!
//! A [`Policy`] stands in front of the scheduler and may change a job when it is submitted
//! ([`policy`]). Nodes on which jobs run beside one another, each with a share, are [`shared`];
//! reservations that come and go while the machine runs are [`reserved`]; jobs that bid for nodes
//! and can be suspended are [`preemptive`].
//!
//! At one instant the events come in this order: submissions, terminations, corrections of outlived
//! estimates, wishes of the scheduler to be woken; among equals, submissions in the order of the
//! jobs and terminations in the order of the starts. The scheduler is asked after each of them.

pub mod backfill;
mod cluster;
mod departure;
pub mod estimates;
mod event;
mod job;
mod machine;
pub mod order;
pub mod policy;
pub mod preemptive;
mod record;
pub mod reserved;
mod running;
pub mod shared;
mod simulation;
mod waiting;

pub use backfill::Backfill;
pub use cluster::Cluster;
pub use departure::Departure;
pub use estimates::Estimates;
pub use event::Event;
pub use job::{Job, JobIndex};
pub use machine::{Block, Machine};
pub use order::Order;
pub use policy::{Policy, Revised, Submitted};
pub use record::Record;
pub use running::Running;
pub use simulation::{DoesNotFit, Scheduler, Simulation, simulate};
pub use waiting::Waiting;

#[cfg(test)]
mod tests;
