//! The mean of the user's last two run times.

use job_types::number::UserId;
use job_types::time::{Seconds, UnixTime};
use learning::run_times::{ArrivingJob, RunTimePrediction, RunTimePredictor};
use std::collections::HashMap;

/// The mean of the run times of the user's two jobs that ended last, cut to the job's limit; the
/// limit itself while none has ended (Tsafrir, Etsion, Feitelson: Backfilling Using
/// System-Generated Predictions Rather Than User Runtime Estimates, IEEE TPDS 18, 2007).
#[derive(Clone, Debug, Default)]
pub struct LastTwo {
    /// The last run time in seconds, and the one before.
    users: HashMap<UserId, (f64, Option<f64>)>,
}

impl LastTwo {
    /// A predictor that has learnt nothing yet.
    #[must_use]
    pub fn new() -> LastTwo {
        LastTwo::default()
    }
}

impl RunTimePredictor for LastTwo {
    fn predict(&mut self, job: &ArrivingJob) -> Option<RunTimePrediction> {
        let mean = self.users.get(&job.user).map(|(last, before)| before.map_or(*last, |before| (last + before) / 2.0));
        let point_s = mean.or(job.limit.map(|limit| limit.0 as f64))?;
        Some(RunTimePrediction::point(job.within_limit(point_s)))
    }

    fn ends(&mut self, job: &ArrivingJob, _: UnixTime, run_time: Option<Seconds>) {
        if let Some(run_time) = run_time {
            let run_time_s = run_time.0 as f64;
            self.users.entry(job.user).and_modify(|last| *last = (run_time_s, Some(last.0))).or_insert((run_time_s, None));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::job;
    use super::*;

    #[test]
    fn the_mean_of_the_last_two_is_cut_to_the_limit() {
        let mut predictor = LastTwo::new();
        let point = |predictor: &mut LastTwo, limit| predictor.predict(&job(9, 1, limit)).map(|prediction| prediction.point_s);
        assert_eq!(point(&mut predictor, Some(500)), Some(500.0));
        assert_eq!(point(&mut predictor, None), None);
        for (id, run_time_s) in [(0, 1_000), (1, 100), (2, 300)] {
            predictor.ends(&job(id, 1, None), UnixTime(0), Some(Seconds(run_time_s)));
        }
        assert_eq!(point(&mut predictor, Some(500)), Some(200.0));
        assert_eq!(point(&mut predictor, Some(150)), Some(150.0));
    }
}
