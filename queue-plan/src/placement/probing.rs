//! The slots that are looked at.

use job_types::time::{Seconds, UnixTime};

use super::request::Request;
use super::slot::Slot;

/// How many slots of a window are looked at (section 4: a limited number, and a least time between
/// two of them). The publication names neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probing {
    /// The most slots, at least one.
    pub slots: usize,
    /// The least time from one start to the next.
    pub gap: Seconds,
}

impl Default for Probing {
    /// 20 slots that lie 5 min apart or more.
    fn default() -> Self {
        Self { slots: 20, gap: Seconds(300) }
    }
}

impl Probing {
    /// Returns the slots of a request, in the order of time: spread evenly over its window from now
    /// on, with the first and the last that it allows. There is none where the window has passed.
    #[must_use]
    pub fn slots(self, request: &Request, now: UnixTime) -> Vec<Slot> {
        let (first, last) = (request.earliest_start.max(now), request.latest_start());
        let window = last - first;
        if window < Seconds::ZERO {
            return Vec::new();
        }
        let spaces = (window.0 / self.gap.0.max(1)).min(i64::try_from(self.slots).unwrap_or(i64::MAX) - 1).max(0);
        let starts = (0..=spaces).map(|place| first + Seconds(if spaces == 0 { 0 } else { spread(window.0, place, spaces) }));
        starts.map(|start| Slot::of(start, request.duration)).collect()
    }
}

/// `place` of `spaces` equal parts of a window, without an overflow for long windows.
fn spread(window: i64, place: i64, spaces: i64) -> i64 {
    window / spaces * place + window % spaces * place / spaces
}
