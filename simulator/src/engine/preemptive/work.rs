//! What a job has to do yet.

use market::Milliseconds;

/// The parts of a millisecond in which work is counted: the least number that all up to 22 divide.
/// A job that takes up to 22 times as long does whole parts in whole milliseconds. 64 bits hold the
/// parts of two years and a half.
const PARTS: u64 = 232_792_560;

/// What a job has to do yet, and since when. It is done in the first whole millisecond at which
/// nothing is left. Where it has taken more than 22 times as long, it may be done one part too
/// early for each time that its speed has changed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Work {
    left_parts: u64,
    /// The time to which that refers.
    as_of: Milliseconds,
}

impl Work {
    pub(super) fn of(run_time: Milliseconds) -> Self {
        Self { left_parts: run_time.0.saturating_mul(PARTS), as_of: Milliseconds::ZERO }
    }

    /// It goes on, after a time in which nothing was done.
    pub(super) fn go_on(&mut self, now: Milliseconds) {
        self.as_of = now;
    }

    /// It has taken `times` as long as alone until now.
    pub(super) fn advance(&mut self, now: Milliseconds, times: u32) {
        let passed = (now - self.as_of).0;
        let done = passed.saturating_mul(PARTS).div_ceil(u64::from(times.max(1)));
        self.left_parts = self.left_parts.saturating_sub(done);
        self.as_of = now;
    }

    /// When it is done if it takes `times` as long from now on.
    pub(super) fn end(&self, times: u32) -> Milliseconds {
        let parts = u128::from(self.left_parts) * u128::from(times);
        let takes = parts.div_ceil(u128::from(PARTS));
        self.as_of + Milliseconds(u64::try_from(takes).unwrap_or(u64::MAX))
    }
}
