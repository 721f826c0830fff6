//! Notices that this machine's clock was set back.
//!
//! What was read while a clock was ahead is dated ahead, and nothing that ends from then on seems
//! new until real time has caught up. So the clock is held against one that is never set.

use std::time::Instant;

/// A step back that is no more than this is what time servers do now and then, and what is read
/// again anyway covers it.
const TOLERATED_SECONDS: i64 = 60;

/// The clock as it was looked at last.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClockWatch {
    /// The time of day, in Unix seconds.
    wall: i64,
    steady: Instant,
}

impl ClockWatch {
    /// Begins to watch a clock that shows `wall`, in Unix seconds, at the moment `steady`.
    pub(crate) fn new(wall: i64, steady: Instant) -> Self {
        Self { wall, steady }
    }

    /// Looks at the clock. Returns by how many seconds it was set back since the last look, where
    /// that is more than a minute.
    pub(crate) fn look(&mut self, wall: i64, steady: Instant) -> Option<i64> {
        let passed = i64::try_from(steady.saturating_duration_since(self.steady).as_secs()).unwrap_or(i64::MAX);
        let behind = self.wall.saturating_add(passed) - wall;
        *self = Self { wall, steady };
        (behind > TOLERATED_SECONDS).then_some(behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const NOW: i64 = 1_800_000_000;

    #[test]
    fn a_clock_that_goes_ahead_is_not_set_back_until_it_is() {
        let steady = Instant::now();
        for ahead in [86_400, 2 * 86_400, 365 * 86_400] {
            let mut watch = ClockWatch::new(NOW, steady);
            let after = |seconds| steady + Duration::from_secs(seconds);
            assert_eq!(watch.look(NOW + 60, after(60)), None);
            assert_eq!(watch.look(NOW + 120 + ahead, after(120)), None);
            assert_eq!(watch.look(NOW + 180 + ahead, after(180)), None);
            assert_eq!(watch.look(NOW + 240, after(240)), Some(ahead));
            assert_eq!(watch.look(NOW + 300, after(300)), None, "it is told once");
        }
    }

    #[test]
    fn a_clock_that_is_slewed_or_corrected_by_seconds_is_as_good_as_right() {
        let steady = Instant::now();
        let mut watch = ClockWatch::new(NOW, steady);
        for round in 1..1_000u64 {
            let slow = i64::try_from(round * 59).unwrap();
            assert_eq!(watch.look(NOW + slow, steady + Duration::from_secs(round * 60)), None);
        }
        assert_eq!(watch.look(NOW + 999 * 59 + 1 - 60, steady + Duration::from_secs(999 * 60 + 1)), None);
        assert_eq!(watch.look(NOW + 999 * 59 + 2 - 60 - 61, steady + Duration::from_secs(999 * 60 + 2)), Some(61));
    }
}
