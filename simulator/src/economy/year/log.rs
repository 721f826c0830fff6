//! The year as a workload log.

use super::published::NODES;
use crate::engine::preemptive::Job;
use crate::swf::{Header, Log, Record, Status};

/// The 13th of December 1998, the first day of the thesis's logs, at midnight.
const BEGIN: &str = "913507200";

/// A log in the Standard Workload Format, of one processor a node. Run times are whole seconds,
/// rounded up, at least one.
#[must_use]
pub fn log(jobs: &[Job], seed: u64) -> Log {
    let mut header = Header::new();
    let mut push = |key: &str, value: &str| header.push(key, value);
    push("Version", "2.2");
    push("Computer", "a made-up cluster of workstations");
    push("Note", "made up after what A. R. Geweke tells of a year of the Berkeley NOW (UC Berkeley, 2000)");
    push("Note", &format!("seed {seed}"));
    push("MaxJobs", &jobs.len().to_string());
    push("MaxRecords", &jobs.len().to_string());
    push("Preemption", "No");
    push("UnixStartTime", BEGIN);
    push("TimeZoneString", "UTC");
    push("MaxNodes", &NODES.to_string());
    push("MaxProcs", &NODES.to_string());
    let records = (1..).zip(jobs).map(|(number, job)| record(number, job)).collect();
    Log { header, records }
}

fn record(number: u64, job: &Job) -> Record {
    Record {
        job_number: number,
        submit_time_seconds: Some(job.submit.0 / 1000),
        run_time_seconds: Some(job.run_time.0.div_ceil(1000).max(1)),
        allocated_processors: Some(u64::from(job.nodes)),
        requested_processors: Some(u64::from(job.nodes)),
        status: Some(Status::Completed),
        user: Some(u64::from(job.user)),
        ..Record::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::economy::made_up::job;
    use crate::engine::preemptive::Milliseconds;

    #[test]
    fn run_times_are_rounded_up_to_whole_seconds_and_are_at_least_one() {
        let jobs = [0, 1, 1000, 1001].map(|milliseconds| Job { run_time: Milliseconds(milliseconds), ..job(5, 0, 3) });
        let log = log(&jobs, 1);
        let run_times: Vec<u64> = log.records.iter().filter_map(|record| record.run_time_seconds).collect();
        assert_eq!(run_times, [1, 1, 1, 2]);
        assert_eq!(log.header.max_processors(), Some(106));
        assert_eq!((log.records[3].job_number, log.records[3].user), (4, Some(5)));
    }
}
