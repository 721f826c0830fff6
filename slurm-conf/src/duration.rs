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
     or a number with s, m, h, d or w, as in 90m";

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

    let suffix_seconds = match trimmed.as_bytes().last() {
        Some(b's') => Some(1),
        Some(b'm') => Some(MINUTE_SECONDS),
        Some(b'h') => Some(HOUR_SECONDS),
        Some(b'd') => Some(DAY_SECONDS),
        Some(b'w') => Some(WEEK_SECONDS),
        _ => None,
    };
    if let Some(unit_seconds) = suffix_seconds {
        let digits = trimmed.get(..trimmed.len().saturating_sub(1)).unwrap_or("");
        let count = number(digits).ok_or_else(wrong_form)?.ok_or_else(too_long)?;
        return count.checked_mul(unit_seconds).ok_or_else(too_long);
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

/// Writes seconds as Slurm shows a time limit: `[days-]hours:minutes:seconds`
/// (src/common/parse_time.c, `secs2time_str`).
///
/// A negative duration gets a leading minus sign, which [`parse`] does not read back.
///
/// ```
/// assert_eq!(slurm_conf::duration::format(93_784), "1-02:03:04");
/// ```
#[must_use]
pub fn format(seconds: i64) -> String {
    let mut text = String::new();
    if seconds < 0 {
        text.push('-');
    }
    let seconds = seconds.unsigned_abs();
    let (day, hour, minute) = (DAY_SECONDS.unsigned_abs(), HOUR_SECONDS.unsigned_abs(), MINUTE_SECONDS.unsigned_abs());
    if seconds >= day {
        let _ = write!(text, "{}-", seconds / day);
    }
    let _ = write!(text, "{:02}:{:02}:{:02}", seconds % day / hour, seconds % hour / minute, seconds % minute);
    text
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
        // By hand from the units that `man sbatch` gives for --time.
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
        for (text, seconds) in [("30s", 30), ("10m", 600), ("2h", 7_200), ("90d", 7_776_000), ("1w", 604_800)] {
            assert_eq!(parse(text), Ok(seconds), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused_with_the_accepted_forms() {
        for text in ["", "-", "1-", "-1", ":", "1:", ":1", "1:2:3:4", "1-2:3:4:5", "1-2-3", "s", "1.5h", "ten", "+1", "1h30m", "1 0", "١"]
        {
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
    fn seconds_are_written_as_slurm_shows_them() {
        assert_eq!(format(0), "00:00:00");
        assert_eq!(format(3_661), "01:01:01");
        assert_eq!(format(DAY_SECONDS), "1-00:00:00");
        assert_eq!(format(-60), "-00:01:00");
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
