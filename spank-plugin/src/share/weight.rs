//! What share of a CPU a job is to have, and what that is as a weight among other jobs.
//!
//! The share is that of Yeo and Buyya (2006), equation 1: the run time that remains over the time
//! that remains until the deadline. A weight says nothing by itself: jobs that compete for a CPU
//! get it in the proportion of their weights.

use job_types::share::{MOST_WEIGHT, WEIGHT_OF_OTHERS, weight_of_cpu};

/// The smallest share that a job is given, so that none stands still.
const LEAST_SHARE: f64 = 0.01;

/// The part of the expected run time that is taken to remain of a job which has outlived it.
const OUTLIVED_PART: f64 = 0.1;

/// The `cpu.shares` of version 1 that are a `cpu.weight` of 100 of version 2, and what a process
/// with a `nice` of 0 weighs.
const SHARES_OF_OTHERS: f64 = 1_024.0;

/// The least and the most that `cpu.shares` takes (kernel/sched/sched.h, `MIN_SHARES` and
/// `MAX_SHARES`).
const SHARES: (f64, f64) = (2.0, 262_144.0);

/// The `nice` values that are given: none is below 0, which is that of the system's own daemons.
const NICE: (f64, f64) = (0.0, 19.0);

/// The factor by which a process weighs less for each `nice` more (kernel/sched/core.c,
/// `sched_prio_to_weight`).
const STEP_OF_NICE: f64 = 1.25;

/// The share of a job that is expected to run `expected_s` with its CPUs to itself, of which
/// `done_s` are done, with `left_s` until its deadline. `None` once the deadline has passed.
pub(crate) fn share(expected_s: f64, done_s: f64, left_s: f64) -> Option<f64> {
    if left_s.is_nan() || left_s <= 0.0 {
        return None;
    }
    let remaining = (expected_s - done_s).max(expected_s * OUTLIVED_PART);
    Some((remaining / left_s).clamp(LEAST_SHARE, 1.0))
}

/// The weight of a job on one node; `of_job` is in the unit of `cpu.weight`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Weight {
    of_job: f64,
    /// What the job has of each of its CPUs; 1 without a share.
    of_each_cpu: f64,
}

impl Weight {
    /// Returns the weight of a job with this share on each of its CPUs of a node. Without a share
    /// it has the weight of a job that Slurm leaves alone.
    pub(crate) fn of(share: Option<f64>, job_cpus: u32, node_cpus: u32) -> Weight {
        let job_cpus = f64::from(job_cpus.max(1));
        let of_cpu = weight_of_cpu(node_cpus);
        let of_job = share.map_or(WEIGHT_OF_OTHERS, |share| share * job_cpus * of_cpu);
        Weight { of_job, of_each_cpu: share.unwrap_or(1.0) }
    }

    /// Returns the weight for `cpu.weight` of version 2: 1 to 10,000.
    pub(crate) fn version_2(self) -> u32 {
        self.of_job.round().clamp(1.0, MOST_WEIGHT) as u32
    }

    /// Returns the weight for `cpu.shares` of version 1: 2 to 262,144.
    pub(crate) fn version_1(self) -> u32 {
        (self.of_job * SHARES_OF_OTHERS / WEIGHT_OF_OTHERS).round().clamp(SHARES.0, SHARES.1) as u32
    }

    /// Returns the `nice` of each of the job's processes: 0 to 19, supposing one process for each
    /// CPU. A process that needs its whole CPU has 0, as any process that is left alone.
    pub(crate) fn nice(self) -> i32 {
        (-self.of_each_cpu.ln() / STEP_OF_NICE.ln()).round().clamp(NICE.0, NICE.1) as i32
    }
}
