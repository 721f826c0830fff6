//! Jobs for tests.

use crate::engine::preemptive::{Bid, Job, Milliseconds, Record, Standing};

/// A job of a user with its run time in seconds, submitted at 0.
pub(super) fn job(user: u32, run_time_seconds: u64, nodes: u32) -> Job {
    Job { submit: Milliseconds::ZERO, run_time: Milliseconds(run_time_seconds * 1_000), nodes, user, is_io_bound: false }
}

/// The same, submitted after so many seconds.
pub(super) fn at(seconds: u64, job: Job) -> Job {
    Job { submit: Milliseconds(seconds * 1_000), ..job }
}

/// What a replay did with a job that waited for so many minutes, and was not delayed otherwise.
pub(super) fn waited(job: &Job, minutes: u64, bid: f64) -> Record {
    let start = job.submit + Milliseconds(minutes * Milliseconds::MINUTE.0);
    Record {
        standing: Standing::Done,
        submitted: Some(job.submit),
        first_start: Some(start),
        end: Some(start + job.run_time),
        bid: Bid::nearest(bid),
        ..Record::default()
    }
}
