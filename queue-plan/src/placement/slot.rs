//! A time from a start to an end.

use job_types::time::{Seconds, UnixTime};

/// A time from a start to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// When it begins.
    pub start: UnixTime,
    /// When it ends.
    pub end: UnixTime,
}

impl Slot {
    /// Returns the slot of this length.
    #[must_use]
    pub fn of(start: UnixTime, duration: Seconds) -> Self {
        Self { start, end: start + duration }
    }

    /// Returns how long the slot is.
    #[must_use]
    pub fn duration(self) -> Seconds {
        self.end - self.start
    }

    /// Returns what of the slot lies at `now` or later; nothing is left of one that has ended.
    #[must_use]
    pub fn left(self, now: UnixTime) -> Seconds {
        (self.end - self.start.max(now)).max(Seconds::ZERO)
    }
}
