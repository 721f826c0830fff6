//! Forests of boosted regression trees: evaluated anywhere, trained in the daemon.
//!
//! A forest forecasts a number from a row of features: a base, plus the value of one leaf of each
//! tree (Friedman, Greedy Function Approximation: A Gradient Boosting Machine, Annals of Statistics
//! 2001). Evaluation works on flat records that can be read in place from a memory-mapped snapshot,
//! needs no library, and is safe on any bytes. Training is the crate `learning`'s.

mod forest;
mod node;
mod view;

#[cfg(test)]
mod tests;

pub use forest::Forest;
pub use node::NodeRecord;
pub use view::{ForestView, MOST_FEATURES, MOST_STEPS};
