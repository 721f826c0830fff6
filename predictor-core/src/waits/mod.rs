//! Forecasts of waits: the published methods whole, and the default.
//!
//! Each is a [`WaitPredictor`]: told the jobs that started, in order of time, and asked about jobs that arrive.

pub mod apq;
pub mod blended;
pub mod ibl;
pub mod nearest;
pub mod qbets;
mod replay;
mod started;

pub use replay::Split;

use crate::past::Arrivals;

/// Forecasts waits as jobs arrive, and learns as they start.
pub trait WaitPredictor: Send {
    /// The point forecast in seconds for the job of `row`, from what was learnt; 0 while nothing was.
    fn point(&mut self, past: &Arrivals, row: usize) -> f64;

    /// The job of `row` has started: its wait is known from now on.
    fn learn(&mut self, past: &Arrivals, row: usize);
}
