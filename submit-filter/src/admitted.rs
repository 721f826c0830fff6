//! What was admitted with deadlines since the queue was read that a snapshot knows.
//!
//! An admitted job is a promise, so that whoever is admitted next has to count it, whoever's it is:
//! otherwise a burst of jobs would be promised the same free CPUs. (Other claims are each user's
//! own: see [`claims`](crate::claims).) What somebody admits in vain, because Slurm refuses the job
//! in the end or its user cancels it at once, counts until slurmctld's queue has been read again,
//! and no longer.
//!
//! A snapshot knows the queue as of a moment before it was published, and jobs are admitted
//! meanwhile. So the moments of admission are kept, across snapshots, and a snapshot counts those
//! that its own queue is too old to have.

use job_types::time::{Seconds, UnixTime};
use parking_lot::{Mutex, MutexGuard};
use predictor_core::forecast::Claims;
use std::collections::HashMap;

/// How long after it was admitted a job may not be in slurmctld's queue yet, in whole seconds.
const UNDERWAY: Seconds = Seconds(2);

/// How many moments are told apart in one partition. Where there are more, the earliest are taken
/// for the later of them, and so count longer.
const MOST_MOMENTS: usize = 64;

/// What was admitted, by partition.
///
/// The lock is held while one job with a deadline is decided about, so that two that come at once
/// are not promised the same. Other submissions never take it.
#[derive(Debug, Default)]
pub(crate) struct AdmittedTable(Mutex<HashMap<Box<str>, Vec<Admission>>>);

/// What was admitted in one second.
#[derive(Clone, Copy, Debug)]
struct Admission {
    at: UnixTime,
    claims: Claims,
}

/// The turn to decide about a job with a deadline.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    partitions: MutexGuard<'a, HashMap<Box<str>, Vec<Admission>>>,
    /// From when on what was admitted may be missing in the snapshot's queue; `None` where its
    /// queue was never read.
    since: Option<UnixTime>,
    now: UnixTime,
}

impl AdmittedTable {
    pub(crate) fn new() -> AdmittedTable {
        AdmittedTable::default()
    }

    /// Waits for those that decide already, and takes the turn. The snapshot that is decided from
    /// knows the queue of slurmctld as of `read_at`.
    pub(crate) fn turn(&self, read_at: Option<UnixTime>, now: UnixTime) -> Turn<'_> {
        Turn { partitions: self.0.lock(), since: read_at.map(|read_at| read_at - UNDERWAY), now }
    }
}

impl Turn<'_> {
    /// What was admitted to a partition that its queue does not know.
    pub(crate) fn of(&mut self, partition: &str) -> Claims {
        let mut sum = Claims::default();
        let Some(admissions) = self.partitions.get_mut(partition) else { return sum };
        for admission in admissions {
            // After the clock was set back it would count for as long as that was.
            admission.at = admission.at.min(self.now);
            if self.since.is_none_or(|since| admission.at >= since) {
                sum.add(&admission.claims);
            }
        }
        sum
    }

    /// Adds a job that was admitted to a partition. What the snapshot's queue knows is forgotten.
    pub(crate) fn add(&mut self, partition: &str, claims: &Claims) {
        let (since, now) = (self.since, self.now);
        self.partitions.retain(|_, admissions| {
            admissions.retain(|admission| since.is_none_or(|since| admission.at >= since));
            !admissions.is_empty()
        });
        let admissions = self.partitions.entry(partition.into()).or_default();
        match admissions.last_mut() {
            Some(last) if last.at == now => last.claims.add(claims),
            _ => admissions.push(Admission { at: now, claims: *claims }),
        }
        if admissions.len() > MOST_MOMENTS {
            let earliest = admissions.remove(0);
            if let Some(next) = admissions.first_mut() {
                next.claims.add(&earliest.claims);
            }
        }
    }
}
