//! The past that queuecastd forecasts from.

use std::fmt::Write;

use super::{CPUS_OF_A_NODE, NODES, TASKS};

const JOBS: u32 = 6_000;

/// Past jobs of one user in the Standard Workload Format, one every half hour: on 64 CPUs and on
/// one in turn, a minute on many and half a minute on one, each after a wait of a minute, give or
/// take some seconds. Waits that differ more would not let a reservation be had within hours.
pub(super) fn log() -> String {
    let mut log = format!("; Version: 2.2\n; MaxProcs: {}\n; MaxNodes: {NODES}\n", NODES * CPUS_OF_A_NODE);
    for job in 0..JOBS {
        let (size, usual_run_s) = if job % 2 == 1 { (TASKS, 60) } else { (1, 30) };
        let (number, submitted_s, wait_s) = (job + 1, job * 1_800, 60 + job * 53 % 7);
        let run_s = usual_run_s + job * 37 % 13 - 6;
        // Writing into a string does not fail.
        let _ = writeln!(log, "{number} {submitted_s} {wait_s} {run_s} {size} -1 -1 {size} 1800 -1 1 1 1 1 1 1 -1 -1");
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::swf::{self, Job};

    #[test]
    fn past_jobs_differ_by_some_seconds() {
        let log = log();
        let jobs: Vec<Job> = swf::records(&log).filter_map(swf::job).collect();
        assert_eq!(jobs.len(), JOBS as usize);
        assert!(jobs.iter().all(|job| (60.0..67.0).contains(&job.wait_s) && job.requested_s == 1_800.0));
        for (job, usual_run_s) in jobs.iter().zip([30.0, 60.0].into_iter().cycle()) {
            assert!((job.run_s - usual_run_s).abs() <= 6.0, "{job:?}");
        }
    }
}
