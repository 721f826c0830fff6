//! Points in time as Slurm's commands print them, in the form that `SLURM_TIME_FORMAT` asks for
//! (src/common/parse_time.c, `slurm_make_time_str`).
//!
//! Only forms that mean one thing are read: year, month and day in this order or as day.month.year,
//! and Unix seconds. `relative` and forms such as 03/04/2026 are refused.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use thiserror::Error;

/// What [`read`] accepts, for messages.
pub const ACCEPTED_FORMS: &str = "a time as in 2026-03-27T14:30:00, or Unix seconds (SLURM_TIME_FORMAT=%s)";

/// A text is no time in a form that means one thing, or names one that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("not {ACCEPTED_FORMS}")]
pub struct NoPrintedMoment;

/// Reads a point in time as Slurm printed it; Unix seconds, or `None` where Slurm says that there
/// is none (`Unknown`, `None`, `N/A`, nothing).
///
/// `zone` is the time zone of the machine on which it was printed. Of a time that a change of
/// clocks makes happen twice the first is meant, one that it skips moves forward.
///
/// ```
/// use jiff::tz::TimeZone;
/// use slurm_conf::printed::read;
///
/// assert_eq!(read("2026-11-23T17:10:13", &TimeZone::UTC), Ok(Some(1_795_453_813)));
/// assert_eq!(read("1795453813", &TimeZone::UTC), Ok(Some(1_795_453_813)));
/// assert_eq!(read("Unknown", &TimeZone::UTC), Ok(None));
/// ```
///
/// # Errors
/// [`NoPrintedMoment`] for any other text.
pub fn read(text: &str, zone: &TimeZone) -> Result<Option<i64>, NoPrintedMoment> {
    let text = text.trim();
    if ["", "Unknown", "None", "N/A"].contains(&text) {
        return Ok(None);
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        // Slurm keeps a moment that it does not know as 0.
        let seconds: i64 = text.parse().map_err(|_| NoPrintedMoment)?;
        return if seconds < LAST_SECOND { Ok(Some(seconds).filter(|seconds| *seconds > 0)) } else { Err(NoPrintedMoment) };
    }
    civil(text, zone).ok_or(NoPrintedMoment).map(Some)
}

/// The end of the year 9999, beyond which no calendar of ours reaches.
const LAST_SECOND: i64 = 253_402_207_200;

fn civil(text: &str, zone: &TimeZone) -> Option<i64> {
    let (date, clock) = text.split_once(['T', ' '])?;
    let ordered = match date.split('.').collect::<Vec<_>>()[..] {
        [day, month, year] => format!("{year}-{month}-{day}"),
        _ => date.replace('/', "-"),
    };
    let text = format!("{ordered}T{}", clock.trim());
    let at = text.parse::<Timestamp>().or_else(|_| text.parse::<DateTime>().and_then(|time| zone.to_timestamp(time))).ok()?;
    Some(at.as_second())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_moment_is_read_in_each_form_that_means_one_thing() {
        for text in [
            "2026-11-23T17:10:13",
            "2026-11-23 17:10:13",
            "2026/11/23 17:10:13",
            "23.11.2026 17:10:13",
            "2026-11-23T18:10:13+0100",
            "2026-11-23T18:10:13+01:00",
            "2026-11-23T17:10:13Z",
            "1795453813",
        ] {
            assert_eq!(read(text, &TimeZone::UTC), Ok(Some(1_795_453_813)), "{text}");
        }
        let zone = TimeZone::fixed(jiff::tz::offset(-8));
        assert_eq!(read("2026-11-23T09:10:13", &zone), Ok(Some(1_795_453_813)));
        assert_eq!(read("2026-11-23T17:10", &TimeZone::UTC), Ok(Some(1_795_453_800)));
    }

    #[test]
    fn what_slurm_prints_for_no_moment_is_none() {
        for text in ["Unknown", "None", "N/A", "", "0"] {
            assert_eq!(read(text, &TimeZone::UTC), Ok(None), "{text}");
        }
    }

    #[test]
    fn a_form_that_may_mean_two_things_is_refused() {
        for text in [
            "17:10:13",
            "Tomorr 12:30",
            "23 Nov 17:10",
            "11/23/2026 17:10",
            "11/23-17:10:13",
            "2026-13-01T00:00:00",
            "26-11-23T17:10:13",
            "soon",
            "99999999999999",
        ] {
            assert_eq!(read(text, &TimeZone::UTC), Err(NoPrintedMoment), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_without_a_panic(text in "\\PC*|[0-9T:+Z ./-]{0,30}") {
            let _ = read(&text, &TimeZone::UTC);
        }

        #[test]
        fn what_slurm_prints_is_read_back(seconds in 1_i64..4_102_444_800) {
            let printed = jiff::Timestamp::from_second(seconds).unwrap().to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%S").to_string();
            prop_assert_eq!(read(&printed, &TimeZone::UTC), Ok(Some(seconds)));
        }
    }
}
