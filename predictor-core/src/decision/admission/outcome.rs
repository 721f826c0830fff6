//! What became of a job that was admitted with its deadline.

use job_types::job::Ending;
use job_types::options::Mode;
use job_types::policy::Admission;
use job_types::record::Record;
use job_types::time::UnixTime;
use serde::{Deserialize, Serialize};

/// A deadline that was promised to be kept, as the job's record has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GivenDeadline {
    /// The rule that admitted the job.
    pub by: Admission,
    /// When it was admitted.
    pub at: UnixTime,
    /// When it is to be done.
    pub deadline: UnixTime,
    /// The probability that was wanted; `None` where the rule asks for none.
    pub wanted: Option<f64>,
    /// The probability that was forecast, where one was.
    pub probability: Option<f64>,
    /// When it was to become eligible, where queuecast or its user put that off.
    pub begin: Option<UnixTime>,
    /// Whether queuecast wrote the time limit that the job has, and not its user.
    pub limit_is_ours: bool,
    /// Whether the daemon ended the job because it was late.
    pub was_ended_as_late: bool,
}

impl GivenDeadline {
    /// The probability that is held against what happened: the one that was forecast, or else the
    /// one that was wanted.
    #[must_use]
    pub fn promised(&self) -> Option<f64> {
        self.probability.or(self.wanted)
    }

    /// What becomes of it: `end` is when and how the job ended, `None` where it has not.
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
    pub fn state(&self, end: Option<(UnixTime, Ending)>, now: UnixTime) -> DeadlineState {
        let unfinished = if now > self.deadline { DeadlineState::Missed } else { DeadlineState::Open };
        match end {
            None | Some((_, Ending::Interrupted)) => unfinished,
            Some((at, _)) if at > self.deadline => DeadlineState::Missed,
            Some((_, Ending::Completed)) => DeadlineState::Kept,
            Some((_, Ending::SlurmsDeadline)) => DeadlineState::Missed,
            Some((_, Ending::Cancelled)) if self.was_ended_as_late => DeadlineState::Missed,
            Some((_, Ending::TimedOut)) if self.limit_is_ours => DeadlineState::Missed,
            Some((_, Ending::Failed | Ending::Cancelled | Ending::TimedOut)) => DeadlineState::Withdrawn,
        }
    }
}

/// What has become of a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "lowercase")]
pub enum DeadlineState {
    /// The job has not ended, and the deadline is to come.
    Open,
    /// The job was done in time.
    Kept,
    /// It was not.
    Missed,
    /// The job ended before its deadline without being done, so that it counts for nobody.
    Withdrawn,
}

impl DeadlineState {
    /// All of them.
    pub const ALL: [DeadlineState; 4] = [DeadlineState::Open, DeadlineState::Kept, DeadlineState::Missed, DeadlineState::Withdrawn];

    /// Its name in reports and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether the deadline was kept, where that is decided.
    #[must_use]
    pub fn is_kept(self) -> Option<bool> {
        match self {
            DeadlineState::Kept => Some(true),
            DeadlineState::Missed => Some(false),
            DeadlineState::Open | DeadlineState::Withdrawn => None,
        }
    }
}

/// The deadline that a job was admitted with; `None` for any other job, and where the mode kept the
/// admission from being written or the promise has ended before its time.
#[must_use]
pub fn given_deadline(record: &Record) -> Option<GivenDeadline> {
    let is_promised = record.mode == Mode::Enforce && record.end_of_promise().is_none();
    let written = record.written.as_ref().filter(|_| is_promised)?;
    Some(GivenDeadline {
        by: written.admitted_by?,
        at: record.at,
        deadline: UnixTime(written.deadline?),
        wanted: written.wanted,
        probability: record.forecast.as_ref().and_then(|forecast| forecast.deadline_probability),
        begin: written.begin.map(UnixTime),
        limit_is_ours: record.last_limit().is_some(),
        was_ended_as_late: record.changed.as_ref().is_some_and(|changed| changed.late.is_some()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEADLINE: UnixTime = UnixTime(1_000);

    const GIVEN: GivenDeadline = GivenDeadline {
        by: Admission::Probability,
        at: UnixTime(10),
        deadline: DEADLINE,
        wanted: Some(0.9),
        probability: Some(0.93),
        begin: None,
        limit_is_ours: false,
        was_ended_as_late: false,
    };

    fn ended(at: i64, how: Ending) -> DeadlineState {
        GIVEN.state(Some((UnixTime(at), how)), UnixTime(5_000))
    }

    #[test]
    fn a_deadline_is_kept_by_a_job_that_is_done_until_the_very_second() {
        assert_eq!((ended(1_000, Ending::Completed), ended(1_001, Ending::Completed)), (DeadlineState::Kept, DeadlineState::Missed));
    }

    #[test]
    fn what_ends_a_job_before_its_deadline_otherwise_counts_for_nobody_and_after_it_as_missed() {
        for how in [Ending::Failed, Ending::Cancelled, Ending::TimedOut] {
            assert_eq!((ended(1_000, how), ended(1_001, how)), (DeadlineState::Withdrawn, DeadlineState::Missed), "{how:?}");
        }
        assert_eq!(ended(900, Ending::SlurmsDeadline), DeadlineState::Missed);
    }

    #[test]
    fn a_time_limit_that_queuecast_wrote_is_no_excuse() {
        let given = GivenDeadline { limit_is_ours: true, ..GIVEN };
        assert_eq!(given.state(Some((UnixTime(900), Ending::TimedOut)), UnixTime(5_000)), DeadlineState::Missed);
    }

    #[test]
    fn a_job_that_the_daemon_ended_as_late_is_missed_before_its_deadline_as_well() {
        let given = GivenDeadline { was_ended_as_late: true, ..GIVEN };
        for how in [Ending::Cancelled, Ending::SlurmsDeadline] {
            assert_eq!(given.state(Some((UnixTime(900), how)), UnixTime(5_000)), DeadlineState::Missed, "{how:?}");
        }
    }

    #[test]
    fn a_job_that_has_not_ended_or_whose_run_was_interrupted_is_open_until_the_deadline() {
        for end in [None, Some((UnixTime(900), Ending::Interrupted))] {
            let at = |now| GIVEN.state(end, UnixTime(now));
            assert_eq!((at(1_000), at(1_001)), (DeadlineState::Open, DeadlineState::Missed), "{end:?}");
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
            given_deadline(&Record::parse(&comment).unwrap())
        };
        let admitted = r#""admitted_by":"probability","deadline":1000,"wanted":0.9"#;
        assert_eq!(record("enforce", admitted), Some(GIVEN));
        assert_eq!(record("enforce", &format!(r#""limit_s":600,{admitted}"#)), Some(GivenDeadline { limit_is_ours: true, ..GIVEN }));
        assert_eq!((record("advise", admitted), record("enforce", r#""limit_s":600"#)), (None, None));
    }
}
