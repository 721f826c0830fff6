//! What became of a reservation that was given.

use job_types::options::Mode;
use job_types::record::{Record, Written};
use job_types::time::UnixTime;

/// What was written into a job that has a reservation; `None` for any other job, and where the mode
/// kept the reservation from being written or the promise has ended before its time.
#[must_use]
pub fn written_reservation(record: &Record) -> Option<(&Written, UnixTime)> {
    let is_promised = record.mode == Mode::Enforce && record.end_of_promise().is_none();
    let written = record.written.as_ref().filter(|_| is_promised)?;
    Some((written, UnixTime(written.reserved_at?)))
}

/// Whether a reservation was kept: the job had its nodes by the reserved time. `until` is when it
/// ended or, where it has not, the present. `None` where that is open, or will stay so because the
/// job was cancelled before its time without a start.
#[must_use]
pub fn was_kept(reserved: UnixTime, started: Option<UnixTime>, until: UnixTime) -> Option<bool> {
    match started {
        Some(started) => Some(started <= reserved),
        None => (until > reserved).then_some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESERVED: UnixTime = UnixTime(1_000);

    #[test]
    fn it_is_kept_by_a_start_until_the_very_second() {
        let started_at = |started| was_kept(RESERVED, Some(UnixTime(started)), UnixTime(5_000));
        assert_eq!((started_at(10), started_at(1_000), started_at(1_001)), (Some(true), Some(true), Some(false)));
    }

    #[test]
    fn without_a_start_it_is_open_until_its_time_and_missed_from_then_on() {
        assert_eq!((was_kept(RESERVED, None, RESERVED), was_kept(RESERVED, None, UnixTime(1_001))), (None, Some(false)));
    }
}
