//! First come, first served.

use job_types::time::{Seconds, UnixTime};

use super::{Job, Order};

/// First come, first served.
#[derive(Debug, Clone, Copy, Default)]
pub struct FirstCome;

impl Order for FirstCome {
    fn key(&mut self, _job: &Job, _expected: Seconds, _now: UnixTime) -> i64 {
        0
    }
}
