//! A job, and what became of it.

use market::{Bid, Milliseconds};

/// A job that can be suspended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// When its user submits it, on the clock of the workload.
    pub submit: Milliseconds,
    /// How long it runs alone on its nodes.
    pub run_time: Milliseconds,
    /// How many nodes it runs on.
    pub nodes: u32,
    /// Whose it is, as a number.
    pub user: u32,
    /// Whether other jobs on its nodes do not slow it down ([`super::Slowdown::ByKind`]).
    pub is_io_bound: bool,
}

impl Job {
    /// The run time in whole minutes, rounded up, at least one: the t of the tables of Geweke 2000.
    #[must_use]
    pub fn whole_minutes(&self) -> u64 {
        self.run_time.0.div_ceil(Milliseconds::MINUTE.0).max(1)
    }

    /// Nodes times run time, in node-seconds.
    #[must_use]
    pub fn node_seconds(&self) -> f64 {
        f64::from(self.nodes) * self.run_time.0 as f64 / 1_000.0
    }
}

/// How a job stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Standing {
    /// It has not been submitted yet.
    #[default]
    Coming,
    /// It has not run yet.
    Queued,
    /// It runs.
    Running,
    /// It has run, and waits to go on.
    Suspended,
    /// It has done its work.
    Done,
    /// Its user has withdrawn it.
    Withdrawn,
    /// Its user has not submitted it.
    Skipped,
    /// It wants more nodes than there are, or none (Geweke 2000, 5.2.3.2).
    Ineligible,
}

impl Standing {
    /// Whether it wants to run, or runs.
    #[must_use]
    pub fn is_present(self) -> bool {
        matches!(self, Standing::Queued | Standing::Running | Standing::Suspended)
    }
}

/// What became of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Record {
    /// How it stands at the end.
    pub standing: Standing,
    /// When it was submitted; the user may have delayed that.
    pub submitted: Option<Milliseconds>,
    /// When it ran first.
    pub first_start: Option<Milliseconds>,
    /// When it was done, or was withdrawn.
    pub end: Option<Milliseconds>,
    /// How long it was suspended, all in all.
    pub suspended: Milliseconds,
    /// How many times it was suspended.
    pub suspensions: u32,
    /// What it bid last.
    pub bid: Bid,
    /// What it has paid, in credits.
    pub paid: f64,
}

impl Record {
    /// How long it waited for its first start (D_q of Geweke 2000, 7.2.2.1).
    #[must_use]
    pub fn queued(&self) -> Option<Milliseconds> {
        Some(self.first_start? - self.submitted?)
    }

    /// By how long others on its nodes have slowed it down (D_l), of a job that is done.
    #[must_use]
    pub fn slowed_down(&self, job: &Job) -> Option<Milliseconds> {
        Some(self.end? - self.first_start? - self.suspended - job.run_time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_time_is_rounded_up_to_whole_minutes_and_is_at_least_one() {
        let job = |seconds: u64| Job {
            submit: Milliseconds::ZERO,
            run_time: Milliseconds(seconds * 1_000),
            nodes: 2,
            user: 1,
            is_io_bound: false,
        };
        assert_eq!([0, 1, 60, 61, 120].map(|seconds| job(seconds).whole_minutes()), [1, 1, 1, 2, 2]);
        assert_eq!(job(90).node_seconds(), 180.0);
    }
}
