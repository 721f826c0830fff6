//! What queuecast promised to a job, as the job's record tells it, and what has become of it.
//!
//! This is the one reader of the promise in a [`Record`]. The daemon keeps promises by it, the
//! learner learns from it, the reports count by it, and the plugin on the nodes shares CPUs by it.

mod deadline;
mod reservation;
mod slot;

use crate::options::Mode;
use crate::record::Record;
use crate::time::UnixTime;
use serde::{Deserialize, Serialize};

pub use deadline::PromisedDeadline;
pub use reservation::{PromisedReservation, ReservedRun};
pub use slot::SlotAsked;

/// What was promised to a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Promise {
    /// The job has its nodes at a time.
    Reservation(PromisedReservation),
    /// The job is done by its deadline.
    Deadline(PromisedDeadline),
}

impl Promise {
    /// The promise in an `admin_comment`, as [`Promise::standing`] has it.
    #[must_use]
    pub fn read(admin_comment: &str) -> Option<Promise> {
        if Promise::may_be_in(admin_comment) { Promise::standing(&Record::parse(admin_comment)?) } else { None }
    }

    /// Whether it is worth while to read the record in an `admin_comment` for a promise. Most
    /// records promise nothing, and some jobs have a long comment of their own.
    #[must_use]
    pub fn may_be_in(admin_comment: &str) -> bool {
        admin_comment.starts_with('{') && (admin_comment.contains("\"reserved_at\"") || admin_comment.contains("\"admitted_by\""))
    }

    /// The promise that stands; `None` where nothing was promised, or where the promise has ended
    /// before its time.
    #[must_use]
    pub fn standing(record: &Record) -> Option<Promise> {
        Promise::given(record).filter(|_| record.end_of_promise().is_none())
    }

    /// The promise that was given, also where it has ended before its time; `None` where nothing
    /// was promised, as in a mode that writes nothing into jobs.
    #[must_use]
    pub fn given(record: &Record) -> Option<Promise> {
        Promise::decided(record).filter(|_| record.mode == Mode::Enforce)
    }

    /// The promise that was decided, also where the mode kept it from being written. A job with a
    /// reservation is admitted by no rule, so that a record has one promise.
    #[must_use]
    pub fn decided(record: &Record) -> Option<Promise> {
        let reservation = PromisedReservation::decided(record).map(Promise::Reservation);
        reservation.or_else(|| PromisedDeadline::decided(record).map(Promise::Deadline))
    }

    /// The reservation; `None` for a deadline.
    #[must_use]
    pub fn reservation(self) -> Option<PromisedReservation> {
        match self {
            Promise::Reservation(reservation) => Some(reservation),
            Promise::Deadline(_) => None,
        }
    }

    /// The deadline; `None` for a reservation.
    #[must_use]
    pub fn deadline(self) -> Option<PromisedDeadline> {
        match self {
            Promise::Reservation(_) => None,
            Promise::Deadline(deadline) => Some(deadline),
        }
    }
}

/// What has become of a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "lowercase")]
pub enum PromiseState {
    /// It is not decided yet.
    Open,
    /// It was kept.
    Kept,
    /// It was not kept.
    Missed,
    /// The job ended before its time without having kept or missed the promise, so that it counts
    /// for nobody.
    Withdrawn,
}

impl PromiseState {
    /// All of them.
    pub const ALL: [PromiseState; 4] = [PromiseState::Open, PromiseState::Kept, PromiseState::Missed, PromiseState::Withdrawn];

    /// The name of the state in reports and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether the promise was kept, where that is decided.
    #[must_use]
    pub fn is_kept(self) -> Option<bool> {
        match self {
            PromiseState::Kept => Some(true),
            PromiseState::Missed => Some(false),
            PromiseState::Open | PromiseState::Withdrawn => None,
        }
    }

    /// What two runs of one job say together, told in whatever order. The nodes were there where
    /// one run had them; a run that waited for them at the time says more than one that was
    /// cancelled before, and that more than one which says nothing.
    #[must_use]
    pub fn beside(self, other: PromiseState) -> PromiseState {
        let states = [PromiseState::Kept, PromiseState::Missed, PromiseState::Withdrawn];
        states.into_iter().find(|state| [self, other].contains(state)).unwrap_or(PromiseState::Open)
    }

    /// What has become of a promise for a time once all runs of its job were told: what none of
    /// them has kept or withdrawn is missed once the time has passed.
    #[must_use]
    pub fn once_all_is_told(self, at: UnixTime, now: UnixTime) -> PromiseState {
        if self == PromiseState::Open && now > at { PromiseState::Missed } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comment(mode: &str, written: &str, changed: &str) -> String {
        let asked = r#""asked":{"nodes":1,"cpus":1,"deadline":1000}"#;
        format!(
            r#"{{"queuecast":{{"version":1,"generation":7,"at":10,"mode":"{mode}",{asked},"written":{{{written}}},"changed":{changed}}}}}"#
        )
    }

    const RESERVATION: &str = r#""reserved_at":1000"#;
    const DEADLINE: &str = r#""admitted_by":"probability","deadline":1000"#;

    #[test]
    fn a_record_has_one_promise_which_is_given_in_the_mode_that_writes_and_stands_until_it_ends() {
        for (written, is_reservation) in [(RESERVATION, true), (DEADLINE, false)] {
            let read = |mode, changed| {
                let comment = comment(mode, written, changed);
                let record = Record::parse(&comment).unwrap();
                assert_eq!(Promise::read(&comment), Promise::standing(&record));
                [Promise::decided(&record), Promise::given(&record), Promise::standing(&record)].map(|promise| promise.is_some())
            };
            let ended = r#"{"count":1,"at":20,"stopped":true,"ended":"made_larger"}"#;
            assert_eq!(
                (read("enforce", "null"), read("enforce", ended), read("advise", "null")),
                ([true; 3], [true, true, false], [true, false, false])
            );
            let promise = Promise::read(&comment("enforce", written, "null")).unwrap();
            assert_eq!((promise.reservation().is_some(), promise.deadline().is_some()), (is_reservation, !is_reservation));
        }
        assert_eq!(Promise::read(&comment("enforce", r#""limit_s":600"#, "null")), None);
        assert_eq!(Promise::read("\"reserved_at\" of somebody else"), None);
    }
}
