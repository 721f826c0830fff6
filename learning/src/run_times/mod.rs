//! Forecasts of run times: the default, [`ContextMixture`], and what a published one is.
//!
//! A [`RunTimePredictor`] is told in order of time which jobs arrive, start and end, and asked
//! about each job as it arrives. What it is told of a job ([`ArrivingJob`]) holds nothing that is
//! known later than the job's arrival; a run time is told when the job ends.

mod context_mixture;
mod prediction;
pub mod range_sets;
mod tuple;

pub use context_mixture::ContextMixture;
pub use prediction::RunTimePrediction;
pub use tuple::{Tuple, TupleHistory};

use job_types::job::{EndedJob, WaitingJob};
use job_types::time::{Seconds, UnixTime};

/// A job as forecasts of run times are told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivingJob {
    /// Tells the job from all others.
    pub id: u32,
    /// What is known of it when it arrives, at the moment at which it becomes eligible.
    pub submitted: WaitingJob,
    /// CPUs that it occupies once it runs. No forecast of its own run time may look at them: they
    /// are not known before it starts.
    pub occupied_cpus: u32,
}

impl ArrivingJob {
    /// A job of the past as it arrived.
    #[must_use]
    pub fn new(id: u32, job: &EndedJob) -> ArrivingJob {
        ArrivingJob { id, submitted: job.submitted, occupied_cpus: job.occupied().cpus }
    }

    /// A run time in seconds, cut to 0 and to the job's own limit: no forecast is longer than that.
    #[must_use]
    pub fn within_limit(&self, run_time_s: f64) -> f64 {
        let run_time_s = if run_time_s.is_nan() { 0.0 } else { run_time_s.max(0.0) };
        self.submitted.limit.map_or(run_time_s, |limit| run_time_s.min(limit.0.max(0) as f64))
    }
}

/// Forecasts run times as jobs arrive, and learns as they end.
pub trait RunTimePredictor: Send {
    /// The forecast for a job that arrives now; `None` while nothing is known of any like job.
    fn predict(&mut self, job: &ArrivingJob) -> Option<RunTimePrediction>;

    /// A job starts.
    fn starts(&mut self, job: &ArrivingJob, at: UnixTime) {
        let _ = (job, at);
    }

    /// A job ends after it ran for `run_time`. A job that is cancelled before it starts is told
    /// with a `run_time` of `None`.
    fn ends(&mut self, job: &ArrivingJob, at: UnixTime, run_time: Option<Seconds>);
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
    use job_types::size::Size;

    /// A job of one CPU that arrives at 0.
    pub(super) fn job(id: u32, user: UserId, limit_s: Option<i64>) -> ArrivingJob {
        let submitted = WaitingJob {
            user,
            account: AccountIndex(0),
            partition: PartitionIndex(0),
            qos: QosIndex(0),
            size: Size { nodes: 1, cpus: 1 },
            limit: limit_s.map(Seconds),
            eligible: UnixTime(0),
        };
        ArrivingJob { id, submitted, occupied_cpus: 1 }
    }
}
