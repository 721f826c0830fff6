//! A virtual reservation: a job is to have its nodes at a time.

use super::PromiseState;
use crate::job::Ending;
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

    /// The probability that outcomes are held against; `None` where the record has no forecast.
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

    /// What a run of its job, as seen at `now`, has made of it ([`ReservedRun::state`]).
    #[must_use]
    pub fn state(&self, run: &ReservedRun, now: UnixTime) -> Option<PromiseState> {
        run.state(self.at, now)
    }
}

/// The probability that was wanted of a reservation: the one that its user asked for, or else the
/// site's, also where less was told because such promises were kept less often lately. Who asked
/// for the best got what was to be had, and where it is not known what was asked for, that is what
/// was promised.
fn wanted_probability(asked: Option<f64>, promised: f64) -> f64 {
    asked.filter(|asked| *asked < 1.0).unwrap_or(promised)
}

/// One run of a job that has a reservation: from when it came into the queue, with its submission
/// or with a requeue, to its end. slurmctld gives a job that it puts back into the queue another
/// time of submission, and slurmdbd keeps a record of each run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservedRun {
    /// When it came into the queue.
    pub submitted: UnixTime,
    /// When it got its nodes; `None` if it has not.
    pub started: Option<UnixTime>,
    /// When it ended, and how, where that is known; `None` if it has not.
    pub ended: Option<(UnixTime, Option<Ending>)>,
}

impl ReservedRun {
    /// What the run, as seen at `now`, says of its job's reservation for a time; `None` where it
    /// came into the queue by a requeue after that time, so that another run decides. What several
    /// runs of a job say together tells [`PromiseState::beside`].
    ///
    /// - **Kept**: the run had its nodes at the reserved time, to the second; or it had them for as
    ///   long as its program ran, which came to its end before that time by itself, by an error or
    ///   at its time limit.
    /// - **Missed**: it was in the queue at that time and waited.
    /// - **Withdrawn**: it was cancelled before that time, or left the queue otherwise without a
    ///   start.
    /// - **Open**: the time is to come; or the run was interrupted before it (requeued, preempted,
    ///   or lost with a node), so that the run that follows decides.
    #[must_use]
    pub fn state(&self, at: UnixTime, now: UnixTime) -> Option<PromiseState> {
        if self.submitted > at {
            return None;
        }
        let until = self.ended.map_or(now, |(end, _)| end);
        Some(match (self.started, self.ended) {
            (Some(started), _) if started > at => PromiseState::Missed,
            (Some(_), _) if until >= at => PromiseState::Kept,
            (None, _) if until > at => PromiseState::Missed,
            (_, None | Some((_, None | Some(Ending::Interrupted)))) => PromiseState::Open,
            (None, Some(_)) | (Some(_), Some((_, Some(Ending::Cancelled)))) => PromiseState::Withdrawn,
            (Some(_), Some(_)) => PromiseState::Kept,
        })
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
    fn what_was_wanted_is_the_sites_where_the_user_gave_none_whatever_was_told() {
        let wanted = |option, written| reservation(option, written).wanted();
        assert_eq!(wanted("", r#","wanted":0.75"#), Some(0.75), "the site's own");
        let best = r#"["QUEUECAST_SUCCESS_PROBABILITY","best"]"#;
        assert_eq!(wanted(best, r#","wanted":1"#), Some(0.93), "as good as it could be");
        let at_least = r#"["QUEUECAST_SUCCESS_PROBABILITY","0.9"]"#;
        assert_eq!(wanted(at_least, r#","wanted":0.9"#), Some(0.9), "the user's");
        assert_eq!(wanted("", r#","wanted":0.95"#), Some(0.95), "less than that was told");
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

    const LATER: UnixTime = UnixTime(50_000);

    fn run(started: Option<i64>, ended: Option<(i64, Ending)>) -> ReservedRun {
        let ended = ended.map(|(end, how)| (UnixTime(end), Some(how)));
        ReservedRun { submitted: UnixTime(5), started: started.map(UnixTime), ended }
    }

    fn state(run: ReservedRun, now: UnixTime) -> PromiseState {
        run.state(AT, now).unwrap()
    }

    #[test]
    fn it_is_kept_by_a_start_until_the_very_second() {
        let started_at = |started| state(run(Some(started), None), LATER);
        let found = (started_at(10), started_at(10_000), started_at(10_001));
        assert_eq!(found, (PromiseState::Kept, PromiseState::Kept, PromiseState::Missed));
    }

    #[test]
    fn without_a_start_it_is_open_or_withdrawn_until_its_time_and_missed_from_then_on() {
        let in_queue = |now| state(run(None, None), UnixTime(now));
        assert_eq!((in_queue(10_000), in_queue(10_001)), (PromiseState::Open, PromiseState::Missed));
        let left_at = |ended| state(run(None, Some((ended, Ending::Cancelled))), LATER);
        assert_eq!((left_at(10_000), left_at(10_001)), (PromiseState::Withdrawn, PromiseState::Missed));
    }

    #[test]
    fn a_job_that_has_its_nodes_early_has_kept_nothing_before_its_time() {
        let at = |now| state(run(Some(9_000), None), UnixTime(now));
        assert_eq!((at(9_999), at(10_000)), (PromiseState::Open, PromiseState::Kept));
    }

    #[test]
    fn nodes_that_were_lost_before_the_time_keep_nothing_and_those_given_up_do() {
        let ended = |at, how| state(run(Some(9_000), Some((at, how))), LATER);
        assert_eq!(ended(9_999, Ending::Interrupted), PromiseState::Open);
        assert_eq!(ended(10_000, Ending::Interrupted), PromiseState::Kept, "they were there at the time");
        for how in [Ending::Completed, Ending::Failed, Ending::TimedOut] {
            assert_eq!(ended(9_999, how), PromiseState::Kept, "{how:?}");
        }
        assert_eq!(ended(9_999, Ending::Cancelled), PromiseState::Withdrawn);
        assert_eq!(ended(10_001, Ending::Cancelled), PromiseState::Kept);
    }

    #[test]
    fn what_was_put_into_the_queue_after_the_time_says_nothing_of_it() {
        for (started, ended) in [(None, None), (Some(10_020), None), (Some(10_020), Some((UnixTime(10_100), Some(Ending::Completed))))] {
            let requeued = ReservedRun { submitted: UnixTime(10_010), started: started.map(UnixTime), ended };
            assert_eq!(requeued.state(AT, LATER), None);
        }
    }

    #[test]
    fn of_several_runs_the_one_that_had_or_wanted_the_nodes_at_the_time_decides() {
        let early = state(run(Some(9_000), Some((9_500, Ending::Interrupted))), LATER);
        let again = |started, ended| state(ReservedRun { submitted: UnixTime(9_501), ..run(started, ended) }, LATER);
        let late = again(Some(10_051), Some((11_000, Ending::Completed)));
        let in_time = again(Some(9_900), Some((10_001, Ending::Interrupted)));
        let cancelled = again(None, Some((9_600, Ending::Cancelled)));
        for (other, expected) in [(late, PromiseState::Missed), (in_time, PromiseState::Kept), (cancelled, PromiseState::Withdrawn)] {
            assert_eq!((early.beside(other), other.beside(early)), (expected, expected));
        }
        // Nobody ran it again.
        assert_eq!((early.once_all_is_told(AT, AT), early.once_all_is_told(AT, LATER)), (PromiseState::Open, PromiseState::Missed));
    }
}
