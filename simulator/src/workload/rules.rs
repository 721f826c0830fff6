//! What becomes of records that can't be replayed as they stand.

use job_types::number::UserId;
use job_types::time::{Seconds, UnixTime};

use super::{FOR_REPLAY, LoggedJob};
use crate::engine::Job;

/// What becomes of a record that does not say what a replay needs to know ([`FOR_REPLAY`]): without
/// a positive run time, without allocated processors or without a submission.
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
    /// It runs as long as was asked for. The estimate stays as long as it ran, as other simulators
    /// have it; whoever sees the estimate sees the job's future.
    #[default]
    CutRunTime,
    /// It runs as long as was asked for, and that is its estimate.
    CutBoth,
    /// It runs as long as it did, and its estimate is as long.
    RaiseEstimate,
}

/// What becomes of a job whose user did not say how long it runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UnknownRequests {
    /// If no job of the log has an estimate, this one runs as long as it did; otherwise it runs one
    /// second. Its estimate is its run time in the log.
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
    /// What becomes of jobs that ran longer than requested.
    pub overruns: Overruns,
    /// What becomes of jobs without a requested time.
    pub unknown_requests: UnknownRequests,
}

impl Rules {
    /// The rules of replays in which a policy decides about jobs by what was requested: records
    /// that lack what a replay needs are left out, and what a policy sees of a job does not depend
    /// on how long it ran.
    #[must_use]
    pub fn of_policies() -> Self {
        Self { bad_records: BadRecords::LeaveOut, overruns: Overruns::CutBoth, ..Self::default() }
    }

    /// The job that a record becomes on a machine of so many processors; `None` if it is left out.
    /// A job larger than the machine gets the whole machine; a job without a requested time runs as
    /// long as it did, and is estimated at that.
    #[must_use]
    pub fn job(&self, logged: &LoggedJob, processors: u32) -> Option<Job> {
        let (submit, run_time, requested) = match (logged.first_lack(&FOR_REPLAY), self.bad_records) {
            (None, _) => (logged.submit.unwrap_or_default(), logged.run_time.unwrap_or_default(), logged.limit),
            (Some(_), BadRecords::LeaveOut) => return None,
            (Some(_), BadRecords::OneSecond) => (logged.submit.unwrap_or_default().max(UnixTime(1)), ONE_SECOND, Some(ONE_SECOND)),
        };
        let requested = requested.unwrap_or(run_time);
        let estimate = if self.overruns == Overruns::CutBoth { requested } else { requested.max(run_time) }.max(ONE_SECOND);
        let run_time = match self.overruns {
            Overruns::CutRunTime | Overruns::CutBoth => requested.min(run_time).max(ONE_SECOND),
            Overruns::RaiseEstimate => run_time,
        };
        let number = |number: Option<u32>| number.unwrap_or(u32::MAX);
        Some(Job {
            submit,
            run_time,
            estimate,
            processors: logged.allocated.unwrap_or(1).min(processors).max(1),
            number: logged.number,
            user: logged.user.unwrap_or(UserId(u32::MAX)),
            group: number(logged.group),
            executable: number(logged.executable),
            queue: number(logged.queue),
            partition: number(logged.partition),
            qos: logged.qos.unwrap_or_default(),
            ending: logged.ending.unwrap_or_default(),
        })
    }
}

/// The shortest that a job of a replay runs.
const ONE_SECOND: Seconds = Seconds(1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::swf::{Accounted, Record};
    use job_types::number::QosIndex;

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

    fn job(rules: Rules, record: &Record) -> Option<Job> {
        rules.job(&LoggedJob::from(record), 100)
    }

    fn figures(job: Job) -> (i64, i64, i64, u32) {
        (job.submit.0, job.run_time.0, job.estimate.0, job.processors)
    }

    #[test]
    fn a_sound_record_is_taken_as_it_stands() {
        let job = job(Rules::default(), &record(Some(60), Some(90), Some(4))).unwrap();
        assert_eq!(figures(job), (100, 60, 90, 4));
    }

    #[test]
    fn the_quality_of_service_goes_with_the_job() {
        let accounted = Accounted { qos: Some(QosIndex(2)), ..Accounted::default() };
        let job = |accounted| job(Rules::default(), &Record { accounted, ..record(Some(60), Some(90), Some(4)) }).unwrap();
        assert_eq!((job(accounted).qos, job(accounted).qos_name()), (QosIndex(2), "2".to_owned()));
        assert_eq!(job(Accounted::default()).qos_name(), "");
    }

    #[test]
    fn a_run_beyond_the_request_is_cut_and_the_estimate_stays_as_long_as_it_ran() {
        let overrun = record(Some(120), Some(90), Some(4));
        assert_eq!(figures(job(Rules::default(), &overrun).unwrap()), (100, 90, 120, 4));
        let raised = Rules { overruns: Overruns::RaiseEstimate, ..Rules::default() };
        assert_eq!(figures(job(raised, &overrun).unwrap()), (100, 120, 120, 4));
    }

    #[test]
    fn what_a_policy_sees_of_a_job_does_not_depend_on_how_long_it_ran() {
        let seen = |run| Job { run_time: Seconds::ZERO, ..job(Rules::of_policies(), &record(Some(run), Some(90), Some(4))).unwrap() };
        for run in [1, 60, 90, 91, 120, 100_000] {
            assert_eq!(seen(run), seen(30), "{run}");
        }
        assert_eq!(figures(job(Rules::of_policies(), &record(Some(120), Some(90), Some(4))).unwrap()), (100, 90, 90, 4));
    }

    #[test]
    fn a_bad_record_becomes_a_job_of_one_second_or_is_left_out() {
        let bad = [record(Some(0), Some(90), Some(4)), record(None, Some(90), Some(4)), record(Some(60), Some(90), Some(0))];
        let jobs: Vec<_> = bad.iter().map(|record| figures(job(Rules::default(), record).unwrap())).collect();
        assert_eq!(jobs, [(100, 1, 1, 4), (100, 1, 1, 4), (100, 1, 1, 1)]);
        let left_out = Rules { bad_records: BadRecords::LeaveOut, ..Rules::default() };
        assert!(bad.iter().all(|record| job(left_out, record).is_none()));
        let without_submission = Record { submit_time_seconds: None, ..record(Some(60), Some(90), Some(4)) };
        assert_eq!(figures(job(Rules::default(), &without_submission).unwrap()), (1, 1, 1, 4));
    }

    #[test]
    fn a_job_without_a_request_is_estimated_at_what_it_ran() {
        assert_eq!(figures(job(Rules::default(), &record(Some(60), None, Some(4))).unwrap()), (100, 60, 60, 4));
    }

    #[test]
    fn a_job_larger_than_the_machine_gets_the_machine() {
        assert_eq!(figures(job(Rules::default(), &record(Some(60), Some(90), Some(400))).unwrap()).3, 100);
    }
}
