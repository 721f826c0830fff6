//! How Slurm's commands write points in time: as the variable `SLURM_TIME_FORMAT` says
//! (src/common/parse_time.c, `slurm_make_time_str`).

use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use thiserror::Error;

/// The variable that Slurm's commands read the form from.
pub const VARIABLE: &str = "SLURM_TIME_FORMAT";

/// The form without the variable, for `strftime`.
const STANDARD: &str = "%Y-%m-%dT%H:%M:%S";

/// Slurm keeps a form of at most one byte less than this (`fmt_buf`).
const LONGEST_BYTES: usize = 32;

/// Why the variable's value is not used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{VARIABLE}: {text:?} is no form of a time: use `standard`, `relative`, or one for strftime of at most 31 bytes, as \"%a %T\"")]
pub struct TimeFormatError {
    /// The value, shortened.
    text: String,
}

/// How points in time are written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TimeFormat {
    /// `2026-03-27T14:30:20`.
    #[default]
    Standard,
    /// The shortest form that can be understood today: `14:30:20`, `Tomorr 08:00`, `Mon 08:00`,
    /// `20 Apr 08:00`, `20 Apr 2028`.
    Relative,
    /// A form for `strftime`.
    Custom(String),
}

impl TimeFormat {
    /// Reads the value of [`VARIABLE`]; an empty one counts as absent.
    ///
    /// # Errors
    /// [`TimeFormatError`] where Slurm would not take it either, or where it has a conversion that
    /// is not known.
    pub fn read(value: &str) -> Result<Self, TimeFormatError> {
        match value {
            "" | "standard" => Ok(Self::Standard),
            "relative" => Ok(Self::Relative),
            custom => {
                let is_form = custom.contains('%') && custom.len() < LONGEST_BYTES;
                // Whether all of its conversions are known can only be tried.
                let known = is_form && strtime::format(custom, &Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC)).is_ok();
                if known { Ok(Self::Custom(custom.to_owned())) } else { Err(TimeFormatError { text: job_types::text::shortened(custom) }) }
            }
        }
    }

    /// Writes a point in time, given in Unix seconds as `now` is, as a clock in `zone` shows it.
    /// One that no calendar has is written in Unix seconds.
    #[must_use]
    pub fn show(&self, at: i64, now: i64, zone: &TimeZone) -> String {
        let Ok(local) = Timestamp::from_second(at).map(|at| at.to_zoned(zone.clone())) else { return at.to_string() };
        let form = match self {
            Self::Standard => STANDARD,
            Self::Relative => relative(&local, now),
            Self::Custom(form) => form,
        };
        strtime::format(form, &local).unwrap_or_else(|_| at.to_string())
    }
}

/// The form of a time by its distance from today. Slurm takes a distance by years times a thousand
/// and days, so that around New Year's Eve tomorrow is a far day; here days are counted.
fn relative(local: &Zoned, now: i64) -> &'static str {
    let today = Timestamp::from_second(now).map(|now| now.to_zoned(local.time_zone().clone()).date());
    let days = today.ok().and_then(|today| today.until(local.date()).ok()).map(|distance| distance.get_days());
    match days {
        Some(-1) => "Ystday %H:%M",
        Some(0) => "%H:%M:%S",
        Some(1) => "Tomorr %H:%M",
        Some(2..=6) => "%a %H:%M",
        Some(-365..=365) => "%-d %b %H:%M",
        _ => "%-d %b %Y",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Friday 2026-03-27 14:30:20 in Berlin.
    const NOW: i64 = 1_774_618_220;
    const DAY: i64 = 86_400;

    fn berlin() -> TimeZone {
        TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap()
    }

    fn shown(form: &str, at: i64) -> String {
        TimeFormat::read(form).unwrap().show(at, NOW, &berlin())
    }

    #[test]
    fn the_standard_form_is_that_of_the_zone_without_its_name() {
        for form in ["", "standard"] {
            assert_eq!(shown(form, NOW), "2026-03-27T14:30:20");
        }
    }

    #[test]
    fn the_relative_form_is_shorter_the_nearer_the_day() {
        let far = [(0, "14:30:20"), (-1, "Ystday 14:30"), (1, "Tomorr 14:30"), (3, "Mon 15:30"), (7, "3 Apr 15:30"), (-30, "25 Feb 14:30")];
        for (days, text) in far {
            assert_eq!(shown("relative", NOW + days * DAY), text, "{days}");
        }
        assert_eq!(shown("relative", NOW + 400 * DAY), "1 May 2027");
    }

    #[test]
    fn tomorrow_is_tomorrow_on_new_years_eve_as_well() {
        // 2026-12-31 23:00 UTC, and two hours later.
        assert_eq!(TimeFormat::Relative.show(1_798_765_200, 1_798_758_000, &TimeZone::UTC), "Tomorr 01:00");
    }

    #[test]
    fn a_form_for_strftime_is_taken() {
        assert_eq!(shown("%a %T", NOW), "Fri 14:30:20");
        assert_eq!(shown("%s", NOW), NOW.to_string());
    }

    #[test]
    fn what_slurm_would_not_take_is_refused_with_what_is() {
        for wrong in ["now", "%Y%Y%Y%Y%Y%Y%Y%Y%Y%Y%Y%Y%Y%Y%Y%Y", "%!"] {
            let error = TimeFormat::read(wrong).unwrap_err().to_string();
            assert!(error.contains("SLURM_TIME_FORMAT") && error.contains("relative"), "{wrong}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_value_and_any_time_are_written_or_refused_without_a_panic(
            value in "\\PC{0,40}|(%[-_0^#]?[0-9]{0,3}[a-zA-Z+:]{1,2}){1,8}",
            at in any::<i64>(),
            now in any::<i64>(),
        ) {
            if let Ok(format) = TimeFormat::read(&value) {
                let _ = format.show(at, now, &berlin());
                let _ = format.show(NOW, now, &berlin());
            }
            let _ = TimeFormat::Relative.show(at, now, &berlin());
        }
    }
}
