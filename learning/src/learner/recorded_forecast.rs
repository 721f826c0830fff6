//! The forecast of a job's wait that the submit filter gave, as the job's record holds it.

use job_types::record::Record;
use job_types::record::WaitSource;
use job_types::time::UnixTime;
use predictor_core::forecasts::forecast::PERCENTILES;
use serde::{Deserialize, Serialize};

/// Place of the recorded bound, that on the 95th percentile, among those on the percentiles 1
/// to 99.
const RECORDED_BOUND: usize = 94;

/// The forecast of a wait that stands in a job's record, counted from the job's eligibility as
/// waits are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedForecast {
    /// The point forecast in seconds.
    pub point_s: f64,
    /// The bound that holds with 95 %, in seconds.
    pub bound_95_s: u32,
}

impl RecordedForecast {
    /// The default's forecast in a job's `admin_comment`; `None` where there is none. The forecast
    /// of another source says nothing of how well the default does.
    #[must_use]
    pub fn read(admin_comment: &str, eligible: UnixTime) -> Option<RecordedForecast> {
        let record = Record::parse(admin_comment)?;
        let forecast = record.forecast.filter(|forecast| forecast.wait_from == Some(WaitSource::Blended))?;
        // The record counts from the decision on, a deferral included.
        let from_eligibility = |wait_s: i64| wait_s.saturating_sub((eligible - record.at).0.max(0)).max(0);
        let bound_s = from_eligibility(forecast.wait_95_s?);
        Some(RecordedForecast {
            point_s: from_eligibility(forecast.wait_s?) as f64,
            bound_95_s: u32::try_from(bound_s).unwrap_or(u32::MAX - 1),
        })
    }

    /// Bounds on all percentiles: the recorded one, and the others as `own` has them as far as
    /// they agree with it.
    #[must_use]
    pub fn bounds_s(&self, own: &[u32; PERCENTILES]) -> [u32; PERCENTILES] {
        let mut bounds_s = *own;
        let (below, above) = bounds_s.split_at_mut(RECORDED_BOUND);
        below.iter_mut().for_each(|bound_s| *bound_s = (*bound_s).min(self.bound_95_s));
        above.iter_mut().for_each(|bound_s| *bound_s = (*bound_s).max(self.bound_95_s));
        if let Some(bound_s) = bounds_s.get_mut(RECORDED_BOUND) {
            *bound_s = self.bound_95_s;
        }
        bounds_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comment(wait_from: &str) -> String {
        format!(
            r#"{{"queuecast":{{"version":1,"generation":7,"at":1000,"mode":"observe","asked":{{"nodes":1,"cpus":4}},
            "forecast":{{"wait_s":600,"wait_95_s":900,"wait_jobs":10,"wait_from":"{wait_from}","run_s":60,"run_range_s":[60,60],"run_jobs":0}}}}}}"#
        )
    }

    #[test]
    fn a_recorded_forecast_counts_from_the_jobs_eligibility() {
        let read = |eligible| RecordedForecast::read(&comment("blended"), UnixTime(eligible));
        assert_eq!(read(1_000), Some(RecordedForecast { point_s: 600.0, bound_95_s: 900 }));
        assert_eq!(read(1_700), Some(RecordedForecast { point_s: 0.0, bound_95_s: 200 }));
        assert_eq!(RecordedForecast::read(&comment("qbets"), UnixTime(1_000)), None);
        assert_eq!(RecordedForecast::read(&comment("a later version's"), UnixTime(1_000)), None);
        assert_eq!(RecordedForecast::read("a remark of an operator", UnixTime(1_000)), None);
    }

    #[test]
    fn bounds_ascend_and_hold_the_recorded_one() {
        let own: [u32; PERCENTILES] = std::array::from_fn(|index| 10 * (index as u32 + 1));
        for bound_95_s in [0, 500, 950, 5_000] {
            let bounds_s = RecordedForecast { point_s: 0.0, bound_95_s }.bounds_s(&own);
            assert!(bounds_s.is_sorted());
            assert_eq!(bounds_s[94], bound_95_s);
        }
        assert_eq!(RecordedForecast { point_s: 0.0, bound_95_s: 950 }.bounds_s(&own), own);
    }
}
