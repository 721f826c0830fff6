//! Jobs that bid, as the thesis of an economic queue has them (A. R. Geweke, "A System for
//! Batch-Mode Economic Scheduling of a Cluster of Workstations", UC Berkeley 2000; sections and
//! tables named here are its own).
//!
//! - [`year`] makes up the year of jobs, whose log was never published; [`undilate`] takes the load
//!   of a time-shared machine out of the run times of another log.
//! - [`bids`] says what the users of its eight user modules bid for them.
//! - [`measures`] says what a replay of them comes to, as the thesis measures it.
//! - [`Bidders`] are the jobs of a log that can bid, and [`replay`] runs them.
//! - [`published`] has its table of results.
//!
//! Jobs and their records are those of the engine ([`crate::engine::preemptive`]). Times are
//! milliseconds, as in the logs of the thesis: a tenth of its jobs run for a quarter of a second.

pub mod bids;
#[cfg(test)]
mod made_up;
pub mod measures;
pub mod published;
mod replay;
mod undilate;
mod workload;
pub mod year;

pub use replay::{Bidding, Replay, replay};
pub use undilate::undilate;
pub use workload::{Bidders, NoBidders};
