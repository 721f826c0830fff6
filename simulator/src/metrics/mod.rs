//! What the records of a simulation come to.

mod classes;
mod counted;
mod distribution;
mod series;
mod summary;

pub use classes::{Class, by_size, by_user};
pub use counted::{Counted, counted};
pub use distribution::Distribution;
pub use series::{Series, series};
pub use summary::{SHORTEST_RUN_TIME, Summary, bounded_slowdown, slowdown};
