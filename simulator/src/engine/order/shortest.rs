//! The shortest estimate first.

use job_types::time::{Seconds, UnixTime};

use super::{Job, Order};

/// The shortest expected run time first.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShortestFirst;

impl Order for ShortestFirst {
    fn key(&mut self, _job: &Job, expected: Seconds, _now: UnixTime) -> i64 {
        expected.0
    }
}
