//! What each caller has under way, so that none takes what belongs to others.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use job_types::number::UserId;
use parking_lot::Mutex;

/// How many probes of one user are answered within [`PROBES_WITHIN`].
pub(super) const MOST_PROBES: usize = 10;
/// The time that [`MOST_PROBES`] is about.
pub(super) const PROBES_WITHIN: Duration = Duration::from_secs(60);

/// How many users are given their snapshot at once: each has a copy of it.
pub(super) const MOST_SNAPSHOTS: usize = 8;

/// The callers with something under way, or with probes of the last minute. Copies are of one.
#[derive(Debug, Clone, Default)]
pub(super) struct Callers(Arc<Mutex<HashMap<UserId, Caller>>>);

/// What one caller has under way.
#[derive(Debug, Default)]
struct Caller {
    is_probing: bool,
    takes_snapshot: bool,
    /// When probes were begun, in order, at most [`MOST_PROBES`].
    probes: VecDeque<Instant>,
}

/// A probe of a caller, who may begin another one once it is dropped.
#[derive(Debug)]
pub(super) struct Probing(UserId, Callers);

/// A snapshot that is on its way to a caller, who is given no other one until it is dropped.
#[derive(Debug)]
pub(super) struct TakingSnapshot(UserId, Callers);

impl Callers {
    /// Lets a user take the snapshot; `None` while it is on its way already, or to too many others.
    pub(super) fn take_snapshot(&self, user: UserId) -> Option<TakingSnapshot> {
        let mut callers = self.0.lock();
        if callers.values().filter(|caller| caller.takes_snapshot).count() >= MOST_SNAPSHOTS {
            return None;
        }
        let caller = callers.entry(user).or_default();
        (!std::mem::replace(&mut caller.takes_snapshot, true)).then(|| TakingSnapshot(user, self.clone()))
    }

    /// Lets a user begin a probe.
    ///
    /// # Errors
    /// How long it is until the user may, where one is under way or there were too many.
    pub(super) fn probe(&self, user: UserId, now: Instant) -> Result<Probing, Duration> {
        let mut callers = self.0.lock();
        // Whoever has nothing under way and asked nothing of late takes no room.
        for caller in callers.values_mut() {
            while caller.probes.front().is_some_and(|begun| now.duration_since(*begun) >= PROBES_WITHIN) {
                caller.probes.pop_front();
            }
        }
        callers.retain(|_, caller| caller.is_probing || caller.takes_snapshot || !caller.probes.is_empty());
        let caller = callers.entry(user).or_default();
        if caller.is_probing {
            return Err(Duration::from_secs(1));
        }
        if caller.probes.len() >= MOST_PROBES
            && let Some(first) = caller.probes.front()
        {
            return Err(PROBES_WITHIN.saturating_sub(now.duration_since(*first)));
        }
        caller.is_probing = true;
        caller.probes.push_back(now);
        Ok(Probing(user, self.clone()))
    }
}

impl Drop for TakingSnapshot {
    fn drop(&mut self) {
        if let Some(caller) = self.1.0.lock().get_mut(&self.0) {
            caller.takes_snapshot = false;
        }
    }
}

impl Drop for Probing {
    fn drop(&mut self) {
        if let Some(caller) = self.1.0.lock().get_mut(&self.0) {
            caller.is_probing = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_has_one_probe_at_a_time_and_ten_a_minute() {
        let (callers, begin) = (Callers::default(), Instant::now());
        let at = |seconds| begin + Duration::from_secs(seconds);
        let first = callers.probe(UserId(1), at(0)).unwrap();
        assert_eq!(callers.probe(UserId(1), at(0)).unwrap_err(), Duration::from_secs(1));
        assert!(callers.probe(UserId(2), at(0)).is_ok());
        drop(first);
        for _ in 1..MOST_PROBES {
            assert!(callers.probe(UserId(1), at(10)).is_ok());
        }
        assert_eq!(callers.probe(UserId(1), at(20)).unwrap_err(), Duration::from_secs(40));
        assert!(callers.probe(UserId(1), at(60)).is_ok(), "the first is a minute ago");
        assert_eq!(callers.probe(UserId(1), at(61)).unwrap_err(), Duration::from_secs(9));
    }

    #[test]
    fn a_snapshot_is_on_its_way_to_a_user_once_and_to_few_at_a_time() {
        let callers = Callers::default();
        let first = callers.take_snapshot(UserId(1)).unwrap();
        assert!(callers.take_snapshot(UserId(1)).is_none());
        let others: Vec<_> = (10..50).filter_map(|user| callers.take_snapshot(UserId(user))).collect();
        assert_eq!(others.len(), MOST_SNAPSHOTS - 1);
        drop(first);
        assert!(callers.take_snapshot(UserId(1)).is_some());
    }

    #[test]
    fn callers_of_a_minute_ago_are_forgotten() {
        let (callers, begin) = (Callers::default(), Instant::now());
        for user in 0..1_000 {
            assert!(callers.probe(UserId(user), begin).is_ok());
        }
        assert!(callers.probe(UserId(5_000), begin + PROBES_WITHIN).is_ok());
        assert_eq!(callers.0.lock().len(), 1);
    }
}
