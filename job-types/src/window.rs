//! The window that a user gives for a firm slot, and whether a slot fits into it.
//!
//! What is said here needs no partition and no other slot, so that the plugin in sbatch can say it
//! before anything is sent. Where the site has the time limit or the policy and sbatch does not,
//! the same is asked again with more in [`WindowNeeds`].

use crate::time::{Seconds, UnixTime};
use std::fmt;

/// The farthest ahead that a slot may begin, whatever the site says, and the longest slot.
pub const FARTHEST_AHEAD: Seconds = Seconds(366 * 86_400);

/// When a slot may lie: all of it is inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// When the slot begins at the earliest.
    pub earliest: UnixTime,
    /// When it ends at the latest.
    pub latest: UnixTime,
}

/// What a window has to have room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowNeeds {
    /// How long the slot is; zero where that is not known yet.
    pub duration: Seconds,
    /// How long before its start the slot is to stay where it is, if its user says so.
    pub notice: Option<Seconds>,
    /// How far ahead a slot may begin; more than [`FARTHEST_AHEAD`] is that.
    pub ahead: Seconds,
}

impl WindowNeeds {
    fn ahead(&self) -> Seconds {
        self.ahead.clamp(Seconds::ZERO, FARTHEST_AHEAD)
    }
}

impl Window {
    /// Returns how long the window is, less than zero if it ends before it begins.
    #[must_use]
    pub fn length(self) -> Seconds {
        self.latest - self.earliest
    }

    /// Returns the part of the window in which a slot may lie that is granted now: from now on, and
    /// with no start that is too far ahead.
    ///
    /// # Errors
    /// [`WindowRefused`] where no slot fits, with the nearest window into which one does.
    pub fn open(self, needs: &WindowNeeds, now: UnixTime) -> Result<Window, WindowRefused> {
        let left = Window { earliest: self.earliest.max(now), latest: self.latest };
        let last_start = now + needs.ahead();
        let missing = needs.duration.max(Seconds::ZERO) - left.length();
        let missing_notice = needs.notice.map(|notice| (notice, notice - left.length())).filter(|(_, by)| *by > Seconds::ZERO);
        let fault = match missing_notice {
            _ if self.latest <= now => WindowFault::Past,
            _ if self.earliest > last_start => WindowFault::TooFar { by: self.earliest - last_start, ahead: needs.ahead() },
            _ if missing > Seconds::ZERO => WindowFault::TooShort { by: missing, duration: needs.duration },
            Some((notice, by)) => WindowFault::NoticeTooLong { by, notice },
            None => return Ok(Window { latest: left.latest.min(last_start + needs.duration), ..left }),
        };
        Err(WindowRefused { fault, nearest: self.nearest(fault, needs, now) })
    }

    /// The window that is nearest to a refused one: it begins when that does, if it may, and ends
    /// no earlier. One that has passed or is too far ahead is moved as it is.
    fn nearest(self, fault: WindowFault, needs: &WindowNeeds, now: UnixTime) -> Option<NearestWindow> {
        let needed = needs.duration.max(needs.notice.unwrap_or(Seconds::ZERO)).max(Seconds::MINUTE);
        if needed > FARTHEST_AHEAD {
            return None;
        }
        let needed = needed.minutes_rounded_up();
        let last_start = needs.ahead().0.div_euclid(60);
        let start = (self.earliest - now).minutes_rounded_up().clamp(0, last_start);
        let end = match fault {
            WindowFault::Past | WindowFault::TooFar { .. } => start + self.length().minutes_rounded_up().max(needed),
            WindowFault::TooShort { .. } | WindowFault::NoticeTooLong { .. } => {
                (self.latest - now).minutes_rounded_up().max(start + needed)
            }
        };
        Some(NearestWindow { start_minutes: start, end_minutes: end.min(last_start + needed) })
    }
}

/// A window, by whole minutes from the moment at which it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearestWindow {
    start_minutes: i64,
    end_minutes: i64,
}

impl NearestWindow {
    /// Returns the window for the moment at which it was asked for.
    #[must_use]
    pub fn at(self, now: UnixTime) -> Window {
        let [earliest, latest] = [self.start_minutes, self.end_minutes].map(|minutes| now + Seconds(minutes.saturating_mul(60)));
        Window { earliest, latest }
    }
}

impl fmt::Display for NearestWindow {
    /// As sbatch reads it behind `--begin` (src/common/parse_time.c, `_get_delta`), which is the
    /// same in every time zone: `now+2hours,now+450minutes`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (minutes, behind) in [(self.start_minutes, ","), (self.end_minutes, "")] {
            match minutes {
                0 => write!(f, "now{behind}")?,
                _ if minutes % 60 == 0 => write!(f, "now+{}hours{behind}", minutes / 60)?,
                _ => write!(f, "now+{minutes}minutes{behind}")?,
            }
        }
        Ok(())
    }
}

/// Why no slot fits into a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowFault {
    /// It has ended.
    Past,
    /// It begins when no slot may begin yet.
    TooFar {
        /// How much later it begins than a slot may.
        by: Seconds,
        /// How far ahead a slot may begin.
        ahead: Seconds,
    },
    /// The slot is longer than what is left of it.
    TooShort {
        /// What is missing.
        by: Seconds,
        /// How long the slot is.
        duration: Seconds,
    },
    /// The notice is longer than what is left of it, so that the slot could never move.
    NoticeTooLong {
        /// By how much the notice is longer than what is left of the window.
        by: Seconds,
        /// The notice.
        notice: Seconds,
    },
}

impl fmt::Display for WindowFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WindowFault::Past => f.write_str("the window has already ended"),
            WindowFault::TooFar { by, ahead } => {
                write!(f, "the window begins {by} too late: a slot may begin at most {ahead} from now")
            }
            WindowFault::TooShort { by, duration } => {
                write!(
                    f,
                    "what is left of the window is {by} too short for the time limit of {duration}; give a longer window or a shorter --time"
                )
            }
            WindowFault::NoticeTooLong { by, notice } => {
                write!(f, "the notice of {notice} is {by} longer than what is left of the window; give a shorter --reserve-notice")
            }
        }
    }
}

/// A window into which no slot fits, and the nearest one into which one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowRefused {
    /// Why.
    pub fault: WindowFault,
    /// The nearest window that is not refused; `None` where no window is long enough.
    pub nearest: Option<NearestWindow>,
}

impl fmt::Display for WindowRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.fault)?;
        self.nearest.map_or(Ok(()), |nearest| write!(f, "; the nearest window that is possible is {nearest}"))
    }
}

impl std::error::Error for WindowRefused {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOUR: i64 = 3_600;
    const NOW: UnixTime = UnixTime(1_774_618_220);

    /// A window by seconds from now.
    fn window(earliest: i64, latest: i64) -> Window {
        Window { earliest: NOW + Seconds(earliest), latest: NOW + Seconds(latest) }
    }

    /// What a slot of two hours needs that may begin within a day.
    const NEEDS: WindowNeeds = WindowNeeds { duration: Seconds(2 * HOUR), notice: None, ahead: Seconds(24 * HOUR) };

    fn refused(window: Window, needs: &WindowNeeds) -> String {
        window.open(needs, NOW).unwrap_err().to_string()
    }

    #[test]
    fn a_window_is_open_from_now_until_the_end_of_its_last_slot() {
        assert_eq!(window(HOUR, 4 * HOUR).open(&NEEDS, NOW), Ok(window(HOUR, 4 * HOUR)));
        assert_eq!(window(-HOUR, 4 * HOUR).open(&NEEDS, NOW), Ok(window(0, 4 * HOUR)));
        assert_eq!(window(HOUR, 400 * HOUR).open(&NEEDS, NOW), Ok(window(HOUR, 26 * HOUR)));
        assert_eq!(window(HOUR, 3 * HOUR).open(&NEEDS, NOW), Ok(window(HOUR, 3 * HOUR)), "one slot fits");
    }

    #[test]
    fn a_window_that_is_too_short_becomes_longer() {
        let told = refused(window(HOUR, 3 * HOUR - 1), &NEEDS);
        assert!(told.starts_with("what is left of the window is 1 s too short for the time limit of 2 h; "), "{told}");
        assert!(told.ends_with("; the nearest window that is possible is now+1hours,now+3hours"), "{told}");
        let begun = refused(window(-HOUR, HOUR), &NEEDS);
        assert!(begun.contains("is 1 h too short") && begun.ends_with("is now,now+2hours"), "{begun}");
        let backward = refused(window(4 * HOUR, 3 * HOUR), &NEEDS);
        assert!(backward.contains("is 3 h too short") && backward.ends_with("is now+4hours,now+6hours"), "{backward}");
    }

    #[test]
    fn a_window_that_has_ended_moves_to_now_as_it_is() {
        let told = refused(window(-6 * HOUR, 0), &NEEDS);
        assert_eq!(told, "the window has already ended; the nearest window that is possible is now,now+6hours");
        assert!(window(-6 * HOUR, 1).open(&WindowNeeds { duration: Seconds::ZERO, ..NEEDS }, NOW).is_ok());
    }

    #[test]
    fn a_window_that_is_too_far_ahead_moves_nearer_as_it_is() {
        assert!(window(24 * HOUR, 30 * HOUR).open(&NEEDS, NOW).is_ok());
        let told = refused(window(24 * HOUR + 1, 30 * HOUR + 1), &NEEDS);
        assert!(told.starts_with("the window begins 1 s too late: a slot may begin at most 1 d from now; "), "{told}");
        // No slot begins after a day, so that the window ends two hours later.
        assert!(told.ends_with("is now+24hours,now+26hours"), "{told}");
        let farthest = WindowNeeds { ahead: Seconds(i64::MAX), ..NEEDS };
        assert!(window(366 * 24 * HOUR, 367 * 24 * HOUR).open(&farthest, NOW).is_ok());
        assert!(window(366 * 24 * HOUR + 1, 367 * 24 * HOUR).open(&farthest, NOW).is_err());
    }

    #[test]
    fn a_notice_that_is_longer_than_the_window_is_refused() {
        let needs = |notice| WindowNeeds { notice: Some(Seconds(notice)), ..NEEDS };
        assert!(window(HOUR, 4 * HOUR).open(&needs(3 * HOUR), NOW).is_ok());
        let told = refused(window(HOUR, 4 * HOUR), &needs(3 * HOUR + 60));
        assert!(told.starts_with("the notice of 3 h 1 min is 1 min longer than what is left of the window; "), "{told}");
        assert!(told.ends_with("is now+1hours,now+241minutes"), "{told}");
        let unheard_of = window(HOUR, 4 * HOUR).open(&needs(i64::MAX), NOW).unwrap_err();
        assert_eq!(unheard_of.nearest, None);
    }

    #[test]
    fn a_nearest_window_is_in_whole_minutes_that_a_user_can_copy() {
        let told = refused(window(90, HOUR), &NEEDS);
        assert!(told.ends_with("is now+2minutes,now+122minutes"), "{told}");
    }

    proptest! {
        #[test]
        fn the_nearest_window_is_not_refused(
            (earliest, latest) in prop_oneof![(-200_000..200_000_i64, -200_000..400_000_i64), (any::<i64>(), any::<i64>())],
            now in 0..253_402_207_200_i64,
            duration in prop_oneof![0..200_000_i64, any::<i64>()],
            ahead in prop_oneof![0..200_000_i64, any::<i64>()],
            notice in proptest::option::of(prop_oneof![0..300_000_i64, any::<i64>()]),
            is_near in any::<bool>(),
        ) {
            let at = |moment: i64| UnixTime(if is_near { now.saturating_add(moment) } else { moment });
            let (window, now) = (Window { earliest: at(earliest), latest: at(latest) }, UnixTime(now));
            let needs = WindowNeeds { duration: Seconds(duration), notice: notice.map(Seconds), ahead: Seconds(ahead) };
            match window.open(&needs, now) {
                Ok(open) => {
                    prop_assert!(open.earliest >= window.earliest.max(now) && open.latest <= window.latest);
                    prop_assert!(open.length() >= needs.duration);
                }
                Err(WindowRefused { nearest: Some(nearest), .. }) => prop_assert!(nearest.at(now).open(&needs, now).is_ok(), "{nearest}"),
                Err(WindowRefused { nearest: None, .. }) => {
                    prop_assert!(needs.duration > FARTHEST_AHEAD || needs.notice > Some(FARTHEST_AHEAD));
                }
            }
        }
    }
}
