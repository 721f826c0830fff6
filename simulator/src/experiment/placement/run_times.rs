//! How long jobs run in the plans of a replay.

use job_types::time::{Seconds, UnixTime};

use crate::engine::reserved::{AsEstimated, AsTheyWill, Expectations};
use crate::engine::{Job, JobIndex, Record};
use crate::experiment::expected_run_times::ExpectedRunTimes;

/// How long jobs run in plans.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlacementRunTimes {
    /// For their estimates, as published.
    #[default]
    Estimated,
    /// As long as the daemon forecasts, by the code that it ships with, from the jobs that have
    /// ended before.
    Forecast,
    /// As long as they will, which nobody can know: a bound on what forecasts are worth.
    Actual,
}

impl PlacementRunTimes {
    /// The expectations of a replay of so many jobs.
    pub(super) fn expectations(self, jobs: usize) -> Box<dyn Expectations> {
        match self {
            Self::Estimated => Box::new(AsEstimated),
            Self::Forecast => Box::new(Forecast(ExpectedRunTimes::new(jobs))),
            Self::Actual => Box::new(AsTheyWill),
        }
    }
}

/// Forecasts as the daemon publishes them.
struct Forecast(ExpectedRunTimes);

impl Expectations for Forecast {
    fn in_sight(&mut self, job: &Job) -> Seconds {
        self.0.publish();
        self.0.of_coming(job).unwrap_or(job.estimate)
    }

    fn submitted(&mut self, index: JobIndex, job: &Job) -> Seconds {
        self.0.publish();
        self.0.passed(index, job, None);
        self.0.of_job(index).unwrap_or(job.estimate)
    }

    fn ended(&mut self, index: JobIndex, job: &Job, start: UnixTime) {
        let record = Record {
            submit: job.submit,
            eligible: job.submit,
            start,
            end: start + job.run_time,
            estimate: job.estimate,
            processors: job.processors,
            held: Seconds::ZERO,
        };
        self.0.ended(index, job, &record);
    }
}
