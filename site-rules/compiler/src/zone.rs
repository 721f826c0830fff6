//! Time zones: when their clocks change, from the system's database.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use site_rules::calendar::Zone;

/// The moment until which changes of clocks are put down: the end of the year 2100, in Unix
/// seconds.
const END: i64 = 4_133_980_800;

/// A zone by its name in the time zone database, by an offset such as `+01:00`, or `local`, the
/// zone of this machine. It knows the changes of its clocks from 1970 to 2100.
///
/// # Errors
/// What was expected.
pub fn named(name: &str) -> Result<Zone, String> {
    let expected =
        || format!("{name:?} is not a time zone: use a name such as 'Europe/Berlin', an offset such as '+01:00', 'UTC', or 'local'");
    let zone = match name {
        "" | "UTC" => return Ok(Zone::default()),
        "local" => TimeZone::system(),
        _ if name.contains(':') => {
            return offset(name).map(|offset_before| Zone { offset_before, changes: Vec::new() }).ok_or_else(expected);
        }
        _ => TimeZone::get(name).map_err(|_| expected())?,
    };
    let offset_at = |at: Timestamp| zone.to_offset(at);
    let seconds = Offset::seconds;
    let end = Timestamp::from_second(END).unwrap_or(Timestamp::MAX);
    let mut changes: Vec<(i64, i32)> = Vec::new();
    let mut offset_now = seconds(offset_at(Timestamp::UNIX_EPOCH));
    let offset_before = offset_now;
    for change in zone.following(Timestamp::UNIX_EPOCH).take_while(|change| change.timestamp() < end) {
        let offset = seconds(change.offset());
        if offset != offset_now {
            changes.push((change.timestamp().as_second(), offset));
            offset_now = offset;
        }
    }
    Ok(Zone { offset_before, changes })
}

/// An offset such as `+01:00`, in seconds.
fn offset(text: &str) -> Option<i32> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => (-1, text),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (hours, minutes) = text.split_once(':')?;
    let hours: i32 = hours.parse().ok().filter(|hours| (0..24).contains(hours))?;
    let minutes: i32 = minutes.parse().ok().filter(|minutes| (0..60).contains(minutes))?;
    Some(sign * (hours * 3_600 + minutes * 60))
}
