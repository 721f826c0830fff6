//! How the room of the file is shared by user.

use std::collections::HashMap;

/// The part of the room that each user's jobs may take. Users who need no more than their part have
/// what they need, and the others share the rest evenly.
pub(super) struct Shares {
    most_bytes: usize,
    most_jobs: usize,
    taken: HashMap<Option<i64>, (usize, usize)>,
}

impl Shares {
    /// Shares the room among the users of jobs, which are given by their users and sizes.
    pub(super) fn new(jobs: impl Iterator<Item = (Option<i64>, usize)>, room: usize, most_jobs: usize) -> Shares {
        let mut wanted: HashMap<Option<i64>, (usize, usize)> = HashMap::new();
        for (user, bytes) in jobs {
            let wanted = wanted.entry(user).or_default();
            *wanted = (wanted.0.saturating_add(bytes), wanted.1 + 1);
        }
        let most_bytes = even_share(wanted.values().map(|(bytes, _)| *bytes), room);
        let most_jobs = even_share(wanted.values().map(|(_, jobs)| *jobs), most_jobs);
        Shares { most_bytes, most_jobs, taken: HashMap::new() }
    }

    /// Whether one more job of that size is within its user's share, of which it is taken then.
    pub(super) fn takes(&mut self, user: Option<i64>, bytes: usize) -> bool {
        let taken = self.taken.entry(user).or_default();
        let next = (taken.0.saturating_add(bytes), taken.1 + 1);
        let fits = next.0 <= self.most_bytes && next.1 <= self.most_jobs;
        if fits {
            *taken = next;
        }
        fits
    }
}

/// The most that each may have so that all together have no more than the room.
fn even_share(wanted: impl Iterator<Item = usize>, room: usize) -> usize {
    let mut wanted: Vec<usize> = wanted.collect();
    wanted.sort_unstable();
    let (mut left, mut others) = (room, wanted.len());
    for want in wanted {
        let share = left / others.max(1);
        if want > share {
            return share;
        }
        (left, others) = (left - want, others - 1);
    }
    usize::MAX
}
