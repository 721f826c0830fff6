//! First come, first served.

use super::{Job, Order};

/// First come, first served.
#[derive(Debug, Clone, Copy, Default)]
pub struct FirstCome;

impl Order for FirstCome {
    fn key(&mut self, _job: &Job, _expected_seconds: i64, _now_seconds: i64) -> i64 {
        0
    }
}
