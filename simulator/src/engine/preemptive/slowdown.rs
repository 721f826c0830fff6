//! How much longer a job takes beside others on its nodes.

use super::Job;

/// How much longer a job takes beside others on its nodes (Geweke 2000, 6.2.4.3 and 7.2.1.6).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Slowdown {
    /// As many times as long as the most jobs are that run on any of its nodes.
    #[default]
    One,
    /// 1 + k m times as long, m being the most other jobs that run on any of its nodes and k its
    /// factor.
    ByKind(Factors),
}

/// The factor of a job by its number of nodes; a job that is I/O-bound has the factor 0. The thesis
/// has the factors and says of sizes "sequential", "small" and "large".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Factors {
    /// The factor of jobs on one node.
    pub sequential: u32,
    /// The factor of jobs on more nodes.
    pub small: u32,
    /// The factor of jobs from [`Self::large_from`] on.
    pub large: u32,
    /// The number of nodes from which a job is large.
    pub large_from: u32,
}

impl Default for Factors {
    fn default() -> Self {
        Self { sequential: 1, small: 2, large: 3, large_from: 16 }
    }
}

impl Slowdown {
    /// How many times as long a job takes while at most `most_jobs` run on any of its nodes, it
    /// among them.
    #[must_use]
    pub fn times(self, job: &Job, most_jobs: u32) -> u32 {
        let factor = match self {
            Slowdown::One => 1,
            Slowdown::ByKind(_) if job.is_io_bound => 0,
            Slowdown::ByKind(factors) if job.nodes <= 1 => factors.sequential,
            Slowdown::ByKind(factors) if job.nodes < factors.large_from => factors.small,
            Slowdown::ByKind(factors) => factors.large,
        };
        1 + factor.saturating_mul(most_jobs.saturating_sub(1))
    }
}
