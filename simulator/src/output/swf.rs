//! A schedule as a workload log.

use std::io::{self, Write};

use crate::engine::{Job, Record};
use crate::swf::{self, Header, Status};

/// Writes what was simulated as a log: submissions, waits, run times, sizes and estimates of the
/// schedule, with the users, groups, applications, queues and partitions of the jobs. `jobs` and
/// `records` are in the same order.
///
/// # Errors
///
/// What the output says.
pub fn write_swf(output: impl Write, header: &Header, jobs: &[Job], records: &[Record]) -> io::Result<()> {
    let known = |number: u32| (number != u32::MAX).then_some(u64::from(number));
    let seconds = |seconds: i64| u64::try_from(seconds).ok();
    let lines: Vec<swf::Record> = jobs
        .iter()
        .zip(records)
        .map(|(job, record)| swf::Record {
            job_number: u64::from(job.number),
            submit_time_seconds: seconds(record.submit.0),
            wait_time_seconds: seconds(record.wait().0),
            run_time_seconds: seconds(record.occupied().0),
            allocated_processors: Some(u64::from(record.processors)),
            requested_processors: Some(u64::from(record.processors)),
            requested_time_seconds: seconds(record.estimate.0),
            status: Some(Status::Completed),
            user: known(job.user.0),
            group: known(job.group),
            executable: known(job.executable),
            queue: known(job.queue),
            partition: known(job.partition),
            ..swf::Record::default()
        })
        .collect();
    swf::write(output, header, &lines)
}
