//! How long jobs are expected to run.

use job_types::time::{Seconds, UnixTime};

use super::super::{Job, JobIndex};

/// How long jobs run in plans, as far as that is known when they are submitted. Who schedules goes
/// by estimates.
pub trait Expectations {
    /// A job comes into sight that will be submitted: how long it is expected to run until then.
    /// Only plans that know who comes ask for that.
    fn in_sight(&mut self, job: &Job) -> Seconds;

    /// A job is submitted: how long it is expected to run. What is longer than its estimate is cut.
    fn submitted(&mut self, index: JobIndex, job: &Job) -> Seconds;

    /// A job has ended that started at a time.
    fn ended(&mut self, index: JobIndex, job: &Job, start: UnixTime);
}

/// Jobs run for their estimates, as in the publication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AsEstimated;

impl Expectations for AsEstimated {
    fn in_sight(&mut self, job: &Job) -> Seconds {
        job.estimate
    }

    fn submitted(&mut self, _: JobIndex, job: &Job) -> Seconds {
        job.estimate
    }

    fn ended(&mut self, _: JobIndex, _: &Job, _: UnixTime) {}
}

/// Jobs run for as long as they will, which nobody can know: a bound on what forecasts are worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AsTheyWill;

impl Expectations for AsTheyWill {
    fn in_sight(&mut self, job: &Job) -> Seconds {
        job.run_time
    }

    fn submitted(&mut self, _: JobIndex, job: &Job) -> Seconds {
        job.run_time
    }

    fn ended(&mut self, _: JobIndex, _: &Job, _: UnixTime) {}
}
