//! Reads which job a modification names, as slurmctld does (`update_job_str` in
//! src/slurmctld/job_mgr.c), so that no spelling hides a job from rules that look at it.

use crate::resources::array_range;

/// What a modification names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// A job, an array, or all components of a heterogeneous job, by the first one's number.
    Job(u32),
    /// One task of an array.
    Task(u32, u32),
    /// Several tasks of an array.
    Tasks(u32),
    /// A component of a heterogeneous job, by the first one's number and its own place.
    Component(u32, u32),
}

/// Reads a name; `None` where slurmctld refuses it. A number is cut to 32 bits, as it is there.
#[must_use]
pub fn read(text: &[u8]) -> Option<Named> {
    let (number, rest) = long(text);
    let job = Some(number).filter(|number| *number > 0 && *number != i64::MAX)? as u32;
    match rest.split_first() {
        None => Some(Named::Job(job)),
        Some((b'+', component)) => {
            let (place, rest) = long(component);
            let is_read = place >= 0 && place != i64::MAX && rest.is_empty();
            is_read.then_some(Named::Component(job, place as u32))
        }
        Some((b'_', tasks)) => {
            let tasks = str::from_utf8(tasks).ok()?;
            let mut ranges = tasks.split(',').filter(|part| !part.is_empty()).map(array_range);
            let (first, last, step) = ranges.next()??;
            let is_one =
                last - first < step && ranges.all(|range| range.is_some_and(|range| range.0 == first && range.1 - first < range.2));
            Some(if is_one { Named::Task(job, u32::try_from(first).ok()?) } else { Named::Tasks(job) })
        }
        Some(_) => None,
    }
}

/// A number as `strtol` reads it, no further from 0 than fits, and what stands behind it. Without
/// digits it is 0 and nothing is read.
fn long(text: &[u8]) -> (i64, &[u8]) {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let start = text.iter().position(|byte| !is_space(byte)).unwrap_or(text.len());
    let (_, unsigned) = text.split_at(start);
    let (is_negative, unsigned) = match unsigned.split_first() {
        Some((sign @ (b'+' | b'-'), rest)) => (*sign == b'-', rest),
        _ => (false, unsigned),
    };
    let end = unsigned.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(unsigned.len());
    if end == 0 {
        return (0, text);
    }
    let (digits, rest) = unsigned.split_at(end);
    let number = digits.iter().fold(0_i64, |number, digit| number.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    (if is_negative { -number } else { number }, rest)
}
