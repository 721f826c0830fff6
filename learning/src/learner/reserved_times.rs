//! What became of virtual reservations, until it counts: once for each job and reserved time.
//!
//! A job that was requeued has several runs, each of which is told by itself: those that wait or
//! run by slurmctld, those that have ended by slurmdbd, in whatever order. What they say together
//! is decided once the reserved time has passed. Were kept reservations to count as soon as they
//! are known, they would count before the misses of the same time, and promises would look better
//! kept than they are.

use super::PromiseOutcome;
use job_types::number::JobId;
use job_types::promise::PromiseState;
use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// How many reservations are remembered at most, those included whose jobs may be told again;
/// beyond that the earliest is forgotten.
const MOST_REMEMBERED: usize = 100_000;

/// How long a reservation that has counted is remembered after its job was told last, so that it
/// does not count again.
const REMEMBERED: Seconds = Seconds(30 * 86_400);

/// How long a run is awaited that had its nodes at the reserved time, from when that has passed and
/// the runs that were told say nothing: the record of a run that was interrupted comes from
/// slurmdbd, which may be away for a while.
const AWAITED: Seconds = Seconds(86_400);

/// The reservations of which something is known. `T` is what counts with each.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReservedTimes<T> {
    known: BTreeMap<(UnixTime, JobId), Known<T>>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Known<T> {
    outcome: PromiseOutcome,
    with: T,
    /// Since when its time has passed without that anything was decided.
    awaited_since: Option<UnixTime>,
    counted_at: Option<UnixTime>,
    /// Whether a run was told since the last that counted: one that goes on waiting is told again
    /// and again, however long ago its reservation has counted.
    is_told: bool,
}

impl<T> Default for ReservedTimes<T> {
    fn default() -> Self {
        Self { known: BTreeMap::new() }
    }
}

impl<T: Clone> ReservedTimes<T> {
    /// What a run of a job says of its reservation. What counts with it is as it was told first.
    pub fn observe(&mut self, job: JobId, outcome: &PromiseOutcome, with: T) {
        match self.known.entry((outcome.at, job)) {
            Entry::Vacant(entry) => {
                entry.insert(Known { outcome: *outcome, with, awaited_since: None, counted_at: None, is_told: true });
            }
            Entry::Occupied(mut entry) => {
                let known = entry.get_mut();
                known.outcome.state = known.outcome.state.beside(outcome.state);
                known.is_told = true;
            }
        }
        if self.known.len() > MOST_REMEMBERED {
            self.known.pop_first();
        }
    }

    /// Returns the reservations that count now and have not counted before, in the order of their
    /// times: those whose time has passed and that were kept or missed.
    pub fn due(&mut self, now: UnixTime) -> Vec<(PromiseOutcome, T)> {
        let mut due = Vec::new();
        for (_, known) in self.known.range_mut(..(now, JobId(0))) {
            let is_told = std::mem::take(&mut known.is_told);
            if let Some(counted_at) = &mut known.counted_at {
                *counted_at = if is_told { now } else { *counted_at };
                continue;
            }
            if now - *known.awaited_since.get_or_insert(now) > AWAITED {
                known.outcome.state = known.outcome.state.once_all_is_told(known.outcome.at, now);
            }
            if known.outcome.state != PromiseState::Open {
                known.counted_at = Some(now);
            }
            if known.outcome.state.is_kept().is_some() {
                due.push((known.outcome, known.with.clone()));
            }
        }
        self.known.retain(|_, known| known.counted_at.is_none_or(|counted_at| now - counted_at <= REMEMBERED));
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: UnixTime = UnixTime(8_200);

    fn outcome(state: PromiseState) -> PromiseOutcome {
        PromiseOutcome { wanted: 0.9, told: 0.93, given: UnixTime(1_000), at: AT, state }
    }

    fn told(states: &[PromiseState]) -> ReservedTimes<()> {
        let mut times = ReservedTimes::default();
        states.iter().for_each(|state| times.observe(JobId(1), &outcome(*state), ()));
        times
    }

    fn due(times: &mut ReservedTimes<()>, now: UnixTime) -> Vec<PromiseState> {
        times.due(now).into_iter().map(|(outcome, ())| outcome.state).collect()
    }

    #[test]
    fn a_job_that_was_requeued_counts_once_in_whatever_order_its_runs_are_told() {
        for states in [[PromiseState::Open, PromiseState::Missed], [PromiseState::Missed, PromiseState::Open]] {
            let mut times = told(&states);
            assert_eq!(due(&mut times, AT), []);
            assert_eq!(due(&mut times, AT + Seconds(1)), [PromiseState::Missed]);
            times.observe(JobId(1), &outcome(PromiseState::Missed), ());
            assert_eq!(due(&mut times, AT + Seconds(60)), []);
        }
    }

    #[test]
    fn a_run_that_is_told_late_is_awaited_for_a_day() {
        let (mut kept, mut lost) = (told(&[PromiseState::Open]), told(&[PromiseState::Open]));
        assert_eq!(due(&mut kept, AT + Seconds(60)), []);
        kept.observe(JobId(1), &outcome(PromiseState::Kept), ());
        assert_eq!(due(&mut kept, AT + Seconds(90)), [PromiseState::Kept]);
        assert_eq!(due(&mut lost, AT + Seconds(60)), []);
        assert_eq!(due(&mut lost, AT + Seconds(60) + AWAITED), []);
        assert_eq!(due(&mut lost, AT + Seconds(61) + AWAITED), [PromiseState::Missed]);
    }

    #[test]
    fn a_job_that_goes_on_waiting_counts_once_however_long_it_waits() {
        let mut times = ReservedTimes::default();
        let counted = (0..100).map(|day| {
            times.observe(JobId(1), &outcome(PromiseState::Missed), ());
            due(&mut times, AT + Seconds(1 + day * 86_400)).len()
        });
        let counted: Vec<usize> = counted.collect();
        assert_eq!((counted.first(), counted.iter().sum()), (Some(&1), 1));
    }

    #[test]
    fn what_was_withdrawn_counts_for_nobody_and_is_forgotten_like_the_others() {
        let mut times = told(&[PromiseState::Withdrawn]);
        assert_eq!(due(&mut times, AT + Seconds(1)), []);
        assert_eq!(times.known.len(), 1);
        assert_eq!(due(&mut times, AT + Seconds(2) + REMEMBERED), []);
        assert!(times.known.is_empty());
    }

    #[test]
    fn no_more_than_the_most_are_remembered() {
        let mut times = ReservedTimes::default();
        (0..150_000).for_each(|job| times.observe(JobId(job), &outcome(PromiseState::Kept), ()));
        assert_eq!(times.known.len(), MOST_REMEMBERED);
    }
}
