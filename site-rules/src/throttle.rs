//! How many jobs each user has submitted within the last hour, by the minute.
//!
//! The table is bounded: where so many users submitted within the hour that it is full, nothing is
//! known of one more.

use job_types::number::UserId;
use job_types::time::UnixTime;
use std::collections::BTreeMap;

/// Minutes that are kept: a submission counts for an hour at least, and a minute more at most.
const MINUTES: usize = 61;

/// The most users that are kept, in some 10 MB.
pub const MOST_USERS: usize = 65_536;

/// What users have submitted.
#[derive(Clone, Debug)]
pub struct Throttle {
    users: BTreeMap<UserId, Minutes>,
    most: usize,
}

/// The submissions of a user in each of the last minutes.
#[derive(Clone, Copy, Debug)]
struct Minutes {
    /// The last minute that is counted, since 1970.
    last: i64,
    /// The submissions of each minute. A minute's place is the remainder of its number.
    counts: [u16; MINUTES],
}

impl Minutes {
    fn place(minute: i64) -> usize {
        usize::try_from(minute.rem_euclid(MINUTES as i64)).unwrap_or(0)
    }

    /// Returns the counts as they are at a later minute, without those that are too old by then.
    fn up_to(mut self, minute: i64) -> Minutes {
        let passed = minute.saturating_sub(self.last);
        // The counts are also dropped if the clock was set back so far, because what was counted
        // would not grow old.
        if passed.unsigned_abs() >= MINUTES as u64 {
            return Minutes { last: minute, counts: [0; MINUTES] };
        }
        for gone in 0..passed {
            if let Some(count) = self.counts.get_mut(Self::place(minute - gone)) {
                *count = 0;
            }
        }
        self.last = self.last.max(minute);
        self
    }

    fn sum(&self) -> u32 {
        self.counts.iter().map(|count| u32::from(*count)).sum()
    }
}

impl Default for Throttle {
    fn default() -> Throttle {
        Throttle::new()
    }
}

impl Throttle {
    /// Nobody has submitted anything.
    #[must_use]
    pub const fn new() -> Throttle {
        Throttle { users: BTreeMap::new(), most: MOST_USERS }
    }

    /// How many jobs a user has submitted within the last hour; `None` where that is not known.
    #[must_use]
    pub fn count(&self, user: UserId, now: UnixTime) -> Option<u32> {
        match self.users.get(&user) {
            Some(minutes) => Some(minutes.up_to(minute(now)).sum()),
            None => (self.users.len() < self.most).then_some(0),
        }
    }

    /// Counts a job that a user submits.
    pub fn note(&mut self, user: UserId, now: UnixTime) {
        let minute = minute(now);
        if self.users.len() >= self.most && !self.users.contains_key(&user) {
            self.users.retain(|_, minutes| minutes.up_to(minute).sum() > 0);
            if self.users.len() >= self.most {
                return;
            }
        }
        let minutes = self.users.entry(user).or_insert(Minutes { last: minute, counts: [0; MINUTES] });
        *minutes = minutes.up_to(minute);
        if let Some(count) = minutes.counts.get_mut(Minutes::place(minute)) {
            *count = count.saturating_add(1);
        }
    }
}

fn minute(now: UnixTime) -> i64 {
    now.0.div_euclid(60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: UnixTime = UnixTime(1_800_000_030);
    const USER: UserId = UserId(1_000);

    fn later(seconds: i64) -> UnixTime {
        UnixTime(NOW.0 + seconds)
    }

    #[test]
    fn a_submission_counts_for_an_hour_and_a_minute_more_at_most() {
        let mut throttle = Throttle::new();
        (0..3).for_each(|_| throttle.note(USER, NOW));
        throttle.note(USER, later(1_800));
        let counts = [0, 3_600, 3_661, 5_400, 5_461, 1_000_000].map(|seconds| throttle.count(USER, later(seconds)));
        assert_eq!(counts, [4, 4, 1, 1, 0, 0].map(Some));
        assert_eq!(throttle.count(UserId(1), NOW), Some(0), "another user's are not counted");
    }

    #[test]
    fn a_clock_that_is_set_back_throttles_nobody_for_long() {
        let mut throttle = Throttle::new();
        (0..3).for_each(|_| throttle.note(USER, NOW));
        assert_eq!(throttle.count(USER, later(-60)), Some(3));
        throttle.note(USER, later(-86_400));
        assert_eq!(throttle.count(USER, later(-86_400)), Some(1));
    }

    #[test]
    fn in_a_full_table_there_is_room_once_others_have_not_submitted_for_an_hour() {
        let mut throttle = Throttle { most: 2, ..Throttle::new() };
        for user in [1, 2, 3] {
            throttle.note(UserId(user), NOW);
        }
        assert_eq!([1, 2, 3].map(|user| throttle.count(UserId(user), NOW)), [Some(1), Some(1), None]);
        throttle.note(UserId(3), later(7_200));
        assert_eq!((throttle.count(UserId(3), later(7_200)), throttle.users.len()), (Some(1), 1));
    }

    proptest! {
        /// The counts are held against a list of all submissions.
        #[test]
        fn counts_are_those_of_a_list_of_minutes(gaps in prop::collection::vec(0_i64..1_000, 0..200)) {
            let (mut throttle, mut now, mut all) = (Throttle::new(), NOW, Vec::new());
            for gap in gaps {
                now = UnixTime(now.0 + gap);
                let within = all.iter().filter(|at: &&UnixTime| minute(now) - minute(**at) < MINUTES as i64).count();
                prop_assert_eq!(throttle.count(USER, now), Some(within as u32));
                throttle.note(USER, now);
                all.push(now);
            }
        }
    }
}
