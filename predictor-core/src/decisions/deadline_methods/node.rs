//! What a node that is shared in time has to do, and the job that is asked about.

use job_types::time::{Seconds, UnixTime};

use super::needed_share::NeededShare;
use super::share::Claim;

/// The jobs of one node, summed up: a flat record of which a machine has one for each node.
///
/// A job that comes is added ([`NodeLoad::add`]); where one leaves, or time has passed, the record
/// is made anew from the jobs that are left ([`NodeLoad::of`]), because the earliest of the
/// deadlines is not known from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeLoad {
    /// The sum of the shares of its jobs (Yeo and Buyya 2006, equation 2); of their means, where
    /// run times are not known for sure.
    pub total_share: f64,
    /// The variance of that sum; zero where shares are by estimates.
    pub variance: f64,
    /// The earliest deadline of its jobs; the end of time where there is none.
    pub earliest_deadline: UnixTime,
    /// The latest deadline of its jobs; the beginning of time where there is none.
    pub latest_deadline: UnixTime,
    /// How many jobs it has.
    pub jobs: u32,
}

impl Default for NodeLoad {
    fn default() -> Self {
        Self::IDLE
    }
}

impl NodeLoad {
    /// A node without jobs.
    pub const IDLE: NodeLoad =
        NodeLoad { total_share: 0.0, variance: 0.0, earliest_deadline: UnixTime(i64::MAX), latest_deadline: UnixTime(i64::MIN), jobs: 0 };

    /// A node with jobs that have these shares and deadlines.
    #[must_use]
    pub fn of(jobs: impl IntoIterator<Item = (f64, UnixTime)>) -> Self {
        jobs.into_iter().fold(Self::IDLE, |mut load, (share, deadline)| {
            load.add(share, deadline);
            load
        })
    }

    /// Adds a job.
    pub fn add(&mut self, share: f64, deadline: UnixTime) {
        self.add_uncertain(NeededShare::sure(share), deadline);
    }

    /// Adds a job whose share is not known for sure.
    pub fn add_uncertain(&mut self, share: NeededShare, deadline: UnixTime) {
        self.total_share += share.mean;
        self.variance += share.variance;
        self.earliest_deadline = self.earliest_deadline.min(deadline);
        self.latest_deadline = self.latest_deadline.max(deadline);
        self.jobs = self.jobs.saturating_add(1);
    }
}

/// A job with a deadline for which nodes are looked for. All nodes are of one kind, and it needs
/// the same share of each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Newcomer {
    /// The share of a node that the job needs (equation 1), more than one where it would be late on
    /// idle nodes by its estimate.
    pub share: f64,
    /// The job's deadline.
    pub deadline: UnixTime,
    /// How many nodes the job needs, at least one.
    pub nodes: usize,
}

impl Newcomer {
    /// A job that is submitted at a moment and is estimated to run so long. `None` where its
    /// deadline has passed: nothing can be done for it.
    #[must_use]
    pub fn submitted(now: UnixTime, estimate: Seconds, deadline: UnixTime, nodes: usize) -> Option<Self> {
        let claim = Claim { remaining_run_s: estimate.0.max(0) as f64, remaining_deadline_s: (deadline - now).0 as f64 };
        (!claim.is_late()).then(|| Self { share: claim.share(), deadline, nodes: nodes.max(1) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_knows_the_sum_of_its_shares_and_the_span_of_its_deadlines() {
        let load = NodeLoad::of([(0.5, UnixTime(30)), (0.25, UnixTime(20)), (0.125, UnixTime(40))]);
        assert_eq!((load.total_share, load.jobs), (0.875, 3));
        assert_eq!((load.earliest_deadline, load.latest_deadline), (UnixTime(20), UnixTime(40)));
        assert_eq!(NodeLoad::of([]), NodeLoad::IDLE);
    }

    #[test]
    fn a_job_needs_its_estimate_over_the_time_until_its_deadline() {
        let share = |now, deadline| Newcomer::submitted(UnixTime(now), Seconds(50), UnixTime(deadline), 2).map(|job| job.share);
        assert_eq!(share(100, 200), Some(0.5));
        assert_eq!(share(100, 110), Some(5.0));
        assert_eq!(share(100, 100), None);
        assert_eq!(share(i64::MAX, i64::MIN), None);
    }
}
