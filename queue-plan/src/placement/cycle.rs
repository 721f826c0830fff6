//! One scheduling cycle: who starts now.

use job_types::time::UnixTime;

use super::slot::Slot;
use super::workload::{Granted, Waiting};
use crate::profile::Profile;

/// One scheduling cycle (section 2): first come, first served, with EASY backfilling beside
/// reservations. At a moment the jobs at the head start while they fit, then reservations may be
/// granted, and then the others may start.
///
/// A job fits if what it asks for is free for its whole estimate, beside running jobs, reservations
/// and the lock of the head.
#[derive(Clone, Debug)]
pub struct Cycle {
    /// What is free, by estimates; what has started in this cycle, and the lock, are taken.
    pub profile: Profile,
    /// The present.
    now: UnixTime,
    /// How many jobs at the head have started.
    started: usize,
    /// What is kept for the first job that could not start; it delays no others where it never
    /// fits.
    lock: Option<Granted>,
}

impl Cycle {
    /// Starts the jobs at the head of the queue, until the first that does not fit: what it needs
    /// is locked at the earliest time at which it is free for its whole estimate.
    #[must_use]
    pub fn of_heads(now: UnixTime, mut profile: Profile, waiting: impl IntoIterator<Item = Waiting>) -> Self {
        let (mut started, mut lock) = (0, None);
        for job in waiting {
            let at = profile.earliest(now, job.asks, job.estimate);
            if let Some(start) = at {
                profile.take(start, start + job.estimate, job.asks);
            }
            if at == Some(now) {
                started += 1;
                continue;
            }
            lock = at.map(|start| Granted { slot: Slot::of(start, job.estimate), takes: job.asks });
            break;
        }
        Self { profile, now, started, lock }
    }

    /// Returns how many jobs at the head of the queue start now.
    #[must_use]
    pub fn started(&self) -> usize {
        self.started
    }

    /// Returns what is locked for the first job that does not start.
    #[must_use]
    pub fn lock(&self) -> Option<Granted> {
        self.lock
    }

    /// Whether a reservation would conflict with nothing: running jobs, granted reservations and
    /// the lock.
    #[must_use]
    pub fn has_room_for(&self, wanted: &Granted) -> bool {
        self.profile.earliest(wanted.slot.start, wanted.takes, wanted.slot.duration()) == Some(wanted.slot.start)
    }

    /// Takes a reservation into the cycle.
    pub fn grant(&mut self, granted: &Granted) {
        self.profile.take(granted.slot.start, granted.slot.end, granted.takes);
    }

    /// Takes a reservation out of the cycle that was in it.
    pub fn give_back(&mut self, granted: &Granted) {
        self.profile.give_back(granted.slot.start.max(self.now), granted.slot.end, granted.takes);
    }

    /// Starts each of the jobs behind the head that fits, and says which by their places among
    /// `behind`.
    pub fn backfill(&mut self, behind: impl IntoIterator<Item = Waiting>) -> Vec<usize> {
        let mut started = Vec::new();
        let mut free = self.profile.free_at(self.now);
        for (place, job) in behind.into_iter().enumerate() {
            let may_fit = job.asks.cpus <= free.cpus;
            if may_fit && self.profile.earliest(self.now, job.asks, job.estimate) == Some(self.now) {
                self.profile.take(self.now, self.now + job.estimate, job.asks);
                free -= job.asks;
                started.push(place);
            }
        }
        started
    }

    /// Takes the lock out of the profile, for the next cycle.
    #[must_use]
    pub fn without_lock(mut self) -> Profile {
        if let Some(lock) = self.lock {
            self.profile.give_back(lock.slot.start, lock.slot.end, lock.takes);
        }
        self.profile
    }
}
