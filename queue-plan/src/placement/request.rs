//! What a user asks for.

use job_types::time::{Seconds, UnixTime};

use super::preference::Preference;
use crate::resources::Resources;

/// A reservation that is asked for: so much for so long, at any time inside a window (section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it was submitted.
    pub submitted: UnixTime,
    /// How long it lasts.
    pub duration: Seconds,
    /// When it begins at the earliest.
    pub earliest_start: UnixTime,
    /// When it ends at the latest.
    pub latest_end: UnixTime,
    /// What it takes.
    pub takes: Resources,
    /// Which of several slots that are equally good is taken.
    pub preference: Preference,
}

impl Request {
    /// When it begins at the latest.
    #[must_use]
    pub fn latest_start(&self) -> UnixTime {
        self.latest_end - self.duration
    }

    /// Whether a start lies inside the window.
    #[must_use]
    pub fn may_start(&self, at: UnixTime) -> bool {
        (self.earliest_start..=self.latest_start()).contains(&at)
    }

    /// Whether there is a start at this time or later.
    #[must_use]
    pub fn is_open(&self, now: UnixTime) -> bool {
        now <= self.latest_start()
    }
}
