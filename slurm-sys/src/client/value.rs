//! Values as they cross from C: minutes become seconds, text is UTF-8.

use std::borrow::Cow;
use std::ffi::{CStr, c_char};

use crate::sentinel;
pub(crate) use crate::sentinel::{moment, number};
use job_types::time::Seconds;

/// Text from C: `None` for null and for the empty string, which Slurm uses alike.
///
/// # Safety
/// `text` is null, or null-terminated and unchanged for `'a`.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Option<Cow<'a, str>> {
    if text.is_null() {
        return None;
    }
    // SAFETY: not null; the caller promises the rest.
    let text = unsafe { CStr::from_ptr(text) };
    (!text.is_empty()).then(|| text.to_string_lossy())
}

/// The most that is kept of a text that a user wrote, in bytes. slurmctld takes no longer ones but
/// of some fields that it does not look at (`container`) and of lists of nodes and of jobs
/// (`_test_strlen` in src/slurmctld/job_mgr.c).
pub const MOST_TEXT: usize = 8 << 10;

/// The first `most` bytes of a text from C, fewer where a character would be cut through.
///
/// # Safety
/// As [`text`].
pub(crate) unsafe fn start_of_text(text: *const c_char, most: usize) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // One more than is kept tells where the last character of those ends. What lies behind is not
    // looked at: some texts are as long as memory allows.
    // SAFETY: not null, and a string, as the caller promises.
    let length = unsafe { libc::strnlen(text, most.saturating_add(1)) };
    // SAFETY: so many bytes come before the string's end.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
    let is_inside = |place: &usize| bytes.get(*place).is_some_and(|byte| byte & 0xC0 == 0x80);
    let mut end = bytes.len().min(most);
    // A character has at most four bytes; what is no UTF-8 is cut anywhere.
    let boundary = (end.saturating_sub(3)..=end).rev().find(|place| !is_inside(place));
    end = boundary.unwrap_or(end);
    let start = bytes.get(..end).unwrap_or_default();
    (!start.is_empty()).then(|| String::from_utf8_lossy(start).into_owned())
}

/// Whether a text from C has a character at least.
///
/// # Safety
/// As [`text`].
pub(crate) unsafe fn has_text(text: *const c_char) -> bool {
    // SAFETY: where it is not null there is its end at least, as the caller promises.
    !text.is_null() && unsafe { *text } != 0
}

/// Text from C that is to outlive it.
///
/// # Safety
/// As [`text`].
pub(crate) unsafe fn owned_text(text: *const c_char) -> Option<String> {
    // SAFETY: the caller's promise, passed on.
    unsafe { self::text(text) }.map(Cow::into_owned)
}

/// A limit in minutes, as seconds. `None`: not set, or unlimited.
pub(super) fn limit_seconds(minutes: u32) -> Option<i64> {
    number(minutes).map(|minutes| i64::from(minutes) * 60)
}

/// A length of time as Slurm takes it, in minutes, rounded up, and at least one, as a reservation
/// of none is one without end.
pub(super) fn minutes(length: Seconds) -> u32 {
    sentinel::written(u32::try_from(length.minutes_rounded_up().max(1)).unwrap_or(u32::MAX))
}

/// How many tasks an array expression names: `0-9`, `1,3,5-9`, `0-31:4`, each perhaps with a limit
/// of running tasks `%2` behind it.
///
/// `None` where the expression is malformed or was cut short by libslurm, which then ends it with
/// three dots.
///
/// ```no_run
/// assert_eq!(slurm_sys::client::array_task_count("1,3,5-9%2"), Some(7));
/// ```
#[must_use]
pub fn array_task_count(expression: &str) -> Option<u32> {
    let tasks = expression.split_once('%').map_or(expression, |(tasks, _limit)| tasks);
    tasks.split(',').try_fold(0_u32, |sum, part| {
        let (range, step) = match part.split_once(':') {
            Some((range, step)) => (range, step.trim().parse::<u32>().ok().filter(|&step| step > 0)?),
            None => (part, 1),
        };
        let count = match range.split_once('-') {
            Some((first, last)) => {
                let first: u32 = first.trim().parse().ok()?;
                let last: u32 = last.trim().parse().ok()?;
                (last.checked_sub(first)? / step).checked_add(1)?
            }
            None => range.trim().parse::<u32>().ok().map(|_task| 1)?,
        };
        sum.checked_add(count)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings;

    #[test]
    fn lengths_are_rounded_up_to_minutes_and_are_never_unset_or_unlimited() {
        assert_eq!([0, 1, 60, 61].map(|seconds| minutes(Seconds(seconds))), [1, 1, 1, 2]);
        assert_eq!(minutes(Seconds(i64::MAX)), bindings::NO_VAL - 1);
    }
}
