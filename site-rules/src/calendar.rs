//! The parts of a moment, such as its hour or its day of the week, in a time zone.

use job_types::time::UnixTime;
use serde::{Deserialize, Serialize};

/// Seconds in a day.
const DAY: i64 = 86_400;

/// The first and the last moment that CEL's timestamps have: the beginning of the year 1 and the
/// end of the year 9999.
pub const MOMENTS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// The longest duration that CEL's have, forwards or backwards: 2^63 nanoseconds, in whole seconds.
pub const LONGEST_DURATION: i64 = 9_223_372_036;

/// A part of a moment. Numbers begin where CEL has them begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// The year, such as 2026.
    Year,
    /// The month from 0 for January.
    Month,
    /// The day of the month from 1.
    Date,
    /// The day of the month from 0.
    DayOfMonth,
    /// The day of the week from 0 for Sunday.
    DayOfWeek,
    /// The day of the year from 0.
    DayOfYear,
    /// The hour from 0 to 23.
    Hours,
    /// The minute.
    Minutes,
    /// The second.
    Seconds,
    /// The milliseconds of the second: always 0, as Slurm counts whole seconds.
    Milliseconds,
}

/// A time zone: how far its clocks are ahead of UTC, and from when on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zone {
    /// What clocks were ahead by before the first change, in seconds.
    pub offset_before: i32,
    /// When the offset changed, in Unix seconds and ascending, and the offset from then on in
    /// seconds.
    pub changes: Vec<(i64, i32)>,
}

impl Zone {
    /// How far clocks are ahead of UTC at a moment, in seconds.
    #[must_use]
    pub fn offset(&self, at: UnixTime) -> i64 {
        let behind = self.changes.partition_point(|(from, _)| *from <= at.0);
        let offset = behind.checked_sub(1).and_then(|place| self.changes.get(place)).map_or(self.offset_before, |(_, offset)| *offset);
        i64::from(offset)
    }

    /// Whether [`Zone::offset`] can rely on it.
    #[must_use]
    pub fn is_well_formed(&self) -> bool {
        self.changes.is_sorted_by(|one, next| one.0 < next.0)
    }
}

/// A date of the Gregorian calendar, also before it came into use.
struct Date {
    year: i64,
    /// The month, from 1.
    month: i64,
    /// The day of the month, from 1.
    day: i64,
}

/// The date of a day by its number, where 1970-01-01 is 0. The algorithm counts in eras of 400
/// years that begin in March, so that a leap day is the last of its year.
fn date_of(day_number: i64) -> Date {
    let shifted = day_number.saturating_add(719_468);
    let day_of_era = shifted.rem_euclid(146_097);
    let era = shifted.div_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    Date { year: era * 400 + year_of_era + i64::from(month <= 2), month, day }
}

/// How many days a year has before one of its months, which is counted from 1.
fn days_before(month: i64, year: i64) -> i64 {
    let of_common_year = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let days = usize::try_from(month - 1).ok().and_then(|month| of_common_year.get(month).copied()).unwrap_or(0);
    let is_leap_year = year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0);
    days + i64::from(is_leap_year && month > 2)
}

/// A part of a moment as clocks and calendars in a zone show it.
#[must_use]
pub fn part_of(at: UnixTime, zone: &Zone, part: Part) -> i64 {
    let local = at.0.saturating_add(zone.offset(at));
    let day_number = local.div_euclid(DAY);
    let second = local.rem_euclid(DAY);
    let date = || date_of(day_number);
    match part {
        Part::Year => date().year,
        Part::Month => date().month - 1,
        Part::Date => date().day,
        Part::DayOfMonth => date().day - 1,
        // 1970-01-01 was a Thursday.
        Part::DayOfWeek => day_number.saturating_add(4).rem_euclid(7),
        Part::DayOfYear => {
            let date = date();
            days_before(date.month, date.year) + date.day - 1
        }
        Part::Hours => second / 3_600,
        Part::Minutes => second / 60 % 60,
        Part::Seconds => second % 60,
        Part::Milliseconds => 0,
    }
}

/// A moment in UTC as RFC 3339 has it, such as `2026-11-23T09:10:00Z`.
#[derive(Clone, Copy, Debug)]
pub struct Rfc3339(pub UnixTime);

impl std::fmt::Display for Rfc3339 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let date = date_of(self.0.0.div_euclid(DAY));
        let second = self.0.0.rem_euclid(DAY);
        let (hours, minutes, seconds) = (second / 3_600, second / 60 % 60, second % 60);
        write!(f, "{:04}-{:02}-{:02}T{hours:02}:{minutes:02}:{seconds:02}Z", date.year, date.month, date.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_known_moments() {
        // The parts were computed by `date -u -d @N '+%Y %m %d %w %j %H'`.
        let utc = Zone::default();
        let parts = [Part::Year, Part::Month, Part::Date, Part::DayOfWeek, Part::DayOfYear, Part::Hours];
        for (moment, expected) in [
            (0, [1970, 0, 1, 4, 0, 0]),
            (951_782_400, [2000, 1, 29, 2, 59, 0]),
            (1_795_425_000, [2026, 10, 23, 1, 326, 9]),
            (-1, [1969, 11, 31, 3, 364, 23]),
        ] {
            assert_eq!(parts.map(|part| part_of(UnixTime(moment), &utc, part)), expected, "{moment}");
        }
        assert_eq!(Rfc3339(UnixTime(1_795_425_000)).to_string(), "2026-11-23T09:10:00Z");
    }

    #[test]
    fn a_zone_changes_its_clocks() {
        // Berlin goes from two hours ahead of UTC to one at 2026-10-25 01:00 UTC.
        let zone = Zone { offset_before: 3_600, changes: vec![(1_774_746_000, 7_200), (1_792_890_000, 3_600)] };
        assert_eq!(
            [1_774_745_999, 1_774_746_000, 1_792_889_999, 1_792_890_000].map(|at| zone.offset(UnixTime(at))),
            [3_600, 7_200, 7_200, 3_600]
        );
        assert_eq!(part_of(UnixTime(1_792_889_999), &zone, Part::Hours), 2);
        assert_eq!(part_of(UnixTime(1_792_890_000), &zone, Part::Hours), 2);
    }
}
