//! The time that the user asked for.

use job_types::time::{Seconds, UnixTime};
use learning::run_times::{ArrivingJob, RunTimePrediction, RunTimePredictor};

/// Takes the time limit for the run time. Says nothing of a job without one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Requested;

impl RunTimePredictor for Requested {
    fn predict(&mut self, job: &ArrivingJob) -> Option<RunTimePrediction> {
        job.submitted.limit.map(|limit| RunTimePrediction::point(job.within_limit(limit.0 as f64)))
    }

    fn ends(&mut self, _: &ArrivingJob, _: UnixTime, _: Option<Seconds>) {}
}
