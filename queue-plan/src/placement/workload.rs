//! What a cluster has to do: jobs that run, that wait and that come, and reservations that were
//! granted.

use job_types::time::{Seconds, UnixTime};

use super::slot::Slot;
use crate::profile::Profile;
use crate::resources::Resources;

/// A job that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// When it ends by its estimate.
    pub until: UnixTime,
    /// When it ends in plans: not before now, and not after that.
    pub ends: UnixTime,
    /// What it holds.
    pub holds: Resources,
}

/// A job that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// How long it runs by its estimate.
    pub estimate: Seconds,
    /// How long it runs in plans: not longer than that.
    pub runs: Seconds,
    /// What it asks for.
    pub asks: Resources,
}

/// A job that has not been submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coming {
    /// When it is submitted: not before now.
    pub at: UnixTime,
    /// What it asks for, and for how long.
    pub job: Waiting,
}

/// A reservation that was granted and has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// When it is.
    pub slot: Slot,
    /// What it takes.
    pub takes: Resources,
}

/// What a cluster has to do at a moment: the input of every ranking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// The present.
    pub now: UnixTime,
    /// What the cluster has (R_N).
    pub offers: Resources,
    /// The jobs that run.
    pub running: Vec<Running>,
    /// The jobs that wait, in their order.
    pub waiting: Vec<Waiting>,
    /// The jobs that come, as far as they are known to plans, in their order; they wait behind all
    /// others. Publication and cluster know of none.
    pub coming: Vec<Coming>,
    /// The reservations that were granted.
    pub granted: Vec<Granted>,
}

impl Workload {
    /// Returns what is free from now on beside running jobs and reservations.
    #[must_use]
    pub fn profile(&self) -> Profile {
        let mut profile = Profile::new(self.now, self.offers);
        for job in &self.running {
            profile.take(self.now, job.until, job.holds);
        }
        for granted in &self.granted {
            profile.take(granted.slot.start.max(self.now), granted.slot.end, granted.takes);
        }
        profile
    }

    /// Returns the backlog of the jobs in seconds: what they need by their estimates, over all that
    /// the cluster has (footnote 5).
    #[must_use]
    pub fn backlog_of_jobs(&self) -> f64 {
        let running = self.running.iter().map(|job| self.part(job.until - self.now, job.holds));
        let waiting = self.waiting.iter().map(|job| self.part(job.estimate, job.asks));
        running.chain(waiting).sum()
    }

    /// Returns the backlog of jobs and reservations in seconds (L_r of section 5.2).
    #[must_use]
    pub fn backlog(&self) -> f64 {
        self.backlog_of_jobs() + self.granted.iter().map(|granted| self.area(granted)).sum::<f64>()
    }

    /// Returns for how many seconds a reservation would take the whole cluster, from now on.
    #[must_use]
    pub fn area(&self, granted: &Granted) -> f64 {
        self.part(granted.slot.left(self.now), granted.takes)
    }

    /// For how long the whole cluster would be taken by what takes a part of it for so long.
    fn part(&self, time: Seconds, takes: Resources) -> f64 {
        time.0.max(0) as f64 * takes.cpus as f64 / self.offers.cpus.max(1) as f64
    }
}
