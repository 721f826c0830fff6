//! The shortest estimate first.

use super::{Job, Order};

/// The shortest expected run time first.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShortestFirst;

impl Order for ShortestFirst {
    fn key(&mut self, _job: &Job, expected_seconds: i64, _now_seconds: i64) -> i64 {
        expected_seconds
    }
}
