//! A deadline that a job was admitted with: it is to be done by then.

use super::PromiseState;
use crate::job::Ending;
use crate::policy::Admission;
use crate::record::Record;
use crate::time::{Seconds, UnixTime};

/// A deadline that was promised to be kept, as the job's record has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PromisedDeadline {
    /// The rule that admitted the job.
    pub by: Admission,
    /// When it was admitted.
    pub given_at: UnixTime,
    /// When it is to be done.
    pub deadline: UnixTime,
    /// The probability that was wanted; `None` where the rule asks for none.
    pub wanted: Option<f64>,
    /// The probability that was forecast, where one was.
    pub probability: Option<f64>,
    /// When it was to become eligible, where queuecast or its user put that off.
    pub begin: Option<UnixTime>,
    /// How long a job that was admitted with a share of its nodes runs with its CPUs to itself, by
    /// its user's estimate. `None` for other jobs.
    pub shared_estimate: Option<Seconds>,
    /// Whether queuecast wrote the time limit that the job has, and not its user.
    pub limit_is_ours: bool,
    /// Whether the daemon ended the job because it was late.
    pub was_ended_as_late: bool,
}

impl PromisedDeadline {
    /// The deadline that was decided, whatever the mode.
    pub(super) fn decided(record: &Record) -> Option<Self> {
        let written = record.written.as_ref()?;
        let by = written.admitted_by?;
        Some(Self {
            by,
            given_at: record.at,
            deadline: UnixTime(written.deadline?),
            wanted: written.wanted,
            probability: record.forecast.as_ref().and_then(|forecast| forecast.deadline_probability),
            begin: written.begin.map(UnixTime),
            shared_estimate: written.own_limit_s.filter(|_| by.chooses_shared_nodes()).map(Seconds),
            limit_is_ours: record.last_limit().is_some(),
            was_ended_as_late: record.changed.as_ref().is_some_and(|changed| changed.late.is_some()),
        })
    }

    /// The probability that is held against what happened: the one that was forecast, or else the
    /// one that was wanted.
    #[must_use]
    pub fn promised(&self) -> Option<f64> {
        self.probability.or(self.wanted)
    }

    /// Returns what has become of the deadline. `end` is when and how the job ended, `None` if it
    /// has not.
    ///
    /// - **Kept**: the program came to its end by itself and without an error, by the deadline to
    ///   the second.
    /// - **Missed**: the deadline has passed without that, whatever the reason; the daemon, or
    ///   Slurm itself, ended the job for its deadline, which can be before that has passed; or it
    ///   ran into a time limit that queuecast had written.
    /// - **Withdrawn**: before the deadline the job was cancelled, failed by its own exit status or
    ///   for want of memory, or ran into its user's own time limit. It says neither that the
    ///   deadline would have been kept nor that it would not.
    /// - **Open**: neither has happened yet. A run that was requeued, preempted or lost with its
    ///   node is no end of the job: it is put back into the queue, and still to be done by its
    ///   deadline. Where Slurm does not put it back it is missed once the deadline has passed.
    #[must_use]
    pub fn state(&self, end: Option<(UnixTime, Ending)>, now: UnixTime) -> PromiseState {
        let unfinished = if now > self.deadline { PromiseState::Missed } else { PromiseState::Open };
        match end {
            None | Some((_, Ending::Interrupted)) => unfinished,
            Some((at, _)) if at > self.deadline => PromiseState::Missed,
            Some((_, Ending::Completed)) => PromiseState::Kept,
            Some((_, Ending::SlurmsDeadline)) => PromiseState::Missed,
            Some((_, Ending::Cancelled)) if self.was_ended_as_late => PromiseState::Missed,
            Some((_, Ending::TimedOut)) if self.limit_is_ours => PromiseState::Missed,
            Some((_, Ending::Failed | Ending::Cancelled | Ending::TimedOut)) => PromiseState::Withdrawn,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Promise;
    use super::*;

    const DEADLINE: UnixTime = UnixTime(1_000);

    const GIVEN: PromisedDeadline = PromisedDeadline {
        by: Admission::Probability,
        given_at: UnixTime(10),
        deadline: DEADLINE,
        wanted: Some(0.9),
        probability: Some(0.93),
        begin: None,
        shared_estimate: None,
        limit_is_ours: false,
        was_ended_as_late: false,
    };

    fn ended(at: i64, how: Ending) -> PromiseState {
        GIVEN.state(Some((UnixTime(at), how)), UnixTime(5_000))
    }

    #[test]
    fn a_deadline_is_kept_by_a_job_that_is_done_until_the_very_second() {
        assert_eq!((ended(1_000, Ending::Completed), ended(1_001, Ending::Completed)), (PromiseState::Kept, PromiseState::Missed));
    }

    #[test]
    fn what_ends_a_job_before_its_deadline_otherwise_counts_for_nobody_and_after_it_as_missed() {
        for how in [Ending::Failed, Ending::Cancelled, Ending::TimedOut] {
            assert_eq!((ended(1_000, how), ended(1_001, how)), (PromiseState::Withdrawn, PromiseState::Missed), "{how:?}");
        }
        assert_eq!(ended(900, Ending::SlurmsDeadline), PromiseState::Missed);
    }

    #[test]
    fn a_time_limit_that_queuecast_wrote_is_no_excuse() {
        let given = PromisedDeadline { limit_is_ours: true, ..GIVEN };
        assert_eq!(given.state(Some((UnixTime(900), Ending::TimedOut)), UnixTime(5_000)), PromiseState::Missed);
    }

    #[test]
    fn a_job_that_the_daemon_ended_as_late_is_missed_before_its_deadline_as_well() {
        let given = PromisedDeadline { was_ended_as_late: true, ..GIVEN };
        for how in [Ending::Cancelled, Ending::SlurmsDeadline] {
            assert_eq!(given.state(Some((UnixTime(900), how)), UnixTime(5_000)), PromiseState::Missed, "{how:?}");
        }
    }

    #[test]
    fn a_job_that_has_not_ended_or_whose_run_was_interrupted_is_open_until_the_deadline() {
        for end in [None, Some((UnixTime(900), Ending::Interrupted))] {
            let at = |now| GIVEN.state(end, UnixTime(now));
            assert_eq!((at(1_000), at(1_001)), (PromiseState::Open, PromiseState::Missed), "{end:?}");
        }
    }

    #[test]
    fn only_what_was_written_by_a_rule_of_admission_is_promised() {
        let record = |mode: &str, written: &str| {
            let asked = r#""asked":{"nodes":1,"cpus":1,"deadline":1000}"#;
            let forecast = r#""forecast":{"wait_jobs":9,"run_s":60,"run_range_s":[60,60],"run_jobs":1,"deadline_probability":0.93}"#;
            let comment = format!(
                r#"{{"queuecast":{{"version":1,"generation":7,"at":10,"mode":"{mode}",{asked},"written":{{{written}}},{forecast}}}}}"#
            );
            Promise::read(&comment).and_then(Promise::deadline)
        };
        let admitted = r#""admitted_by":"probability","deadline":1000,"wanted":0.9"#;
        assert_eq!(record("enforce", admitted), Some(GIVEN));
        assert_eq!(record("enforce", &format!(r#""limit_s":600,{admitted}"#)), Some(PromisedDeadline { limit_is_ours: true, ..GIVEN }));
        assert_eq!((record("advise", admitted), record("enforce", r#""limit_s":600"#)), (None, None));
    }
}
