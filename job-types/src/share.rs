//! What jobs weigh against each other where they share the CPUs of a node.
//!
//! The unit is that of `cpu.weight` (cgroups(7), version 2): jobs that compete for a CPU get it in
//! the proportion of their weights.

/// What Slurm gives the cgroup of each job.
pub const WEIGHT_OF_OTHERS: f64 = 100.0;

/// The most that `cpu.weight` takes.
pub const MOST_WEIGHT: f64 = 10_000.0;

/// What a whole CPU weighs on a node of so many: ten times what Slurm gives a job, so that a job
/// without a share disturbs little; less on nodes of more than ten CPUs, where the weights of all
/// CPUs would not fit into what `cpu.weight` takes.
#[must_use]
pub fn weight_of_cpu(node_cpus: u32) -> f64 {
    (MOST_WEIGHT / f64::from(node_cpus.max(1))).clamp(WEIGHT_OF_OTHERS, 10.0 * WEIGHT_OF_OTHERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_cpu_weighs_ten_jobs_where_that_fits_and_never_less_than_one() {
        assert_eq!([1, 10, 40, 100, 1_000].map(weight_of_cpu), [1_000.0, 1_000.0, 250.0, 100.0, 100.0]);
    }
}
