//! This machine's clock: its time, that it was set back, and that it is not slurmctld's.
//!
//! What was read while a clock was ahead is dated ahead, and nothing that ends from then on seems
//! new until real time has caught up. So the clock is held against one that is never set.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use job_types::time::{Seconds, UnixTime};
use upkeep::clocks_agree;

/// A step back that is no more than this is what time servers do now and then, and what is read
/// again anyway covers it.
const TOLERATED_SECONDS: i64 = 60;

/// Unix seconds, by this machine's clock.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX))
}

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

/// Returns by how many seconds slurmctld's clock is ahead of this machine's; a negative number
/// means behind. It is computed from the time that slurmctld wrote into an answer, which was asked
/// for at `asked` and was there at `had`. A time between those two is no difference. `None` if the
/// answer told no time.
pub(crate) fn controller_ahead(asked: UnixTime, answered: Option<UnixTime>, had: UnixTime) -> Option<Seconds> {
    let answered = answered?;
    let difference = if answered < asked { answered - asked } else { (answered - had).max(Seconds::ZERO) };
    Some(difference)
}

/// Whether slurmctld's clock is this machine's, as it was told last.
#[derive(Debug)]
pub(crate) struct ControllerClock {
    agrees: bool,
}

impl ControllerClock {
    /// A clock of which nothing is known, and which is taken to be right until something is.
    pub(crate) fn new() -> Self {
        Self { agrees: true }
    }

    /// Takes by how much slurmctld's clock is ahead. Logs it where the clocks have come apart or
    /// agree again.
    pub(crate) fn look(&mut self, controller_ahead: Option<Seconds>) {
        let agrees = clocks_agree(controller_ahead);
        if agrees != self.agrees {
            let ahead_s = controller_ahead.map(|ahead| ahead.0);
            if agrees {
                tracing::info!(ahead_s, "slurmctld's clock is this machine's again");
            } else {
                tracing::warn!(
                    ahead_s,
                    "slurmctld's clock is not this machine's: no job is ended as late, and nobody is told how likely a deadline is, until it is"
                );
            }
        }
        self.agrees = agrees;
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

    #[test]
    fn the_time_of_slurmctlds_answer_is_held_against_when_it_was_asked_for_and_there() {
        let ahead = |asked, answered, had| controller_ahead(UnixTime(asked), Some(UnixTime(answered)), UnixTime(had));
        for (asked, answered, had, expected) in [
            (NOW, NOW, NOW, 0),
            // An answer that took a minute says nothing of a difference within it.
            (NOW, NOW + 30, NOW + 60, 0),
            (NOW, NOW + 75, NOW + 60, 15),
            (NOW + 3_600, NOW, NOW + 3_601, -3_600),
            // The clock was set between the question and the answer, back or forward.
            (NOW + 3_600, NOW, NOW, -3_600),
            (NOW, NOW, NOW + 3_600, 0),
        ] {
            assert_eq!(ahead(asked, answered, had), Some(Seconds(expected)), "{asked} {answered} {had}");
        }
        assert_eq!(controller_ahead(UnixTime(NOW), None, UnixTime(NOW)), None);
    }
}
