//! A job that takes most of the cluster for some minutes, so that others wait.

use crate::workload::Workload;
use end_to_end::{Cluster, now};
use simulator::swf::{self, Log, Record, Status};
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Whose the job is: somebody whose jobs have run to their time limits, and are expected to.
pub(crate) const USER: &str = "games";

/// The job's time limit in minutes.
const LIMIT_MINUTES: i64 = 4;

/// How long before its time limit the job is done, in seconds.
const DONE_BEFORE_S: i64 = 5;

/// How many jobs of its user are in the past.
const PAST_JOBS: usize = 40;

/// How many jobs a burst has, and how long each of them runs, in seconds.
const BURST_JOBS: u32 = 12;
const BURST_S: i64 = 5;

/// The job, as it runs.
#[derive(Debug)]
pub(crate) struct Filler {
    /// When its time limit ends the job, in Unix seconds.
    pub(crate) ends_by: i64,
}

/// Writes a log with jobs of one more user in it, each of which ran on one processor for as long as
/// the filler will, and returns that user's number. They are spread over the earlier four fifths of
/// the log, so that its last job stays its last.
pub(crate) fn write_with_past(mut log: Log, time_scale: f64, path: &Path) -> io::Result<u64> {
    let user = log.records.iter().filter_map(|record| record.user).max().unwrap_or(0) + 1;
    let first_number = log.records.iter().map(|record| record.job_number).max().unwrap_or(0) + 1;
    let in_log = |seconds: i64| (seconds as f64 / time_scale).round() as u64;
    let apart = log.records.len() * 4 / 5 / PAST_JOBS;
    // From the last to the first: what is put in moves only what lies behind it.
    for n in (0..PAST_JOBS).rev() {
        let Some(neighbour) = log.records.get(n * apart) else { continue };
        let job = Record {
            job_number: first_number + n as u64,
            wait_time_seconds: Some(0),
            run_time_seconds: Some(in_log(LIMIT_MINUTES * 60 - DONE_BEFORE_S)),
            allocated_processors: Some(1),
            requested_processors: Some(1),
            requested_time_seconds: Some(in_log(LIMIT_MINUTES * 60)),
            status: Some(Status::Completed),
            user: Some(user),
            ..neighbour.clone()
        };
        log.records.insert(n * apart, job);
    }
    swf::write(File::create(path)?, &log.header, &log.records)?;
    Ok(user)
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
