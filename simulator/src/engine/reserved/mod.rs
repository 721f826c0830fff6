//! Jobs beside advance reservations that come, end and are given back while the machine runs
//! (Röblitz and Rzadca 2006, section 2).
//!
//! Jobs wait first come, first served, with EASY backfilling; reservations are asked for like jobs
//! and placed inside their windows by [`queue_plan::placement`], which knows of no replay.
//! A scheduling cycle follows each submission of a job or a request and each end of a job or a
//! reservation: the heads of the queue start, then open requests are answered in the order in which
//! they came, then the other jobs start.
//!
//! Of one moment the ends come first, with one cycle for all of them, and then the submissions in
//! their order, with one for each.

mod expectations;
mod manager;
mod simulation;
#[cfg(test)]
mod tests;

pub use expectations::{AsEstimated, AsTheyWill, Expectations};
pub use simulation::{Afterwards, Outcome, RequestRecord, simulate};
