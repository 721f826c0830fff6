//! A job that takes most of the cluster for some minutes, so that others wait.

use crate::workload::Workload;
use end_to_end::{Cluster, now};
use std::time::Duration;

/// Somebody without a past, whose jobs are expected to run to their time limits.
const USER: &str = "games";

/// The job's time limit in minutes.
const LIMIT_MINUTES: i64 = 4;

/// How long before its time limit the job is done, in seconds.
const DONE_BEFORE_S: i64 = 5;

/// How many jobs a burst has, and how long each of them runs, in seconds.
const BURST_JOBS: u32 = 12;
const BURST_S: i64 = 5;

/// The job, as it runs.
#[derive(Debug)]
pub(crate) struct Filler {
    /// When its time limit ends the job, in Unix seconds.
    pub(crate) ends_by: i64,
}

impl Filler {
    /// Starts it on all CPUs but half of those that the largest of the user's jobs need, and waits
    /// for a snapshot that knows of it.
    pub(crate) fn start(cluster: &Cluster, workload: &Workload) -> Filler {
        let free_cpus = workload.largest() / 2;
        let tasks = format!("-n{}", workload.cpus() - free_cpus);
        let limit = format!("-t{LIMIT_MINUTES}");
        let sleep = format!("sleep {}", LIMIT_MINUTES * 60 - DONE_BEFORE_S);
        let filler = cluster.submit_for(USER, &[&tasks, &limit, "--job-name=filler"], &sleep).job();
        println!("  sbatch {tasks} {limit} by {USER}: leaves {free_cpus} CPUs free");
        let _ = filler.wait(&["RUNNING"], Duration::from_secs(30));
        let ends_by = now() + LIMIT_MINUTES * 60;
        crate::wait_for_snapshot(cluster);
        Filler { ends_by }
    }

    /// Submits many jobs as large as the largest of the user's behind all others, and waits for a
    /// snapshot that knows of them. They ask for minutes and run for seconds.
    pub(crate) fn burst(cluster: &Cluster, workload: &Workload) {
        let (tasks, limit) = (format!("-n{}", workload.largest()), format!("-t{LIMIT_MINUTES}"));
        for _ in 0..BURST_JOBS {
            let _ = cluster.submit_for(USER, &[&tasks, &limit, "--job-name=burst"], &format!("sleep {BURST_S}")).job();
        }
        println!("  sbatch {tasks} {limit} by {USER}, {BURST_JOBS} times");
        crate::wait_for_snapshot(cluster);
    }
}
