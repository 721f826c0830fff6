//! What became of the deadlines of admitted jobs, until it is learnt.
//!
//! A deadline that is kept is known when its job is done, and one that is missed only when it has
//! passed. Were both learnt as they become known, promises would look better kept than they are for
//! as long as the jobs with the same deadlines go on. So all of them are learnt in the order of
//! their deadlines, each once that has passed.

use super::AdmissionOutcome;
use job_types::number::{JobId, PartitionIndex};
use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How many deadlines are remembered at most, those of jobs that slurmdbd may tell again included;
/// beyond that the earliest is forgotten.
const MOST_REMEMBERED: usize = 100_000;

/// How long after it was learnt a deadline is remembered, so that another run of its job does not
/// count again.
const REMEMBERED: Seconds = Seconds(30 * 86_400);

/// A promise, by its deadline, its job and when it was given.
type Key = (UnixTime, JobId, UnixTime);

/// The deadlines whose outcome is known.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Deadlines {
    known: BTreeMap<Key, Known>,
}

/// A deadline whose outcome is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Known {
    pub(super) partition: PartitionIndex,
    pub(super) cpus: u32,
    /// The probability that was wanted.
    pub(super) wanted: f64,
    /// The probability that was told, where one was.
    pub(super) promised: Option<f64>,
    /// How far ahead it was.
    pub(super) ahead: Seconds,
    pub(super) is_kept: bool,
    is_learnt: bool,
}

impl Deadlines {
    /// What became of the deadline of a job, where that is decided and a probability was wanted;
    /// only the first time counts.
    pub(super) fn observe(&mut self, job: JobId, partition: PartitionIndex, cpus: u32, outcome: &AdmissionOutcome) {
        let (Some(wanted), Some(is_kept)) = (outcome.wanted, outcome.state.is_kept()) else { return };
        let known = Known { partition, cpus, wanted, promised: outcome.promised, ahead: outcome.ahead(), is_kept, is_learnt: false };
        self.known.entry((outcome.deadline, job, outcome.given)).or_insert(known);
        if self.known.len() > MOST_REMEMBERED {
            self.known.pop_first();
        }
    }

    /// Returns the deadlines that are to be learnt now, in their order: those that have passed and
    /// were not learnt before.
    pub(super) fn due(&mut self, now: UnixTime) -> Vec<Known> {
        let passed = self.known.range_mut(..(now, JobId(0), UnixTime(0))).map(|(_, known)| known);
        let due = passed.filter_map(|known| (!std::mem::replace(&mut known.is_learnt, true)).then_some(*known)).collect();
        let recent = self.known.split_off(&(now - REMEMBERED, JobId(0), UnixTime(0)));
        self.known = recent;
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::promise::PromiseState;

    fn told(deadlines: &mut Deadlines, job: u32, deadline: i64, state: PromiseState) {
        let outcome = AdmissionOutcome {
            wanted: Some(0.9),
            promised: Some(0.93),
            planned: UnixTime(100),
            given: UnixTime(100),
            deadline: UnixTime(deadline),
            state,
        };
        deadlines.observe(JobId(job), PartitionIndex(0), 4, &outcome);
    }

    fn due(deadlines: &mut Deadlines, now: i64) -> Vec<bool> {
        deadlines.due(UnixTime(now)).into_iter().map(|known| known.is_kept).collect()
    }

    #[test]
    fn a_kept_deadline_is_learnt_when_it_has_passed_and_together_with_the_missed_ones() {
        let mut deadlines = Deadlines::default();
        told(&mut deadlines, 1, 1_000, PromiseState::Kept);
        told(&mut deadlines, 2, 2_000, PromiseState::Kept);
        told(&mut deadlines, 3, 3_000, PromiseState::Open);
        assert_eq!(due(&mut deadlines, 1_000), [false; 0]);
        told(&mut deadlines, 4, 900, PromiseState::Missed);
        assert_eq!(due(&mut deadlines, 1_001), [false, true]);
        assert_eq!(due(&mut deadlines, 2_001), [true]);
    }

    #[test]
    fn a_job_counts_once_however_often_it_is_told() {
        let mut deadlines = Deadlines::default();
        told(&mut deadlines, 1, 1_000, PromiseState::Missed);
        assert_eq!(due(&mut deadlines, 1_001), [false]);
        // It waited past its deadline, was requeued, and has ended at last.
        told(&mut deadlines, 1, 1_000, PromiseState::Missed);
        assert_eq!(due(&mut deadlines, 1_500), [false; 0]);
        assert_eq!(deadlines.known.len(), 1);
        assert_eq!(due(&mut deadlines, 1_002 + REMEMBERED.0), [false; 0]);
        assert!(deadlines.known.is_empty());
    }

    #[test]
    fn no_more_than_the_most_are_remembered() {
        let mut deadlines = Deadlines::default();
        (0..150_000).for_each(|job| told(&mut deadlines, job, 1_000 + i64::from(job), PromiseState::Kept));
        assert_eq!(deadlines.known.len(), MOST_REMEMBERED);
    }
}
