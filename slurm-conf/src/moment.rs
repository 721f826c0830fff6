//! Points in time as Slurm's `--begin` and `--deadline` take them (src/common/parse_time.c,
//! `parse_time`).
//!
//! A text is a date, a time of day, or both, separated by blanks, `T` or `-`; or `now` with an
//! offset; or Unix seconds.

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use thiserror::Error;

use crate::duration::{DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS, WEEK_SECONDS};

/// What [`parse`] accepts, for messages and help texts.
pub const ACCEPTED_FORMS: &str = "HH:MM[:SS] [AM|PM], YYYY-MM-DD[THH:MM[:SS]], MM/DD[/YY], MM.DD[.YY] or MMDD[YY] with or without a time of day, \
     now[+count[seconds|minutes|hours|days|weeks]], today, tomorrow, midnight, elevenses, noon, fika, teatime, uts<Unix seconds> \
     or @<Unix seconds>";

/// Smallest Unix time that `uts` takes, as in Slurm: below it a number is rather a mistake.
const EARLIEST_UNIX_SECONDS: i64 = 1_000_000;

/// Why a text is not a point in time.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MomentError {
    /// The text has none of the accepted forms.
    #[error("{text:?} is not a time: use {ACCEPTED_FORMS}")]
    Form {
        /// The text, shortened.
        text: String,
    },
    /// The text has a right form but names a day or a time that does not exist or cannot be
    /// represented.
    #[error("{text:?} names a time that does not exist")]
    NoSuchTime {
        /// The text, shortened.
        text: String,
    },
}

/// Reads a point in time in any of [`ACCEPTED_FORMS`]; returns Unix seconds.
///
/// As in Slurm, a time of day without a date is the next such time by the minute (today if its
/// minute is later than that of `now`, else tomorrow), a date without a time of day is its
/// midnight, and a date without a year is the next such date. A time that a change of clocks skips
/// moves forward by what was skipped; one that happens twice is the first.
///
/// `now` is in Unix seconds; `zone` is the time zone of the person who wrote the text.
///
/// # Errors
/// [`MomentError`] names the text and the accepted forms. A time before `now` is no error here.
pub fn parse(text: &str, now: i64, zone: &TimeZone) -> Result<i64, MomentError> {
    let error = |fault| match fault {
        Fault::Form => MomentError::Form { text: job_types::text::shortened(text) },
        Fault::NoSuchTime => MomentError::NoSuchTime { text: job_types::text::shortened(text) },
    };
    let mut rest = Rest { text: text.trim() };
    if rest.keyword("uts") || rest.keyword("@") {
        return unix_seconds(rest.text).ok_or_else(|| error(Fault::Form));
    }
    if rest.keyword("now") {
        return offset_from_now(rest, now).map_err(error);
    }
    day_and_time(rest).and_then(|written| resolved(&written, now, zone)).map_err(error)
}

enum Fault {
    Form,
    NoSuchTime,
}

fn unix_seconds(digits: &str) -> Option<i64> {
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|&seconds| (EARLIEST_UNIX_SECONDS..=Timestamp::MAX.as_second()).contains(&seconds))
}

/// What follows `now`: nothing, or a sign, a count and a unit, with blanks between them.
fn offset_from_now(mut rest: Rest<'_>, now: i64) -> Result<i64, Fault> {
    rest.skip_blanks();
    if rest.text.is_empty() {
        return Ok(now);
    }
    let forward = rest.keyword("+");
    if !forward && !rest.keyword("-") {
        return Err(Fault::Form);
    }
    rest.skip_blanks();
    let digits = rest.digits(usize::MAX);
    if digits.is_empty() {
        return Err(Fault::Form);
    }
    let count: i64 = digits.parse().map_err(|_| Fault::NoSuchTime)?;
    rest.skip_blanks();
    let unit_seconds = match rest.text.to_ascii_lowercase().as_str() {
        "" | "second" | "seconds" => 1,
        "minute" | "minutes" => MINUTE_SECONDS,
        "hour" | "hours" => HOUR_SECONDS,
        "day" | "days" => DAY_SECONDS,
        "week" | "weeks" => WEEK_SECONDS,
        _ => return Err(Fault::Form),
    };
    let offset = count.checked_mul(unit_seconds).ok_or(Fault::NoSuchTime)?;
    let moment = if forward { now.checked_add(offset) } else { now.checked_sub(offset) };
    moment.filter(|&seconds| Timestamp::from_second(seconds).is_ok()).ok_or(Fault::NoSuchTime)
}

/// A date as written: the year may be left out.
struct WrittenDate {
    year: Option<i16>,
    month: i8,
    day: i8,
}

/// What a text says of the day and of the time of day.
#[derive(Default)]
struct Written {
    day: Option<WrittenDay>,
    time: Option<Time>,
}

/// A day as written.
enum WrittenDay {
    Today,
    Tomorrow,
    Date(WrittenDate),
}

/// Whether a text that [`parse`] reads is a time of day alone, which is on no day by itself.
pub(crate) fn is_time_of_day(text: &str) -> bool {
    let rest = Rest { text: text.trim() };
    matches!(day_and_time(rest), Ok(Written { day: None, time: Some(_) }))
}

fn day_and_time(mut rest: Rest<'_>) -> Result<Written, Fault> {
    let mut written = Written::default();
    loop {
        let (mut new_day, mut new_time) = (None, None);
        if rest.keyword("today") {
            new_day = Some(WrittenDay::Today);
        } else if rest.keyword("tomorrow") {
            new_day = Some(WrittenDay::Tomorrow);
        } else if let Some(hour) = rest.named_hour() {
            new_time = Some(Time::constant(hour, 0, 0, 0));
        } else if rest.starts_a_time() {
            new_time = Some(rest.time_of_day()?);
        } else {
            new_day = Some(WrittenDay::Date(rest.date()?));
        }
        if (new_day.is_some() && written.day.is_some()) || (new_time.is_some() && written.time.is_some()) {
            return Err(Fault::Form);
        }
        written = Written { day: written.day.or(new_day), time: written.time.or(new_time) };
        if rest.text.is_empty() {
            return Ok(written);
        }
        if !rest.skip_separators() {
            return Err(Fault::Form);
        }
    }
}

fn resolved(written: &Written, now: i64, zone: &TimeZone) -> Result<i64, Fault> {
    let local_now = Timestamp::from_second(now).map_err(|_| Fault::NoSuchTime)?.to_zoned(zone.clone()).datetime();
    let today = local_now.date();
    let tomorrow = || today.tomorrow().map_err(|_| Fault::NoSuchTime);
    let now_by_the_minute = (local_now.hour(), local_now.minute());
    let time_of_day = written.time.unwrap_or(Time::midnight());
    let later_in_the_day = (time_of_day.hour(), time_of_day.minute()) > now_by_the_minute;
    let day = match written.day {
        None if later_in_the_day => today,
        Some(WrittenDay::Today) => today,
        None | Some(WrittenDay::Tomorrow) => tomorrow()?,
        Some(WrittenDay::Date(WrittenDate { year: Some(year), month, day })) => {
            Date::new(year, month, day).map_err(|_| Fault::NoSuchTime)?
        }
        Some(WrittenDay::Date(WrittenDate { year: None, month, day })) => {
            let written = (month, day);
            let this_year = (today.month(), today.day());
            let is_ahead = written > this_year || (written == this_year && later_in_the_day);
            let year = today.year().saturating_add(i16::from(!is_ahead));
            Date::new(year, month, day).map_err(|_| Fault::NoSuchTime)?
        }
    };
    zone.to_ambiguous_timestamp(day.to_datetime(time_of_day)).compatible().map(Timestamp::as_second).map_err(|_| Fault::NoSuchTime)
}

/// What is still to be read of a text.
struct Rest<'text> {
    text: &'text str,
}

impl<'text> Rest<'text> {
    /// Takes `word`, whatever its case, if the text goes on with it.
    fn keyword(&mut self, word: &str) -> bool {
        match self.text.get(..word.len()) {
            Some(start) if start.eq_ignore_ascii_case(word) => {
                self.text = self.text.get(word.len()..).unwrap_or("");
                true
            }
            _ => false,
        }
    }

    /// Takes up to `most` ASCII digits.
    fn digits(&mut self, most: usize) -> &'text str {
        let count = self.text.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.text.split_at_checked(count).unwrap_or(("", self.text));
        self.text = rest;
        digits
    }

    fn skip_blanks(&mut self) {
        self.text = self.text.trim_start_matches([' ', '\t']);
    }

    /// Takes what stands between a date and a time; false if there is nothing of it.
    fn skip_separators(&mut self) -> bool {
        // The T of a timestamp stands before a digit, so that it is never taken from "tomorrow".
        let is_t = |text: &str| matches!(text.as_bytes(), [b'T' | b't', b'0'..=b'9', ..]);
        let before = self.text.len();
        self.text = self.text.trim_start_matches([' ', '\t', '-']);
        if is_t(self.text) {
            self.text = self.text.get(1..).unwrap_or("");
        }
        self.text.len() < before
    }

    /// The hour of a time of day that has a name.
    fn named_hour(&mut self) -> Option<i8> {
        [("midnight", 0), ("elevenses", 11), ("noon", 12), ("fika", 15), ("teatime", 16)]
            .into_iter()
            .find_map(|(name, hour)| self.keyword(name).then_some(hour))
    }

    fn starts_a_time(&self) -> bool {
        matches!(self.text.as_bytes(), [b'0'..=b'9', b':', ..] | [b'0'..=b'9', b'0'..=b'9', b':', ..])
    }

    /// `HH:MM[:SS]`, with `AM` or `PM` after it if the hour is one of twelve.
    fn time_of_day(&mut self) -> Result<Time, Fault> {
        let hour = self.number(1..=2)?;
        if !self.keyword(":") {
            return Err(Fault::Form);
        }
        let minute = self.number(2..=2)?;
        let second = if self.keyword(":") { self.number(2..=2)? } else { 0 };
        let after_the_clock = self.text;
        self.skip_blanks();
        let hour = if self.keyword("pm") {
            match hour {
                0..=11 => hour + 12,
                12 => 12,
                _ => return Err(Fault::NoSuchTime),
            }
        } else if self.keyword("am") {
            match hour {
                0..=11 => hour,
                12 => 0,
                _ => return Err(Fault::NoSuchTime),
            }
        } else {
            self.text = after_the_clock;
            hour
        };
        Time::new(hour, minute, second, 0).map_err(|_| Fault::NoSuchTime)
    }

    /// `YYYY-MM-DD`, or month and day with `/`, `.` or nothing between them and perhaps a year of
    /// two digits.
    fn date(&mut self) -> Result<WrittenDate, Fault> {
        if let [b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b'-', ..] = self.text.as_bytes() {
            let year = self.digits(4).parse().map_err(|_| Fault::Form)?;
            self.keyword("-");
            let month = self.number(1..=2)?;
            if !self.keyword("-") {
                return Err(Fault::Form);
            }
            return Ok(WrittenDate { year: Some(year), month, day: self.number(1..=2)? });
        }
        let month = self.number(1..=2)?;
        let _ = self.keyword("/") || self.keyword(".");
        let day = self.number(1..=2)?;
        let year_must_follow = self.keyword("/") || self.keyword(".");
        let year = match self.digits(2) {
            "" if !year_must_follow => None,
            digits if digits.len() == 2 => Some(2_000 + digits.parse::<i16>().map_err(|_| Fault::Form)?),
            _ => return Err(Fault::Form),
        };
        if year.is_none() {
            // A leap year has every day that some year has; whether the year in question has it is
            // seen later.
            Date::new(2_000, month, day).map_err(|_| Fault::NoSuchTime)?;
        }
        Ok(WrittenDate { year, month, day })
    }

    /// A number of so many digits, at most two.
    fn number(&mut self, digits: std::ops::RangeInclusive<usize>) -> Result<i8, Fault> {
        let text = self.digits(*digits.end());
        if !digits.contains(&text.len()) {
            return Err(Fault::Form);
        }
        text.parse().map_err(|_| Fault::Form)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Friday 2026-03-27 14:30:20 in Berlin, two days before its clocks go forward.
    const NOW: i64 = 1_774_618_220;

    fn berlin() -> TimeZone {
        TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap()
    }

    /// Reads `text` and shows the result as the clock in Berlin does.
    fn shown(text: &str) -> String {
        match parse(text, NOW, &berlin()) {
            Ok(moment) => Timestamp::from_second(moment).unwrap().to_zoned(berlin()).datetime().to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_test_clock_is_right() {
        assert_eq!(shown("now"), "2026-03-27T14:30:20");
    }

    #[test]
    fn a_time_of_day_is_the_next_one() {
        assert_eq!(shown("18:00"), "2026-03-27T18:00:00");
        assert_eq!(shown("9:05:07"), "2026-03-28T09:05:07");
        assert_eq!(shown("14:30"), "2026-03-28T14:30:00");
        assert_eq!(shown("14:31"), "2026-03-27T14:31:00");
        assert_eq!(shown("6:00 PM"), "2026-03-27T18:00:00");
        assert_eq!(shown("12:15am"), "2026-03-28T00:15:00");
        assert_eq!(shown("12:15PM"), "2026-03-28T12:15:00");
    }

    #[test]
    fn a_date_is_its_midnight_unless_a_time_follows() {
        for text in ["2026-04-02", "04/02/26", "04.02.26", "040226", "04/02", "0402", "4/2"] {
            assert_eq!(shown(text), "2026-04-02T00:00:00", "{text}");
        }
        for text in ["2026-04-02T18:20", "2026-04-02 18:20", "04/02/26-18:20", "4/2 6:20pm", "18:20 2026-04-02"] {
            assert_eq!(shown(text), "2026-04-02T18:20:00", "{text}");
        }
        assert_eq!(shown("2026-04-02T18:20:33"), "2026-04-02T18:20:33");
    }

    #[test]
    fn a_date_without_a_year_is_the_next_one() {
        assert_eq!(shown("03/26"), "2027-03-26T00:00:00");
        assert_eq!(shown("03/27"), "2027-03-27T00:00:00");
        assert_eq!(shown("03/27-15:00"), "2026-03-27T15:00:00");
    }

    #[test]
    fn words_are_read_whatever_their_case() {
        assert_eq!(shown("today"), "2026-03-27T00:00:00");
        assert_eq!(shown("Tomorrow"), "2026-03-28T00:00:00");
        assert_eq!(shown("midnight"), "2026-03-28T00:00:00");
        assert_eq!(shown("elevenses"), "2026-03-28T11:00:00");
        assert_eq!(shown("noon"), "2026-03-28T12:00:00");
        assert_eq!(shown("fika"), "2026-03-27T15:00:00");
        assert_eq!(shown("TEATIME"), "2026-03-27T16:00:00");
        assert_eq!(shown("tomorrow teatime"), "2026-03-28T16:00:00");
        assert_eq!(shown("tomorrow-08:00"), "2026-03-28T08:00:00");
        assert_eq!(shown("noon tomorrow"), "2026-03-28T12:00:00");
    }

    #[test]
    fn now_takes_an_offset() {
        for (text, offset_seconds) in [
            ("now", 0),
            ("now+60", 60),
            ("now + 60", 60),
            ("now+1hour", 3_600),
            ("now+2hours", 7_200),
            ("now+5 minutes", 300),
            ("now+1day", 86_400),
            ("now+2WEEKS", 1_209_600),
            ("now-10minutes", -600),
        ] {
            assert_eq!(parse(text, NOW, &berlin()), Ok(NOW + offset_seconds), "{text}");
        }
    }

    #[test]
    fn unix_seconds_are_read() {
        assert_eq!(parse("uts1774618220", 0, &berlin()), Ok(NOW));
        assert_eq!(parse("@1774618220", 0, &berlin()), Ok(NOW));
        assert!(parse("@12", NOW, &berlin()).is_err());
        assert!(parse("@99999999999999999999", NOW, &berlin()).is_err());
        assert!(parse("@", NOW, &berlin()).is_err());
        assert!(parse("@+1774618220", NOW, &berlin()).is_err());
    }

    #[test]
    fn a_time_that_the_clocks_skip_moves_forward() {
        // The clocks in Berlin go from 02:00 to 03:00 on 2026-03-29.
        assert_eq!(shown("2026-03-29T02:30"), "2026-03-29T03:30:00");
    }

    #[test]
    fn other_texts_are_refused_with_the_accepted_forms() {
        for text in [
            "",
            " ",
            "soon",
            "18",
            "18:0",
            ":30",
            "25-12",
            "2026-4",
            "2026-04-",
            "04/02/2",
            "now+",
            "now+h",
            "now+1fortnight",
            "now60",
            "nowish",
            "18:00 19:00",
            "today tomorrow",
            "2026-04-02T",
            "T18:00",
            "18:00Z",
            "04/02/26/",
            "todaytomorrow",
            "noonnoon",
            "ü",
            "18:00 ü",
        ] {
            let error = shown(text);
            assert!(error.contains("is not a time") && error.contains("YYYY-MM-DD"), "{text}: {error}");
        }
    }

    #[test]
    fn days_and_times_that_do_not_exist_are_refused() {
        for text in [
            "24:00",
            "18:60",
            "13:00pm",
            "13:00 am",
            "2026-02-29",
            "02/30",
            "0/1",
            "1301",
            "now+99999999999999",
            "now+99999999999999999999",
        ] {
            assert!(shown(text).contains("does not exist"), "{text}: {}", shown(text));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_without_a_panic(
            text in "\\PC{0,40}|[0-9:/. TAPMapm-]{0,24}|(now|uts|@)[+ -]?[0-9]{0,22}[a-z]{0,8}",
            now in any::<i64>(),
        ) {
            let _ = parse(&text, now, &berlin());
            let _ = parse(&text, NOW, &berlin());
        }

        #[test]
        fn a_written_local_time_is_read_back(seconds in 0..4_000_000_000_i64) {
            // The hour that happens twice each autumn has one name for two times; UTC has none
            // such.
            let text = Timestamp::from_second(seconds).unwrap().to_zoned(TimeZone::UTC).datetime().to_string();
            prop_assert_eq!(parse(&text, NOW, &TimeZone::UTC), Ok(seconds));
        }
    }
}
