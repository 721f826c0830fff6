//! Which jobs with a deadline are taken on a machine, and which nodes they get: the published
//! methods, as pure functions that replays and the submit filter both run.
//!
//! The methods are, but for one, those of Yeo and Buyya 2006 ("Managing Risk of Inaccurate Runtime
//! Estimates for Deadline Constrained Job Admission Control in Clusters"). The words are theirs:
//! the *share* of a job on a node is the part of the node's time that it needs to be done by its
//! deadline ([`share`]); the *delay* of a job is by how much it is later than that
//! ([`projection`]); the *deadline delay* weighs the delay by the time that was left, and the
//! *risk* of a node is the standard deviation of the deadline delays of its jobs ([`risk`]).
//!
//! - [`libra`] takes a job where the shares of all jobs on a node fit into it, and fills the
//!   fullest nodes first.
//! - [`libra_risk`] takes it where the risk of a node stays zero.
//! - [`chance`] takes it where all jobs of a node are likely enough to be done in time, by
//!   distributions of run times in the place of estimates; that one is not published.
//! - [`edf`] has nodes for one job at a time, and a queue in the order of the deadlines.
//! - [`room`] is where a plan of the queue has room for a job with a deadline.
//! - [`order`] is that order on Slurm, where jobs with and without a deadline share a queue.
//!
//! What a node has to do is summed up in [`NodeLoad`], one flat record for each node, so that a
//! decision over thousands of nodes goes once over a slice and allocates nothing.

pub mod chance;
pub mod edf;
pub mod libra;
pub mod libra_risk;
mod needed_share;
mod node;
pub mod order;
pub mod projection;
pub mod risk;
pub mod room;
pub mod share;

pub use chance::{OnTimeProbability, Threshold, UncertainJob};
pub use needed_share::NeededShare;
pub use node::{Newcomer, NodeLoad};
pub use projection::SparePower;
pub use share::Claim;
