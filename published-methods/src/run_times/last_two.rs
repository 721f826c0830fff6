//! The mean of the user's last two run times.

use job_types::number::UserId;
use job_types::time::{Seconds, UnixTime};
use learning::run_times::{ArrivingJob, RunTimePrediction, RunTimePredictor};
use std::collections::HashMap;

/// The run times of each user's last two jobs that ended (Tsafrir, Etsion, Feitelson: Backfilling
/// Using System-Generated Predictions Rather Than User Runtime Estimates, IEEE TPDS 18, 2007).
#[derive(Clone, Debug, Default)]
pub struct LastTwoRunTimes {
    /// The last run time, and the one before.
    users: HashMap<UserId, (Seconds, Option<Seconds>)>,
}

impl LastTwoRunTimes {
    /// A job of a user has ended.
    pub fn ended(&mut self, user: UserId, run_time: Seconds) {
        self.users.entry(user).and_modify(|last| *last = (run_time, Some(last.0))).or_insert((run_time, None));
    }

    /// Their mean in seconds; `None` where the user has not had two jobs that ended.
    #[must_use]
    pub fn mean_s(&self, user: UserId) -> Option<f64> {
        let (last, before) = self.users.get(&user)?;
        Some((*last + (*before)?).0 as f64 / 2.0)
    }
}

/// The mean of the run times of the user's two jobs that ended last, cut to the job's limit; the
/// limit itself while two have not ended.
#[derive(Clone, Debug, Default)]
pub struct LastTwo {
    run_times: LastTwoRunTimes,
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
        let point_s = self.run_times.mean_s(job.submitted.user).or(job.submitted.limit.map(|limit| limit.0 as f64))?;
        Some(RunTimePrediction::point(job.within_limit(point_s)))
    }

    fn ends(&mut self, job: &ArrivingJob, _: UnixTime, run_time: Option<Seconds>) {
        if let Some(run_time) = run_time {
            self.run_times.ended(job.submitted.user, run_time);
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
        let end = |predictor: &mut LastTwo, id, run_time_s| predictor.ends(&job(id, 1, None), UnixTime(0), Some(Seconds(run_time_s)));
        end(&mut predictor, 0, 1_000);
        assert_eq!(point(&mut predictor, Some(500)), Some(500.0), "one is not two");
        end(&mut predictor, 1, 100);
        end(&mut predictor, 2, 300);
        assert_eq!(point(&mut predictor, Some(500)), Some(200.0));
        assert_eq!(point(&mut predictor, Some(150)), Some(150.0));
    }
}
