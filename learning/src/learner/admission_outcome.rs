//! What became of the deadline of an admitted job, as the job's record and its end tell it.

use job_types::job::Ending;
use job_types::promise::{Promise, PromiseState, PromisedDeadline};
use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};

/// What became of the deadline of an admitted job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdmissionOutcome {
    /// The probability that was wanted, 0 to 1; `None` where the job was admitted by a rule that
    /// wants none.
    pub wanted: Option<f64>,
    /// The probability that was told, where one was.
    pub promised: Option<f64>,
    /// When it was planned to start as it was admitted.
    pub planned: UnixTime,
    /// When it was admitted. All runs of a requeued job have one promise.
    pub given: UnixTime,
    /// The deadline.
    pub deadline: UnixTime,
    /// What has become of it.
    pub state: PromiseState,
}

impl AdmissionOutcome {
    /// Reads the outcome for a run that has ended from its `admin_comment`; `None` if the job was
    /// not admitted. A run that was interrupted leaves the deadline open, even if that has passed:
    /// the run that follows it decides, and the job counts once.
    #[must_use]
    pub fn read(admin_comment: &str, end: UnixTime, how: Option<Ending>) -> Option<AdmissionOutcome> {
        let given = admitted(admin_comment)?;
        let how = how.filter(|how| *how != Ending::Interrupted);
        Some(how.map_or(Self::of(&given, PromiseState::Open), |how| Self::of(&given, given.state(Some((end, how)), end))))
    }

    /// Reads the outcome for a job that waits or runs at `now` from its `admin_comment`; `None` if
    /// it was not admitted.
    #[must_use]
    pub fn read_live(admin_comment: &str, now: UnixTime) -> Option<AdmissionOutcome> {
        let given = admitted(admin_comment)?;
        Some(Self::of(&given, given.state(None, now)))
    }

    fn of(given: &PromisedDeadline, state: PromiseState) -> AdmissionOutcome {
        AdmissionOutcome {
            wanted: given.wanted,
            promised: given.probability,
            planned: given.begin.map_or(given.given_at, |begin| begin.max(given.given_at)),
            given: given.given_at,
            deadline: given.deadline,
            state,
        }
    }

    /// How far ahead the deadline was when the job was admitted.
    #[must_use]
    pub fn ahead(&self) -> Seconds {
        self.deadline - self.given
    }
}

/// The deadline that a job was admitted with, by its `admin_comment`.
fn admitted(admin_comment: &str) -> Option<PromisedDeadline> {
    Promise::read(admin_comment)?.deadline()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comment(mode: &str) -> String {
        format!(
            r#"{{"queuecast":{{"version":1,"generation":7,"at":1000,"mode":"{mode}","asked":{{"nodes":1,"cpus":4,"deadline":8200}},
            "written":{{"admitted_by":"probability","deadline":8200,"wanted":0.9}}}}}}"#
        )
    }

    #[test]
    fn what_became_of_a_deadline_is_read_from_the_jobs_record_and_its_end() {
        let read = |mode, end, how| AdmissionOutcome::read(&comment(mode), UnixTime(end), how);
        let outcome = |state| {
            Some(AdmissionOutcome {
                wanted: Some(0.9),
                promised: None,
                planned: UnixTime(1_000),
                given: UnixTime(1_000),
                deadline: UnixTime(8_200),
                state,
            })
        };
        assert_eq!(read("enforce", 8_200, Some(Ending::Completed)), outcome(PromiseState::Kept));
        assert_eq!(read("enforce", 8_201, Some(Ending::Completed)), outcome(PromiseState::Missed));
        assert_eq!(read("enforce", 8_000, Some(Ending::Cancelled)), outcome(PromiseState::Withdrawn));
        assert_eq!(read("advise", 8_000, Some(Ending::Completed)), None, "nothing was promised");
        assert_eq!(outcome(PromiseState::Kept).map(|outcome| outcome.ahead()), Some(Seconds(7_200)));
    }

    #[test]
    fn a_run_that_was_interrupted_leaves_it_to_the_next_one() {
        let state = |end, how| AdmissionOutcome::read(&comment("enforce"), UnixTime(end), how).map(|outcome| outcome.state);
        for how in [None, Some(Ending::Interrupted)] {
            assert_eq!((state(8_000, how), state(9_000, how)), (Some(PromiseState::Open), Some(PromiseState::Open)));
        }
    }

    #[test]
    fn a_job_that_has_not_ended_is_open_until_its_deadline() {
        let state = |now| AdmissionOutcome::read_live(&comment("enforce"), UnixTime(now)).map(|outcome| outcome.state);
        assert_eq!((state(8_200), state(8_201)), (Some(PromiseState::Open), Some(PromiseState::Missed)));
    }
}
