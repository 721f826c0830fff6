//! What became of a virtual reservation, as the job's record and its times tell it.

use job_types::promise::{Promise, PromisedReservation, state_of_reservation};
use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};

/// What became of a virtual reservation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PromiseOutcome {
    /// The probability that was wanted, 0 to 1.
    pub wanted: f64,
    /// How far ahead the reserved time was when it was given.
    pub ahead: Seconds,
    /// Whether the job had its nodes by then.
    pub is_kept: bool,
}

impl PromiseOutcome {
    /// The outcome for a job that has ended, by its `admin_comment`; `None` where it had no
    /// reservation, or left the queue before its time without having started.
    #[must_use]
    pub fn read(admin_comment: &str, start: Option<UnixTime>, end: UnixTime) -> Option<PromiseOutcome> {
        let (wanted, PromisedReservation { given_at, at, .. }) = promised(admin_comment)?;
        PromiseOutcome::of(wanted, given_at, at, start, end)
    }

    /// The outcome for a job that waits or runs at `now`, by its `admin_comment`; `None` before its
    /// time has passed.
    #[must_use]
    pub fn read_live(admin_comment: &str, start: Option<UnixTime>, now: UnixTime) -> Option<PromiseOutcome> {
        let (wanted, PromisedReservation { given_at, at, .. }) = promised(admin_comment)?;
        PromiseOutcome::of_live(wanted, given_at, at, start, now)
    }

    /// The outcome of a reservation that was given at a time for a job that started, or left the
    /// queue, at others.
    #[must_use]
    pub fn of(wanted: f64, given: UnixTime, at: UnixTime, start: Option<UnixTime>, end: UnixTime) -> Option<PromiseOutcome> {
        let is_kept = state_of_reservation(at, start, Some(end), end).is_kept()?;
        Some(PromiseOutcome { wanted, ahead: at - given, is_kept })
    }

    /// Returns the outcome for a job that waits or runs at `now`. Until its reserved time has
    /// passed the outcome counts as open, although a job that has its nodes will keep its promise:
    /// it would be learnt before the misses of the same time, and promises would look better kept
    /// than they are.
    #[must_use]
    pub fn of_live(wanted: f64, given: UnixTime, at: UnixTime, start: Option<UnixTime>, now: UnixTime) -> Option<PromiseOutcome> {
        if now > at { PromiseOutcome::of(wanted, given, at, start, now) } else { None }
    }
}

/// The reservation in a job's `admin_comment`, and the probability that was wanted of it.
fn promised(admin_comment: &str) -> Option<(f64, PromisedReservation)> {
    let reservation = Promise::read(admin_comment)?.reservation()?;
    Some((reservation.wanted()?, reservation))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comment(mode: &str) -> String {
        format!(
            r#"{{"queuecast":{{"version":1,"generation":7,"at":1000,"mode":"{mode}","asked":{{"nodes":1,"cpus":4}},
            "written":{{"begin":4000,"reserved_at":8200,"wanted":0.9}},
            "forecast":{{"wait_jobs":10,"run_s":60,"run_range_s":[60,60],"run_jobs":0,"reservation_probability":0.93}}}}}}"#
        )
    }

    #[test]
    fn what_became_of_a_reservation_is_read_from_the_jobs_record() {
        let read = |mode, start: Option<i64>, end| PromiseOutcome::read(&comment(mode), start.map(UnixTime), UnixTime(end));
        let outcome = |is_kept| Some(PromiseOutcome { wanted: 0.9, ahead: Seconds(7_200), is_kept });
        assert_eq!(read("enforce", Some(8_200), 9_000), outcome(true));
        assert_eq!(read("enforce", Some(8_201), 9_000), outcome(false));
        assert_eq!(read("enforce", None, 8_201), outcome(false), "cancelled after its time");
        assert_eq!(read("enforce", None, 8_200), None, "cancelled before its time");
        assert_eq!(read("advise", Some(8_200), 9_000), None, "nothing was promised");
    }

    #[test]
    fn the_outcome_is_known_as_soon_as_the_time_has_passed_and_not_before() {
        let read = |start: Option<i64>, now| PromiseOutcome::read_live(&comment("enforce"), start.map(UnixTime), UnixTime(now));
        let is_kept = |start, now| read(start, now).map(|outcome| outcome.is_kept);
        assert_eq!((is_kept(None, 8_200), is_kept(Some(8_000), 8_200)), (None, None));
        assert_eq!(
            (is_kept(None, 8_201), is_kept(Some(8_000), 8_201), is_kept(Some(8_201), 8_300)),
            (Some(false), Some(true), Some(false))
        );
    }
}
