//! A job that bids, and what a replay did with it.

/// Milliseconds in a minute, by which bids and delays are counted.
pub const MILLISECONDS_PER_MINUTE: u64 = 60_000;

/// A job before anybody has run it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// Whose it is: the user's number in the log.
    pub user: u32,
    /// When it was submitted, from the beginning of the log.
    pub submit_milliseconds: u64,
    /// How long it takes alone on its nodes: t.
    pub run_time_milliseconds: u64,
    /// On how many nodes: n.
    pub nodes: u32,
}

impl Job {
    /// The run time in whole minutes, rounded up, at least one: the t of the thesis's tables.
    #[must_use]
    pub fn whole_minutes(&self) -> u64 {
        self.run_time_milliseconds.div_ceil(MILLISECONDS_PER_MINUTE).max(1)
    }

    /// Nodes times run time, in node-milliseconds.
    #[must_use]
    pub fn node_milliseconds(&self) -> u64 {
        u64::from(self.nodes).saturating_mul(self.run_time_milliseconds)
    }
}

/// What a replay did with a job that ended.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Replayed {
    /// When it ran for the first time, from the beginning of the log.
    pub first_start_milliseconds: u64,
    /// When it had done its work.
    pub end_milliseconds: u64,
    /// How long it was suspended in all.
    pub suspended_milliseconds: u64,
    /// How often it was suspended.
    pub suspensions: u32,
    /// What was paid for it, in credits.
    pub paid_credits: f64,
    /// Its bid, in credits per node and minute; the last where it changed.
    pub bid: f64,
}

#[cfg(test)]
pub(super) mod tests {
    use super::Job;

    /// A job of a user with its run time in seconds, submitted at 0.
    pub(in crate::economy) fn job(user: u32, run_time_seconds: u64, nodes: u32) -> Job {
        Job { user, submit_milliseconds: 0, run_time_milliseconds: run_time_seconds * 1000, nodes }
    }

    #[test]
    fn a_run_time_is_rounded_up_to_whole_minutes_and_is_at_least_one() {
        assert_eq!([0, 1, 60, 61, 120].map(|seconds| job(1, seconds, 1).whole_minutes()), [1, 1, 1, 2, 2]);
    }
}
