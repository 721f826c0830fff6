//! What becomes of records that can't be replayed as they stand.

use job_types::time::{Seconds, UnixTime};

use crate::engine::Job;
use crate::swf::Record;

/// What becomes of a record without a positive run time, without allocated processors or without a
/// submission.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BadRecords {
    /// A job of one second with an estimate of one second, on its allocated processors, at least
    /// one, submitted at its own time, at least at 1.
    #[default]
    OneSecond,
    /// The record is left out.
    LeaveOut,
}

/// What becomes of a job that ran longer than its user asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Overruns {
    /// It runs as long as was asked for. The estimate stays as long as it ran.
    #[default]
    CutRunTime,
    /// It runs as long as it did, and its estimate is as long.
    RaiseEstimate,
}

/// What becomes of a job whose user did not say how long it runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UnknownRequests {
    /// In a log where nobody says it, it runs as long as it did; where others do, it runs one
    /// second. Its estimate is what it ran.
    #[default]
    OneSecondAmongOthers,
    /// It runs as long as it did, and its estimate is as long.
    AsRun,
}

/// The rules by which records become jobs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rules {
    /// What becomes of bad records.
    pub bad_records: BadRecords,
    /// Of jobs that ran too long.
    pub overruns: Overruns,
    /// Of jobs without a requested time.
    pub unknown_requests: UnknownRequests,
}

impl Rules {
    /// The job that a record becomes on a machine of so many processors; `None` if it is left out.
    /// A job larger than the machine gets the whole machine; a job without a requested time runs as
    /// long as it did, and is estimated at that.
    #[must_use]
    pub fn job(&self, record: &Record, processors: u32) -> Option<Job> {
        let allocated = record.allocated_processors.filter(|&allocated| allocated > 0);
        let run = record.run_time_seconds.filter(|&seconds| seconds > 0);
        let (submit, run, requested) = match (record.submit_time_seconds, run, allocated) {
            (Some(submit), Some(run), Some(_)) => (seconds(submit), seconds(run), record.requested_time_seconds.map(seconds)),
            _ if self.bad_records == BadRecords::LeaveOut => return None,
            (submit, ..) => (submit.map_or(1, seconds).max(1), 1, Some(1)),
        };
        let estimate = requested.unwrap_or(run).max(run).max(1);
        let run = match self.overruns {
            Overruns::CutRunTime => requested.unwrap_or(run).min(run).max(1),
            Overruns::RaiseEstimate => run,
        };
        let size = u32::try_from(allocated.unwrap_or(1)).unwrap_or(u32::MAX);
        let number = |value: Option<u64>| value.and_then(|value| u32::try_from(value).ok()).unwrap_or(u32::MAX);
        Some(Job {
            submit: UnixTime(submit),
            run_time: Seconds(run),
            estimate: Seconds(estimate),
            processors: size.min(processors).max(1),
            number: number(Some(record.job_number)),
            user: number(record.user),
            group: number(record.group),
            executable: number(record.executable),
            queue: number(record.queue),
            partition: number(record.partition),
        })
    }
}

/// Seconds of a log, no more than a few thousand years.
fn seconds(value: u64) -> i64 {
    value.min(1 << 36) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(run: Option<u64>, requested: Option<u64>, allocated: Option<u64>) -> Record {
        Record {
            job_number: 7,
            submit_time_seconds: Some(100),
            run_time_seconds: run,
            requested_time_seconds: requested,
            allocated_processors: allocated,
            ..Record::default()
        }
    }

    fn figures(job: Job) -> (i64, i64, i64, u32) {
        (job.submit.0, job.run_time.0, job.estimate.0, job.processors)
    }

    #[test]
    fn a_sound_record_is_taken_as_it_stands() {
        let job = Rules::default().job(&record(Some(60), Some(90), Some(4)), 100).unwrap();
        assert_eq!(figures(job), (100, 60, 90, 4));
    }

    #[test]
    fn a_run_beyond_the_request_is_cut_and_the_estimate_stays_as_long_as_it_ran() {
        let overrun = record(Some(120), Some(90), Some(4));
        assert_eq!(figures(Rules::default().job(&overrun, 100).unwrap()), (100, 90, 120, 4));
        let raised = Rules { overruns: Overruns::RaiseEstimate, ..Rules::default() };
        assert_eq!(figures(raised.job(&overrun, 100).unwrap()), (100, 120, 120, 4));
    }

    #[test]
    fn a_bad_record_becomes_a_job_of_one_second_or_is_left_out() {
        let bad = [record(Some(0), Some(90), Some(4)), record(None, Some(90), Some(4)), record(Some(60), Some(90), Some(0))];
        let jobs: Vec<_> = bad.iter().map(|record| figures(Rules::default().job(record, 100).unwrap())).collect();
        assert_eq!(jobs, [(100, 1, 1, 4), (100, 1, 1, 4), (100, 1, 1, 1)]);
        let left_out = Rules { bad_records: BadRecords::LeaveOut, ..Rules::default() };
        assert!(bad.iter().all(|record| left_out.job(record, 100).is_none()));
        let without_submission = Record { submit_time_seconds: None, ..record(Some(60), Some(90), Some(4)) };
        assert_eq!(figures(Rules::default().job(&without_submission, 100).unwrap()), (1, 1, 1, 4));
    }

    #[test]
    fn a_job_without_a_request_is_estimated_at_what_it_ran() {
        assert_eq!(figures(Rules::default().job(&record(Some(60), None, Some(4)), 100).unwrap()), (100, 60, 60, 4));
    }

    #[test]
    fn a_job_larger_than_the_machine_gets_the_machine() {
        assert_eq!(figures(Rules::default().job(&record(Some(60), Some(90), Some(400)), 100).unwrap()).3, 100);
    }
}
