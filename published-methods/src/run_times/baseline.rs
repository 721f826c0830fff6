//! The baseline of Hariharan et al. 2020 (VI.B).

use job_types::time::{Seconds, UnixTime};
use learning::run_times::{ArrivingJob, RunTimePrediction, RunTimePredictor, Tuple, TupleHistory};
use predictor_core::forecasts::forecast::RunTimeRange;

/// One range from the shortest to the longest run time of the like jobs in the history. The point,
/// which Hariharan et al. do not ask of it, is their mean.
#[derive(Clone, Debug)]
pub struct Baseline {
    history: TupleHistory<u32>,
}

impl Baseline {
    /// A predictor that has learnt nothing yet, with a history of at most `most_jobs`.
    #[must_use]
    pub fn new(most_jobs: usize) -> Baseline {
        Baseline { history: TupleHistory::new(most_jobs) }
    }
}

impl RunTimePredictor for Baseline {
    fn predict(&mut self, job: &ArrivingJob) -> Option<RunTimePrediction> {
        let run_times = self.history.get(&Tuple::from(job))?;
        let (shortest, longest) = (run_times.iter().min()?, run_times.iter().max()?);
        let mean = run_times.iter().map(|run_time_s| f64::from(*run_time_s)).sum::<f64>() / run_times.len() as f64;
        Some(RunTimePrediction { ranges: vec![RunTimeRange::new(*shortest, *longest, 1.0)], point_s: job.within_limit(mean) })
    }

    fn ends(&mut self, job: &ArrivingJob, _: UnixTime, run_time: Option<Seconds>) {
        if let Some(run_time) = run_time {
            self.history.push(Tuple::from(job), run_time.clamped_u32());
        }
    }
}
