//! How many jobs each user has submitted within the last hour, by the minute.
//!
//! It is counted in this process alone and begins anew with it. The table is bounded: where so many
//! users submitted within the hour that it is full, nothing is known of one more.

use job_types::number::UserId;
use job_types::time::UnixTime;
use parking_lot::Mutex;
use std::collections::HashMap;

/// Minutes that are kept: a submission counts for an hour at least, and a minute more at most.
const MINUTES: usize = 61;

/// The most users that are kept, in some 9 MB.
const MOST_USERS: usize = 65_536;

/// What users have submitted.
#[derive(Debug)]
pub(crate) struct Throttle {
    users: Mutex<Option<HashMap<UserId, Minutes>>>,
    most: usize,
}

/// The submissions of a user in each of the last minutes.
#[derive(Clone, Copy, Debug)]
struct Minutes {
    /// The last minute in which there was one, since 1970.
    last: i64,
    counts: [u16; MINUTES],
}

impl Minutes {
    /// Leaves out what is too old by a minute.
    fn up_to(mut self, minute: i64) -> Minutes {
        let passed = minute.saturating_sub(self.last);
        if passed >= MINUTES as i64 {
            self.counts = [0; MINUTES];
        }
        for gone in 0..passed.clamp(0, MINUTES as i64) {
            self.counts[place(minute - gone)] = 0;
        }
        // Where the clock was set back, the minutes that were ahead count until they have passed.
        self.last = self.last.max(minute);
        self
    }

    fn sum(&self) -> u32 {
        self.counts.iter().map(|count| u32::from(*count)).sum()
    }
}

fn place(minute: i64) -> usize {
    minute.rem_euclid(MINUTES as i64) as usize
}

impl Throttle {
    pub(crate) const fn new() -> Throttle {
        Throttle { users: Mutex::new(None), most: MOST_USERS }
    }

    /// How many jobs a user has submitted within the last hour; `None` where that is not known.
    pub(crate) fn count(&self, user: UserId, now: UnixTime) -> Option<u32> {
        let users = self.users.lock();
        let Some(users) = users.as_ref() else { return Some(0) };
        match users.get(&user) {
            Some(minutes) => Some(minutes.up_to(now.0.div_euclid(60)).sum()),
            None => (users.len() < self.most).then_some(0),
        }
    }

    /// Counts a job that a user submits.
    pub(crate) fn note(&self, user: UserId, now: UnixTime) {
        let minute = now.0.div_euclid(60);
        let mut users = self.users.lock();
        let users = users.get_or_insert_default();
        if users.len() >= self.most && !users.contains_key(&user) {
            users.retain(|_, minutes| minutes.up_to(minute).sum() > 0);
            if users.len() >= self.most {
                return;
            }
        }
        let minutes = users.entry(user).or_insert(Minutes { last: minute, counts: [0; MINUTES] });
        *minutes = minutes.up_to(minute);
        let count = &mut minutes.counts[place(minute)];
        *count = count.saturating_add(1);
    }
}
