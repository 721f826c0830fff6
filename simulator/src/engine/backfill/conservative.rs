//! Conservative backfilling.

use job_types::time::UnixTime;

use super::{Backfill, Cluster, Event};
use crate::engine::{JobIndex, Waiting};
use queue_plan::{Profile, Resources};

/// A job that has no reservation.
const NONE: UnixTime = UnixTime(i64::MIN);

/// Conservative backfilling: every job has a reservation from the moment it comes into the queue,
/// the earliest that delays nobody's; when a job ends before it was expected to, reservations move
/// forward, the soonest first and those of one moment in the order of the queue, each to the
/// earliest time that is then free, never back (A. Mu'alem and D. Feitelson, IEEE TPDS 12(6),
/// 2001).
///
/// Where running jobs outlive what they were expected to run, time limits are changed, or the
/// queue's order changes with time, all reservations are made anew, and a promise may be broken.
#[derive(Debug, Clone)]
pub struct Conservative {
    /// Free processors over time: running jobs, blocks and reservations taken off.
    profile: Option<Profile>,
    /// When the reservation of each job begins.
    reserved: Vec<UnixTime>,
    /// The soonest of them that is still to come.
    soonest: Option<UnixTime>,
}

impl Default for Conservative {
    fn default() -> Self {
        Self::new()
    }
}

impl Conservative {
    /// A scheduler that has promised nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self { profile: None, reserved: Vec::new(), soonest: None }
    }

    /// When a waiting job is promised to start.
    #[must_use]
    pub fn promised(&self, job: JobIndex) -> Option<UnixTime> {
        self.reserved.get(job as usize).copied().filter(|&at| at != NONE)
    }

    fn promise(&mut self, job: JobIndex, at: UnixTime) {
        let place = job as usize;
        if place >= self.reserved.len() {
            self.reserved.resize(place + 1, NONE);
        }
        self.reserved[place] = at;
    }

    /// Reserves the earliest time for each job of the queue, as if there were no promises.
    fn reserve_all(&mut self, cluster: &Cluster) -> Profile {
        let now = cluster.now();
        let mut profile = cluster.profile();
        for entry in cluster.waiting() {
            let at = reserve(&mut profile, now, entry);
            self.promise(entry.job, at);
        }
        profile
    }

    /// Moves reservations forward, the soonest first: what stands in the way of one has then moved
    /// already, and no gap is left that a later one leaves behind.
    fn compress(&mut self, profile: &mut Profile, cluster: &Cluster) {
        let now = cluster.now();
        let promised = cluster.waiting().iter().filter_map(|entry| Some((self.promised(entry.job)?, entry)));
        let mut promised: Vec<(UnixTime, &Waiting)> = promised.filter(|&(at, _)| at > now).collect();
        promised.sort_by_key(|&(at, _)| at);
        for (before, entry) in promised {
            profile.give_back(before, before + entry.expected, Resources::of_cpus(entry.processors.into()));
            let at = reserve(profile, now, entry);
            self.promise(entry.job, at);
        }
    }
}

/// Takes the earliest time that is free for a job, and returns it.
fn reserve(profile: &mut Profile, now: UnixTime, entry: &Waiting) -> UnixTime {
    let processors = Resources::of_cpus(entry.processors.into());
    // A job that is larger than the machine never gets here; blocks end.
    let at = profile.earliest(now, processors, entry.expected).unwrap_or(UnixTime(i64::MAX));
    profile.take(at, at + entry.expected, processors);
    at
}

impl Backfill for Conservative {
    fn pass(&mut self, event: Event, cluster: &mut Cluster) {
        let now = cluster.now();
        let mut profile = match (self.profile.take(), event) {
            (Some(mut profile), Event::Ended { job, expected_end }) => {
                profile.forget_before(now);
                if expected_end > now {
                    profile.give_back(now, expected_end, Resources::of_cpus(cluster.job(job).processors.into()));
                    self.compress(&mut profile, cluster);
                }
                profile
            }
            (Some(mut profile), Event::Queued { .. } | Event::Woken) => {
                profile.forget_before(now);
                profile
            }
            (None, _) | (_, Event::Corrected { .. } | Event::Revised) => self.reserve_all(cluster),
        };
        let mut free = cluster.free();
        let mut soonest = None;
        for position in 0..cluster.waiting().len() {
            let Some(&entry) = cluster.waiting().get(position) else { break };
            let promised = self.promised(entry.job);
            let at = promised.unwrap_or_else(|| reserve(&mut profile, now, &entry));
            // What is promised for now may still be held by a job that outlives what it was
            // expected to run: the correction comes next.
            if at <= now && i64::from(entry.processors) <= free {
                cluster.start(position);
                free -= i64::from(entry.processors);
                self.promise(entry.job, NONE);
                continue;
            }
            soonest = Some(soonest.map_or(at, |soonest: UnixTime| soonest.min(at)));
            if promised.is_none() {
                self.promise(entry.job, at);
            }
        }
        self.soonest = soonest.filter(|&at| at > now);
        self.profile = Some(profile);
    }

    fn wakes_at(&self) -> Option<UnixTime> {
        self.soonest
    }
}
