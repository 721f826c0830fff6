//! Lengths of time as Slurm writes them, and the suffixed forms of a configuration file.
//!
//! Slurm's own forms are those of `--time` (src/common/parse_time.c, `time_str2secs`): a bare
//! number is minutes.

use std::fmt::Write as _;

use thiserror::Error;

/// Seconds in one minute.
pub const MINUTE_SECONDS: i64 = 60;
/// Seconds in one hour.
pub const HOUR_SECONDS: i64 = 3_600;
/// Seconds in one day of 24 hours.
pub const DAY_SECONDS: i64 = 86_400;
/// Seconds in one week of seven days.
pub const WEEK_SECONDS: i64 = 7 * DAY_SECONDS;

/// What [`parse`] accepts, for messages and help texts.
pub const ACCEPTED_FORMS: &str = "minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes, days-hours:minutes:seconds, \
     or numbers with w, d, h, m or s, as in 90m or 1h30m";

/// Why a text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DurationError {
    /// The text has none of the accepted forms.
    #[error("{text:?} is not a duration: use {ACCEPTED_FORMS}")]
    Form {
        /// The text, shortened.
        text: String,
    },
    /// The duration has more seconds than 64 bits hold.
    #[error("{text:?} is too long a duration")]
    TooLong {
        /// The text, shortened.
        text: String,
    },
}

/// Reads a duration in any of [`ACCEPTED_FORMS`]; returns seconds, never negative.
///
/// As in Slurm, a part may exceed its usual range: `90:00` is an hour and a half.
///
/// ```
/// assert_eq!(slurm_conf::duration::parse("90"), Ok(5_400));
/// assert_eq!(slurm_conf::duration::parse("1-12"), Ok(129_600));
/// assert_eq!(slurm_conf::duration::parse("30s"), Ok(30));
/// ```
///
/// # Errors
/// [`DurationError`] names the text and the accepted forms.
pub fn parse(text: &str) -> Result<i64, DurationError> {
    let trimmed = text.trim();
    let wrong_form = || DurationError::Form { text: job_types::text::shortened(text) };
    let too_long = || DurationError::TooLong { text: job_types::text::shortened(text) };

    if trimmed.ends_with(|last: char| last.is_ascii_alphabetic()) {
        return with_units(trimmed).ok_or_else(wrong_form)?.ok_or_else(too_long);
    }

    let (days, clock) = match trimmed.split_once('-') {
        Some((days, clock)) => (Some(days), clock),
        None => (None, trimmed),
    };
    // The units of the parts between colons, from the first part on.
    let units: &[i64] = match (days.is_some(), clock.bytes().filter(|&byte| byte == b':').count()) {
        (true, 0..=2) | (false, 2) => &[HOUR_SECONDS, MINUTE_SECONDS, 1],
        (false, 0..=1) => &[MINUTE_SECONDS, 1],
        _ => return Err(wrong_form()),
    };
    let mut seconds = match days {
        Some(days) => number(days).ok_or_else(wrong_form)?.and_then(|days| days.checked_mul(DAY_SECONDS)).ok_or_else(too_long)?,
        None => 0,
    };
    for (part, unit_seconds) in clock.split(':').zip(units) {
        let count = number(part).ok_or_else(wrong_form)?;
        seconds = count
            .and_then(|count| count.checked_mul(*unit_seconds))
            .and_then(|part_seconds| seconds.checked_add(part_seconds))
            .ok_or_else(too_long)?;
    }
    Ok(seconds)
}

/// Writes seconds as squeue does: `0:45`, `1:47:00`, `2-03:00:00` (src/squeue/print.c,
/// `_print_secs`). All of these are forms that [`parse`] reads.
///
/// A negative duration gets a leading minus sign, which [`parse`] does not read back.
///
/// ```
/// assert_eq!(slurm_conf::duration::format(93_784), "1-02:03:04");
/// assert_eq!(slurm_conf::duration::format(6_420), "1:47:00");
/// ```
#[must_use]
pub fn format(seconds: i64) -> String {
    let mut text = String::new();
    if seconds < 0 {
        text.push('-');
    }
    let seconds = seconds.unsigned_abs();
    let (day, hour, minute) = (DAY_SECONDS.unsigned_abs(), HOUR_SECONDS.unsigned_abs(), MINUTE_SECONDS.unsigned_abs());
    let (hours, minutes, rest) = (seconds % day / hour, seconds % hour / minute, seconds % minute);
    let _ = if seconds >= day {
        write!(text, "{}-{hours:02}:{minutes:02}:{rest:02}", seconds / day)
    } else if hours > 0 {
        write!(text, "{hours}:{minutes:02}:{rest:02}")
    } else {
        write!(text, "{minutes}:{rest:02}")
    };
    text
}

/// Writes seconds in the largest unit that divides them: `90s`, `10m`, `6h`, `1d`.
///
/// ```
/// assert_eq!(slurm_conf::duration::suffixed(7_200), "2h");
/// ```
#[must_use]
pub fn suffixed(seconds: i64) -> String {
    let units = [(DAY_SECONDS, 'd'), (HOUR_SECONDS, 'h'), (MINUTE_SECONDS, 'm')];
    let unit = units.into_iter().find(|(unit, _suffix)| seconds > 0 && seconds % unit == 0);
    unit.map_or_else(|| format!("{seconds}s"), |(unit, suffix)| format!("{}{suffix}", seconds / unit))
}

/// Seconds of numbers with units, each unit smaller than the one before: `None` if it is not of
/// that form, `Some(None)` if they do not fit.
fn with_units(text: &str) -> Option<Option<i64>> {
    let (mut sum, mut unit_before, mut rest) = (Some(0_i64), i64::MAX, text);
    while !rest.is_empty() {
        let end = rest.find(|character: char| !character.is_ascii_digit())?;
        let (digits, behind) = rest.split_at(end);
        let mut letters = behind.chars();
        let unit_seconds = match letters.next()? {
            's' => 1,
            'm' => MINUTE_SECONDS,
            'h' => HOUR_SECONDS,
            'd' => DAY_SECONDS,
            'w' => WEEK_SECONDS,
            _ => return None,
        };
        if unit_seconds >= unit_before {
            return None;
        }
        let part = number(digits)?.and_then(|count| count.checked_mul(unit_seconds));
        sum = sum.zip(part).and_then(|(sum, part)| sum.checked_add(part));
        (unit_before, rest) = (unit_seconds, letters.as_str());
    }
    Some(sum)
}

/// A number of ASCII digits: `None` if it is not one, `Some(None)` if it does not fit.
fn number(digits: &str) -> Option<Option<i64>> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse().ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn slurms_time_limit_forms_are_read() {
        // Computed by hand from the units that `man sbatch` gives for --time.
        for (text, seconds) in [
            ("10", 600),
            ("10:30", 630),
            ("2:10:30", 7_830),
            ("1-12", 129_600),
            ("1-12:30", 131_400),
            ("1-12:30:15", 131_415),
            ("90:00", 5_400),
            ("0", 0),
            (" 5 ", 300),
        ] {
            assert_eq!(parse(text), Ok(seconds), "{text}");
        }
    }

    #[test]
    fn suffixed_forms_are_read() {
        for (text, seconds) in
            [("30s", 30), ("10m", 600), ("2h", 7_200), ("90d", 7_776_000), ("1w", 604_800), ("1h30m", 5_400), ("1d2h3m4s", 93_784)]
        {
            assert_eq!(parse(text), Ok(seconds), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused_with_the_accepted_forms() {
        for text in [
            "",
            "-",
            "1-",
            "-1",
            ":",
            "1:",
            ":1",
            "1:2:3:4",
            "1-2:3:4:5",
            "1-2-3",
            "s",
            "1.5h",
            "ten",
            "+1",
            "1m1h",
            "1h1h",
            "1h30",
            "m",
            "1 0",
            "١",
            "1é",
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.to_string().contains("hours:minutes:seconds"), "{text}: {error}");
        }
    }

    #[test]
    fn a_duration_beyond_64_bits_is_refused() {
        let largest = i64::MAX.to_string();
        assert_eq!(parse(&format!("{largest}s")), Ok(i64::MAX));
        for text in [largest.clone(), format!("{largest}-0"), format!("{largest}:00:00"), "9223372036854775808s".into(), "9".repeat(400)] {
            assert!(matches!(parse(&text), Err(DurationError::TooLong { .. })), "{text}");
        }
    }

    #[test]
    fn seconds_are_written_as_squeue_shows_them() {
        for (seconds, text) in [(0, "0:00"), (45, "0:45"), (720, "12:00"), (3_661, "1:01:01"), (6_420, "1:47:00")] {
            assert_eq!(format(seconds), text);
        }
        assert_eq!(format(2 * DAY_SECONDS + 3 * HOUR_SECONDS), "2-03:00:00");
        assert_eq!(format(-60), "-1:00");
        assert_eq!(format(i64::MIN), "-106751991167300-15:30:08");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(seconds in 0..=i64::MAX) {
            prop_assert_eq!(parse(&format(seconds)), Ok(seconds));
        }

        #[test]
        fn any_text_is_read_or_refused_without_a_panic(text in "\\PC*|[0-9:smhdw-]{0,40}") {
            if let Ok(seconds) = parse(&text) {
                prop_assert!(seconds >= 0);
            }
        }
    }
}
