//! Moments and durations.

use std::ops::{Add, Sub};

/// A moment on the caller's clock, or a duration, in whole milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Milliseconds(pub u64);

impl Milliseconds {
    /// The beginning of the clock, and no time at all.
    pub const ZERO: Milliseconds = Milliseconds(0);
    /// One minute, for which a bid is.
    pub const MINUTE: Milliseconds = Milliseconds(60_000);

    /// In minutes.
    #[must_use]
    pub fn minutes(self) -> f64 {
        self.0 as f64 / Self::MINUTE.0 as f64
    }
}

impl Add for Milliseconds {
    type Output = Milliseconds;
    fn add(self, other: Milliseconds) -> Milliseconds {
        Milliseconds(self.0.saturating_add(other.0))
    }
}

impl Sub for Milliseconds {
    type Output = Milliseconds;
    /// Zero where the other is later.
    fn sub(self, other: Milliseconds) -> Milliseconds {
        Milliseconds(self.0.saturating_sub(other.0))
    }
}
