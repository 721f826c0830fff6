//! What a replay comes to, as the thesis measures it (7.2.2).
//!
//! - [`delay`]: what delays a job, and its dilation.
//! - [`centre`]: centres of mass of delay and dilation against bid.
//! - [`segments`]: the upper edge of such a graph, and the ratio of two.
//! - [`summary`]: one run in a few figures; [`tables`]: by job, by user and by hour.
//! - [`histogram`]: bids, delays and dilations in the thesis's bins.

pub mod centre;
pub mod delay;
mod figures;
pub mod histogram;
pub mod segments;
pub mod summary;
pub mod tables;

pub use centre::Centre;
pub use delay::Delay;
pub use figures::Figures;
pub use summary::Summary;
