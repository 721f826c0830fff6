//! Windows of time as users write them, `EARLIEST,LATEST`: two moments as `--begin` takes them.

use jiff::tz::TimeZone;
use job_types::time::UnixTime;
use job_types::window::Window;
use thiserror::Error;

use crate::moment::{self, MomentError};

/// What [`parse`] accepts, for messages and help texts.
pub const ACCEPTED_FORM: &str = "EARLIEST,LATEST, each a time as --begin takes it, as in 18:00,06:00 or now+1hour,now+9hours";

/// Why a text is no window.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WindowError {
    /// The text has none or more than one comma.
    #[error("{text:?} is not a window: use {ACCEPTED_FORM}")]
    Form {
        /// The text, shortened.
        text: String,
    },
    /// One of the two is not a moment.
    #[error(transparent)]
    Moment(#[from] MomentError),
    /// The window ends before it begins, or when it does.
    #[error("the window {text:?} does not end after it begins: give a LATEST that is later, or one without a day for the next such time")]
    Order {
        /// The text, shortened.
        text: String,
    },
}

/// Reads a window.
///
/// A LATEST that is a time of day alone is the next such time after EARLIEST, so that `18:00,06:00`
/// ends on the next day. Otherwise it is read as EARLIEST is, by what [`moment::parse`] says. What
/// has passed is no error here.
///
/// `now` is in Unix seconds; `zone` is the time zone of the person who wrote the text.
///
/// # Errors
/// [`WindowError`] names the text and the accepted form.
pub fn parse(text: &str, now: i64, zone: &TimeZone) -> Result<Window, WindowError> {
    let shortened = || job_types::text::shortened(text);
    let (earliest, latest) =
        text.split_once(',').filter(|(_, latest)| !latest.contains(',')).ok_or_else(|| WindowError::Form { text: shortened() })?;
    let begin = moment::parse(earliest, now, zone)?;
    let end = moment::parse(latest, if moment::is_time_of_day(latest) { begin.max(now) } else { now }, zone)?;
    if end <= begin {
        return Err(WindowError::Order { text: shortened() });
    }
    Ok(Window { earliest: UnixTime(begin), latest: UnixTime(end) })
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::*;

    /// Friday 2026-03-27 14:30:20 in Berlin, two days before its clocks go forward.
    const NOW: i64 = 1_774_618_220;

    fn berlin() -> TimeZone {
        TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap()
    }

    /// Reads `text` and shows the result as the clock in Berlin does.
    fn shown(text: &str) -> String {
        let clock = |moment: UnixTime| Timestamp::from_second(moment.0).unwrap().to_zoned(berlin()).strftime("%d. %H:%M").to_string();
        match parse(text, NOW, &berlin()) {
            Ok(Window { earliest, latest }) => format!("{} - {}", clock(earliest), clock(latest)),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn both_ends_are_times_as_begin_takes_them() {
        assert_eq!(shown("18:00,22:30"), "27. 18:00 - 27. 22:30");
        assert_eq!(shown("now+1hour, now+3hours"), "27. 15:30 - 27. 17:30");
        assert_eq!(shown("tomorrow-08:00,2026-03-28T20:00"), "28. 08:00 - 28. 20:00");
        assert_eq!(shown("now,@1774656000"), "27. 14:30 - 28. 01:00");
    }

    #[test]
    fn a_window_over_midnight_ends_on_the_next_day() {
        assert_eq!(shown("18:00,06:00"), "27. 18:00 - 28. 06:00");
        assert_eq!(shown("noon,midnight"), "28. 12:00 - 29. 00:00");
        assert_eq!(shown("18:00,18:00"), "27. 18:00 - 28. 18:00", "a whole day");
        assert_eq!(shown("2026-03-30T18:00,06:00"), "30. 18:00 - 31. 06:00");
    }

    #[test]
    fn a_time_of_day_is_the_next_after_earliest_and_not_the_next_from_now() {
        assert_eq!(shown("03:00,18:00"), "28. 03:00 - 28. 18:00", "18:00 is still to come today");
        assert_eq!(shown("tomorrow-08:00,20:00"), "28. 08:00 - 28. 20:00");
        assert_eq!(shown("2026-03-20T08:00,16:00"), "20. 08:00 - 27. 16:00", "what is past is not ended in the past");
    }

    #[test]
    fn the_night_in_which_the_clocks_go_forward_is_an_hour_shorter() {
        let window = parse("2026-03-28T18:00,06:00", NOW, &berlin()).unwrap();
        assert_eq!(window.length().0, 11 * 3_600);
    }

    #[test]
    fn a_day_that_is_named_is_not_moved() {
        for text in ["2026-03-28T18:00,2026-03-28T06:00", "now+2hours,now+1hour", "now,now", "tomorrow,today", "04/02-18:00,04/02-06:00"] {
            let error = shown(text);
            assert!(error.contains("does not end after it begins: give a LATEST"), "{text}: {error}");
        }
    }

    #[test]
    fn other_texts_are_refused_with_the_accepted_form() {
        for text in ["", "18:00", "18:00 06:00", "18:00,06:00,07:00"] {
            let error = shown(text);
            assert!(error.contains("is not a window: use EARLIEST,LATEST"), "{text}: {error}");
        }
        for (text, wrong) in [("soon,06:00", "\"soon\""), ("18:00,late", "\"late\""), ("18:00,", "\"\""), (",06:00", "\"\"")] {
            let error = shown(text);
            assert!(error.contains(&format!("{wrong} is not a time: use HH:MM")), "{text}: {error}");
        }
        assert!(shown("18:00,25:00").contains("does not exist"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_a_window_or_refused_without_a_panic(
            text in "\\PC{0,40}|[0-9:/. TAPMapm,-]{0,24}|(now|@)[+ -]?[0-9]{0,22}[a-z]{0,8},(now|[0-9]{1,2}:)[+ -]?[0-9]{0,22}",
            now in prop_oneof![Just(NOW), any::<i64>()],
        ) {
            if let Ok(window) = parse(&text, now, &berlin()) {
                prop_assert!(window.length().0 > 0);
            }
        }
    }
}
