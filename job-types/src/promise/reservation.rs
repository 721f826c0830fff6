//! A virtual reservation: a job is to have its nodes at a time.

use super::PromiseState;
use crate::options::{EarlyStart, IfMissed};
use crate::record::Record;
use crate::size::Size;
use crate::time::{Seconds, UnixTime};

/// A virtual reservation that was given, as the job's record has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PromisedReservation {
    /// When it was given.
    pub given_at: UnixTime,
    /// The reserved time.
    pub at: UnixTime,
    /// The probability that its user asked for, or else the site's, 0 to 1; certainty where the
    /// best was asked for. `None` in records of earlier versions.
    pub asked: Option<f64>,
    /// The probability that was promised: the one that was forecast as it was given, 0 to 1.
    pub promised: Option<f64>,
    /// The size that it was given for last.
    pub size: Size,
    /// The size that its user asked for, where the job was given another one.
    pub molded_from: Option<Size>,
    /// The time limit that its user asked for; `None` is unlimited.
    pub asked_limit: Option<Seconds>,
    /// The time limit that was written as it was given, with the padding.
    pub limit: Option<Seconds>,
    /// The user's own time limit at the job's size, without padding; `None` in records of earlier
    /// versions.
    pub own_limit: Option<Seconds>,
    /// When the job was to become eligible, as it was given.
    pub begin: Option<UnixTime>,
    /// The time until which the job waits on its nodes; `None` if it runs at once when it starts
    /// early.
    pub hold_until: Option<UnixTime>,
    /// What becomes of the job if its time passes without a start.
    pub if_missed: IfMissed,
}

impl PromisedReservation {
    /// The reservation that was decided, whatever the mode.
    pub(super) fn decided(record: &Record) -> Option<Self> {
        let written = record.written.as_ref()?;
        let asked_size = Size { nodes: record.asked.nodes, cpus: record.asked.cpus };
        let is_molded = written.nodes.is_some() || written.cpus.is_some();
        Some(Self {
            given_at: record.at,
            at: UnixTime(written.reserved_at?),
            asked: written.wanted,
            promised: record.forecast.as_ref().and_then(|forecast| forecast.reservation_probability),
            size: record.promised_size(),
            molded_from: is_molded.then_some(asked_size),
            asked_limit: record.asked.limit_s.map(Seconds),
            limit: written.limit_s.map(Seconds),
            own_limit: written.own_limit_s.map(Seconds),
            begin: written.begin.map(UnixTime),
            hold_until: written.hold_until.map(UnixTime),
            if_missed: written.if_missed,
        })
    }

    /// The probability that outcomes are held against ([`wanted_probability`]); `None` where the
    /// record has no forecast.
    #[must_use]
    pub fn wanted(&self) -> Option<f64> {
        self.promised.map(|promised| wanted_probability(self.asked, promised))
    }

    /// What the job does when it starts before the reserved time.
    #[must_use]
    pub fn early_start(&self) -> EarlyStart {
        if self.hold_until.is_some() { EarlyStart::Wait } else { EarlyStart::Run }
    }

    /// The user's own time limit without padding. Of earlier versions' records it is told from what
    /// was written: the padding, from the begin to the reserved time, was added to it, and the sum
    /// rounded up to whole minutes, which the limit itself is in.
    #[must_use]
    pub fn limit_without_padding(&self) -> Option<Seconds> {
        let from_written = || {
            let own = self.limit? - (self.at - self.begin?);
            (own >= Seconds::MINUTE).then_some(Seconds(own.0.div_euclid(60) * 60))
        };
        self.own_limit.or_else(from_written)
    }

    /// What has become of it ([`state_of_reservation`]).
    #[must_use]
    pub fn state(&self, started: Option<UnixTime>, ended: Option<UnixTime>, now: UnixTime) -> PromiseState {
        state_of_reservation(self.at, started, ended, now)
    }
}

/// The probability that was wanted of a reservation: the one that its user asked for, or else the
/// site's, and no more than what was promised. Who asked for the best got what was to be had, and
/// where it is not known what was asked for, that is what was promised.
#[must_use]
pub fn wanted_probability(asked: Option<f64>, promised: f64) -> f64 {
    asked.map_or(promised, |asked| asked.min(promised))
}

/// What has become of a reservation for a time: it is kept if the job had its nodes by then, to the
/// second. `started` and `ended` are those of the job, `None` where it has not. A job that left the
/// queue before its time without a start has withdrawn.
#[must_use]
pub fn state_of_reservation(at: UnixTime, started: Option<UnixTime>, ended: Option<UnixTime>, now: UnixTime) -> PromiseState {
    match started {
        Some(started) if started <= at => PromiseState::Kept,
        Some(_) => PromiseState::Missed,
        None if ended.unwrap_or(now) > at => PromiseState::Missed,
        None if ended.is_some() => PromiseState::Withdrawn,
        None => PromiseState::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Promise;
    use super::*;

    const AT: UnixTime = UnixTime(10_000);

    fn reservation(options: &str, written: &str) -> PromisedReservation {
        let record = format!(
            r#"{{"queuecast":{{"version":1,"generation":7,"at":1000,"mode":"enforce","asked":{{"nodes":4,"cpus":8,"limit_s":5400,
            "options":[{options}]}},"written":{{"reserved_at":{}{written}}},
            "forecast":{{"wait_jobs":10,"run_s":60,"run_range_s":[60,60],"run_jobs":0,"reservation_probability":0.93}}}}}}"#,
            AT.0
        );
        Promise::read(&record).and_then(Promise::reservation).unwrap()
    }

    #[test]
    fn what_was_wanted_is_the_sites_where_the_user_gave_none_and_at_most_what_was_promised() {
        let wanted = |option, written| reservation(option, written).wanted();
        assert_eq!(wanted("", r#","wanted":0.75"#), Some(0.75), "the site's own");
        let best = r#"["QUEUECAST_SUCCESS_PROBABILITY","best"]"#;
        assert_eq!(wanted(best, r#","wanted":1"#), Some(0.93), "as good as it could be");
        let at_least = r#"["QUEUECAST_SUCCESS_PROBABILITY","0.9"]"#;
        assert_eq!(wanted(at_least, r#","wanted":0.9"#), Some(0.9), "the user's");
        assert_eq!(wanted(at_least, ""), Some(0.93), "of an earlier version, which did not say");
    }

    #[test]
    fn a_size_that_the_user_did_not_ask_for_is_told_with_the_one_that_was() {
        let of = |written| {
            let promise = reservation("", written);
            (promise.size, promise.molded_from)
        };
        let asked = Size { nodes: 4, cpus: 8 };
        assert_eq!(of(""), (asked, None));
        assert_eq!(of(r#","nodes":2,"cpus":4"#), (Size { nodes: 2, cpus: 4 }, Some(asked)));
    }

    #[test]
    fn the_users_own_limit_is_what_was_padded() {
        let own = |written| reservation("", written).limit_without_padding();
        // 90 min and a padding of 30 min and 30 s, rounded up.
        assert_eq!(own(r#","limit_s":7260,"begin":8170"#), Some(Seconds(5_400)));
        assert_eq!(own(r#","limit_s":7200,"begin":8200"#), Some(Seconds(5_400)));
        assert_eq!((own(r#","begin":0"#), own(r#","limit_s":60,"begin":9000"#)), (None, None));
        // A job that runs as soon as it starts has no padding.
        assert_eq!(own(r#","limit_s":5400,"begin":8200,"own_limit_s":5400"#), Some(Seconds(5_400)));
    }

    #[test]
    fn it_is_kept_by_a_start_until_the_very_second() {
        let started_at = |started| state_of_reservation(AT, Some(UnixTime(started)), None, UnixTime(50_000));
        let found = (started_at(10), started_at(10_000), started_at(10_001));
        assert_eq!(found, (PromiseState::Kept, PromiseState::Kept, PromiseState::Missed));
    }

    #[test]
    fn without_a_start_it_is_open_or_withdrawn_until_its_time_and_missed_from_then_on() {
        let later = UnixTime(50_000);
        let in_queue = |now| state_of_reservation(AT, None, None, UnixTime(now));
        assert_eq!((in_queue(10_000), in_queue(10_001)), (PromiseState::Open, PromiseState::Missed));
        let left_at = |ended| state_of_reservation(AT, None, Some(UnixTime(ended)), later);
        assert_eq!((left_at(10_000), left_at(10_001)), (PromiseState::Withdrawn, PromiseState::Missed));
    }
}
