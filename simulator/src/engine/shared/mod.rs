//! Nodes that are shared in time: each job has a share of each of its nodes, and jobs that share a
//! node run beside one another (Yeo and Buyya 2006, 3.1).
//!
//! Nodes are counted and of one kind. A job of n processors takes n nodes, with one task on each;
//! its tasks start together, each ends when it has done its work on its own node, and the job ends
//! with the last. A [`Policy`] says which jobs start and on which nodes; [`node`] says how fast
//! they run there.
//!
//! Where a policy gives each node to one job at a time, the same engine is one of nodes that are
//! shared in space.
//!
//! At one instant tasks end first, so that a job that comes sees the node free; then jobs come, in
//! their order. Shares are dealt anew on a node when a job starts there, ends there, or, with
//! [`Late::Yields`], has its deadline pass.

mod job;
mod node;
mod simulation;

pub use job::DeadlineJob;
pub use node::{Late, Sharing};
pub use simulation::{Answer, Fate, Policy, simulate};

#[cfg(test)]
mod tests;
