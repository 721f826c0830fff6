//! Published forecasts of waits.
//!
//! Each is a [`WaitPredictor`]: told the jobs that started, in order of time, and asked about jobs
//! that arrive.
//!
//! - [`apq::Apq`]: adaptive prediction of queue waits (Hariharan et al. 2020, section II).
//! - [`ibl::InstanceBased`]: instance-based learning (Li, Groep, Wolters, FGCS 2007).
//! - [`nearest::NearestNeighbours`]: plain k nearest neighbours.
//! - [`Qbets`](learning::waits::qbets::Qbets), which the daemon stands on as well (Nurmi,
//!   Brevik, Wolski, JSSPP 2007).

pub mod apq;
pub mod ibl;
pub mod nearest;
mod qbets;
mod replay;
mod started;

pub use replay::Split;

use learning::sweep::Arrivals;

/// Forecasts waits as jobs arrive, and learns as they start.
pub trait WaitPredictor: Send {
    /// The point forecast in seconds for the job of `row`, from what was learnt; 0 while nothing
    /// was.
    fn point(&mut self, past: &Arrivals, row: usize) -> f64;

    /// The job of `row` has started: its wait is known from now on.
    fn learn(&mut self, past: &Arrivals, row: usize);
}
