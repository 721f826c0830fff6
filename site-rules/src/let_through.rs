//! How many jobs of each user were let through that the daemon has not read yet.
//!
//! The daemon counts the jobs that were submitted before a moment
//! ([`crate::data::DataFile::counted_before`]), and here those are counted that were let through
//! from that moment on, so that each job is counted once. What Slurm refuses after it was let
//! through is no longer counted as soon as the daemon has read the queue again.
//!
//! The table is bounded: where so many users have submitted since then that it is full, nothing is
//! known of one more.

use arrayvec::ArrayVec;
use job_types::number::UserId;
use job_types::time::UnixTime;
use std::collections::BTreeMap;

/// The most users that are kept, in some 5 MB.
pub const MOST_USERS: usize = 16_384;

/// The most moments that are kept of a user.
const MOMENTS: usize = 16;

/// Jobs that were let through at a moment.
#[derive(Clone, Copy, Debug)]
struct Submitted {
    at: UnixTime,
    jobs: u32,
}

/// What was let through since the daemon has counted.
#[derive(Clone, Debug)]
pub struct LetThrough {
    /// The jobs of each user, in the order of their moments.
    users: BTreeMap<UserId, ArrayVec<Submitted, MOMENTS>>,
    most: usize,
}

impl Default for LetThrough {
    fn default() -> LetThrough {
        LetThrough::new()
    }
}

impl LetThrough {
    /// Nothing was let through.
    #[must_use]
    pub const fn new() -> LetThrough {
        LetThrough { users: BTreeMap::new(), most: MOST_USERS }
    }

    /// How many jobs of a user were let through from a moment on; `None` where that is not known.
    #[must_use]
    pub fn since(&self, user: UserId, begin: UnixTime) -> Option<u32> {
        match self.users.get(&user) {
            Some(moments) => Some(moments.iter().filter(|one| one.at >= begin).fold(0, |sum, one| sum.saturating_add(one.jobs))),
            None => (self.users.len() < self.most).then_some(0),
        }
    }

    /// Counts jobs of a user that are let through now, and forgets what was before `begin`.
    pub fn note(&mut self, user: UserId, now: UnixTime, jobs: u32, begin: UnixTime) {
        if self.users.len() >= self.most && !self.users.contains_key(&user) {
            self.users.retain(|_, moments| moments.iter().any(|one| one.at >= begin));
            if self.users.len() >= self.most {
                return;
            }
        }
        let moments = self.users.entry(user).or_default();
        moments.retain(|one| one.at >= begin);
        // If the clock was set back, what was let through before is no later than now, so that it
        // is forgotten as soon as the daemon has counted by the same clock.
        for one in moments.iter_mut() {
            one.at = one.at.min(now);
        }
        if let Some(last) = moments.last_mut().filter(|last| last.at == now) {
            last.jobs = last.jobs.saturating_add(jobs);
            return;
        }
        if moments.is_full() {
            // The oldest are counted for as long as those behind them.
            let oldest = moments.remove(0);
            if let Some(next) = moments.first_mut() {
                next.jobs = next.jobs.saturating_add(oldest.jobs);
            }
        }
        moments.push(Submitted { at: now, jobs });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: UserId = UserId(1_000);

    #[test]
    fn what_was_let_through_since_a_moment_is_counted_once() {
        let mut through = LetThrough::new();
        for (at, jobs) in [(10, 1), (12, 4), (12, 1), (15, 1)] {
            through.note(USER, UnixTime(at), jobs, UnixTime(0));
        }
        let counts = [0, 10, 11, 12, 13, 16].map(|begin| through.since(USER, UnixTime(begin)));
        assert_eq!(counts, [7, 7, 6, 6, 1, 0].map(Some));
        assert_eq!(through.since(UserId(1), UnixTime(0)), Some(0), "another user's are not counted");
        through.note(USER, UnixTime(20), 1, UnixTime(15));
        assert_eq!(through.since(USER, UnixTime(0)), Some(2), "what the daemon has counted is forgotten");
    }

    #[test]
    fn of_many_moments_the_sum_is_kept() {
        let mut through = LetThrough::new();
        for at in 0..100 {
            through.note(USER, UnixTime(at), 1, UnixTime(0));
        }
        assert_eq!((through.since(USER, UnixTime(0)), through.since(USER, UnixTime(90))), (Some(100), Some(10)));
    }

    #[test]
    fn a_clock_that_is_set_back_loses_nothing_and_counts_nothing_for_longer() {
        let mut through = LetThrough::new();
        for at in 0..100 {
            through.note(USER, UnixTime(100_000 + at), 1, UnixTime(100_000));
        }
        through.note(USER, UnixTime(50), 1, UnixTime(0));
        assert_eq!(through.since(USER, UnixTime(50)), Some(101));
        through.note(USER, UnixTime(60), 1, UnixTime(0));
        let counts = [50, 51, 61].map(|begin| through.since(USER, UnixTime(begin)));
        assert_eq!(counts, [Some(102), Some(1), Some(0)], "the daemon has counted what came before");
    }

    #[test]
    fn in_a_full_table_there_is_room_once_the_daemon_has_counted() {
        let mut through = LetThrough { most: 2, ..LetThrough::new() };
        for user in [1, 2, 3] {
            through.note(UserId(user), UnixTime(10), 1, UnixTime(0));
        }
        assert_eq!([1, 2, 3].map(|user| through.since(UserId(user), UnixTime(0))), [Some(1), Some(1), None]);
        through.note(UserId(3), UnixTime(30), 2, UnixTime(20));
        assert_eq!((through.since(UserId(3), UnixTime(20)), through.users.len()), (Some(2), 1));
    }
}
