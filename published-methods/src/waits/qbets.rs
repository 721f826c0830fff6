//! QBETS, asked for a point.

use super::WaitPredictor;
use learning::sweep::Arrivals;
use learning::waits::qbets::{CONFIDENCE, POINT_QUANTILE, Qbets};

impl WaitPredictor for Qbets {
    /// The bound on the quantile [`POINT_QUANTILE`] at [`CONFIDENCE`].
    fn point(&mut self, past: &Arrivals, row: usize) -> f64 {
        self.bound(past, row, POINT_QUANTILE, CONFIDENCE).map_or(0.0, |bound| bound.0 as f64)
    }

    fn learn(&mut self, past: &Arrivals, row: usize) {
        if let Some(job) = past.job(row)
            && let Some(wait) = job.wait()
        {
            self.observe(job.submitted(), wait);
        }
    }
}
