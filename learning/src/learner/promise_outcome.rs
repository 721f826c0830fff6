//! What became of a virtual reservation, as the job's record and its runs tell it.

use job_types::promise::{Promise, PromiseState, PromisedReservation, ReservedRun};
use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};

/// What a run of a job says of its virtual reservation, or what all of them say together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PromiseOutcome {
    /// The probability that was wanted, 0 to 1.
    pub wanted: f64,
    /// The probability that was told as it was given.
    pub told: f64,
    /// When the reservation was given. All runs of a requeued job have one reservation.
    pub given: UnixTime,
    /// The reserved time.
    pub at: UnixTime,
    /// What has become of it.
    pub state: PromiseState,
}

impl PromiseOutcome {
    /// Reads the outcome for a run that has ended from its `admin_comment`; `None` where its job
    /// had no reservation, or where another run decides.
    #[must_use]
    pub fn read(admin_comment: &str, run: &ReservedRun) -> Option<PromiseOutcome> {
        let reservation = Promise::read(admin_comment)?.reservation()?;
        let end = run.ended.map_or(reservation.at, |(end, _)| end);
        PromiseOutcome::of(&reservation, run, end)
    }

    /// Reads the outcome for a run that waits or runs at `now` from its `admin_comment`; `None`
    /// until its reserved time has passed.
    #[must_use]
    pub fn read_live(admin_comment: &str, run: &ReservedRun, now: UnixTime) -> Option<PromiseOutcome> {
        let reservation = Promise::read(admin_comment)?.reservation()?;
        if now > reservation.at { PromiseOutcome::of(&reservation, run, now) } else { None }
    }

    /// The outcome of a reservation for one run of its job, as seen at `now`; `None` where another
    /// run decides, or where the record says nothing of a probability.
    #[must_use]
    pub fn of(reservation: &PromisedReservation, run: &ReservedRun, now: UnixTime) -> Option<PromiseOutcome> {
        let PromisedReservation { given_at, at, .. } = *reservation;
        let (wanted, told) = (reservation.wanted()?, reservation.promised?);
        Some(PromiseOutcome { wanted, told, given: given_at, at, state: reservation.state(run, now)? })
    }

    /// How far ahead the reserved time was when it was given.
    #[must_use]
    pub fn ahead(&self) -> Seconds {
        self.at - self.given
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::job::Ending;

    fn comment(mode: &str) -> String {
        format!(
            r#"{{"queuecast":{{"version":1,"generation":7,"at":1000,"mode":"{mode}","asked":{{"nodes":1,"cpus":4}},
            "written":{{"begin":4000,"reserved_at":8200,"wanted":0.9}},
            "forecast":{{"wait_jobs":10,"run_s":60,"run_range_s":[60,60],"run_jobs":0,"reservation_probability":0.93}}}}}}"#
        )
    }

    fn run(start: Option<i64>, ended: Option<(i64, Ending)>) -> ReservedRun {
        let ended = ended.map(|(end, how)| (UnixTime(end), Some(how)));
        ReservedRun { submitted: UnixTime(1_000), started: start.map(UnixTime), ended }
    }

    #[test]
    fn what_became_of_a_reservation_is_read_from_the_jobs_record() {
        let read = |mode, start, end, how| PromiseOutcome::read(&comment(mode), &run(start, Some((end, how))));
        let outcome = |state| Some(PromiseOutcome { wanted: 0.9, told: 0.93, given: UnixTime(1_000), at: UnixTime(8_200), state });
        assert_eq!(read("enforce", Some(8_200), 9_000, Ending::Completed), outcome(PromiseState::Kept));
        assert_eq!(read("enforce", Some(8_201), 9_000, Ending::Completed), outcome(PromiseState::Missed));
        assert_eq!(read("enforce", Some(8_000), 8_100, Ending::Interrupted), outcome(PromiseState::Open));
        assert_eq!(read("enforce", None, 8_200, Ending::Cancelled), outcome(PromiseState::Withdrawn));
        assert_eq!(read("advise", Some(8_200), 9_000, Ending::Completed), None, "nothing was promised");
        assert_eq!(outcome(PromiseState::Kept).map(|outcome| outcome.ahead()), Some(Seconds(7_200)));
    }

    #[test]
    fn the_outcome_is_known_as_soon_as_the_time_has_passed_and_not_before() {
        let read = |start, now| PromiseOutcome::read_live(&comment("enforce"), &run(start, None), UnixTime(now));
        let state = |start, now| read(start, now).map(|outcome| outcome.state);
        assert_eq!((state(None, 8_200), state(Some(8_000), 8_200)), (None, None));
        assert_eq!(
            (state(None, 8_201), state(Some(8_000), 8_201), state(Some(8_201), 8_300)),
            (Some(PromiseState::Missed), Some(PromiseState::Kept), Some(PromiseState::Missed))
        );
    }
}
