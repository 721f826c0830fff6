//! Bounds how much a user may be promised before any of it is confirmed.
//!
//! A promise counts for others from the moment at which it is given, whether or not Slurm takes the
//! job. A user whose jobs with promises came to be may be promised several times the room of a
//! partition within one interval; one whose jobs did not, as the readings of the queue tell, a part
//! of it that becomes the smaller the more of them there were.

use job_types::number::UserId;
use job_types::time::{Seconds, UnixTime};
use std::collections::HashMap;

/// How many times the CPUs of a partition a user may be promised between two readings.
const ROOMS: f64 = 4.0;

/// The most users whose outcomes are kept.
const MOST_USERS: usize = 4_096;

/// After how long an outcome counts half.
const HALVED_AFTER: Seconds = Seconds(3_600);

/// The most outcomes of a kind that count.
const MOST_OUTCOMES: u32 = 1_024;

/// Outcomes of promises by user.
#[derive(Debug, Default)]
pub struct Standings(HashMap<UserId, Standing>);

/// What became of a user's jobs with promises.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    /// The jobs with promises that the queue showed.
    kept: u32,
    /// The jobs with promises that the queue did not show.
    missing: u32,
    at: UnixTime,
}

impl Standing {
    fn at(mut self, now: UnixTime) -> Standing {
        let halvings = (now - self.at).0.div_euclid(HALVED_AFTER.0);
        if halvings > 0 {
            let shift = u32::try_from(halvings).unwrap_or(31).min(31);
            (self.kept, self.missing) = (self.kept >> shift, self.missing >> shift);
            self.at = self.at + Seconds(halvings * HALVED_AFTER.0);
        }
        // If the clock was set back, the time is set back as well, so that no outcome counts for
        // longer.
        self.at = self.at.min(now);
        self
    }
}

impl Standings {
    /// Notes whether a promised job of a user came to be.
    pub fn note(&mut self, user: UserId, is_there: bool, now: UnixTime) {
        if self.0.len() >= MOST_USERS && !self.0.contains_key(&user) {
            self.0.retain(|_, standing| {
                *standing = standing.at(now);
                standing.missing > 0
            });
            if self.0.len() >= MOST_USERS {
                return;
            }
        }
        let standing = self.0.entry(user).or_insert(Standing { at: now, ..Standing::default() });
        *standing = standing.at(now);
        let count = if is_there { &mut standing.kept } else { &mut standing.missing };
        *count = (*count + 1).min(MOST_OUTCOMES);
    }

    /// How many of a user's promised jobs did not come to be lately.
    #[must_use]
    pub fn missing(&self, user: UserId, now: UnixTime) -> u32 {
        self.0.get(&user).map_or(0, |standing| standing.at(now).missing)
    }

    /// How many CPUs of a partition with so many a user may be promised before any of it is
    /// confirmed.
    #[must_use]
    pub fn allowance(&self, user: UserId, cpus: u32, now: UnixTime) -> u64 {
        let Standing { kept, missing, .. } = self.0.get(&user).map(|standing| standing.at(now)).unwrap_or_default();
        let part = f64::from(kept + 1) / f64::from(kept + 1 + missing);
        (f64::from(cpus) * ROOMS * part) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_user_may_be_promised_falls_with_what_did_not_come_to_be_and_comes_back_by_the_hour() {
        let (user, now) = (UserId(7), UnixTime(1_800_000_000));
        let mut standings = Standings::default();
        let mut after = |is_there: bool, times: u32| {
            (0..times).for_each(|_| standings.note(user, is_there, now));
            standings.allowance(user, 256, now)
        };
        assert_eq!([after(true, 0), after(false, 1), after(true, 8), after(false, 990)], [1_024, 512, 921, 9]);
        let later = |hours: i64| standings.allowance(user, 256, now + Seconds(hours * 3_600));
        assert!(later(1) < 20 && later(5) > 30 && later(10) == 1_024, "{} {}", later(1), later(5));
        assert_eq!(standings.allowance(UserId(8), 256, now), 1_024);
    }
}
