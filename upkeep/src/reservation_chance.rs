//! How likely a reservation that was given is to be kept, as forecast now.

use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::{Reservable, trajectory};
use predictor_core::forecasts::forecast::WaitForecaster;

/// The probability that a job which has not started does so by its reserved time; `None` where
/// nothing is known of waits. `job` is as it was asked for, without padding, and `eligible` is when
/// it becomes or became eligible.
///
/// Of a job that is not eligible yet this is the trajectory's (Nurmi, Wolski and Brevik 2008,
/// figure 3). Of one that waits it is that of waits that are at least as long as its own was so
/// far, whatever the state of the cluster: in which state it became eligible is not known any more.
/// Of either it is what is told of such forecasts where `wanted` was wanted.
#[must_use]
pub fn present_probability<F: WaitForecaster>(job: &Reservable<'_, F>, reserved: UnixTime, eligible: UnixTime, wanted: f64) -> Option<f64> {
    let forecast = forecast_probability(job, reserved, eligible)?;
    Some(job.probability_to_tell(reserved - job.now.now, wanted, forecast))
}

fn forecast_probability<F: WaitForecaster>(job: &Reservable<'_, F>, reserved: UnixTime, eligible: UnixTime) -> Option<f64> {
    let now = job.now.now;
    if reserved <= now {
        return Some(0.0);
    }
    if eligible > now {
        // A begin between two steps is as good as the one before it, to half a minute.
        let points = trajectory(job, reserved);
        let before = points.partition_point(|point| point.begin <= eligible);
        return points.get(before.saturating_sub(1)).map(|point| point.probability);
    }
    let wait = job.forecasts.wait(&job.shape, None)?;
    let waited = (now - eligible).max(Seconds::ZERO);
    // A wait that has begun is longer than no time at all.
    let over = if waited > Seconds::ZERO { wait.probability_within(waited) } else { 0.0 };
    let in_time = wait.probability_within(reserved - eligible);
    Some(((in_time - over) / (1.0 - over)).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::number::{PartitionIndex, UserId};
    use job_types::record::WaitSource;
    use job_types::size::Size;
    use predictor_core::forecasts::forecast::{Association, JobShape, Moment, PERCENTILES, WaitForecast};

    const NOW: UnixTime = UnixTime(1_000_000);

    /// The percentile p of each wait is p minutes.
    struct Waits([u32; PERCENTILES]);

    impl WaitForecaster for Waits {
        fn wait(&self, _job: &JobShape, _moment: Option<&Moment>) -> Option<WaitForecast<'_>> {
            Some(WaitForecast { source: WaitSource::Qbets, class: None, jobs: 100, median: Seconds::ZERO, bounds: &self.0 })
        }

        fn association(&self, _user: UserId, _account: Option<&str>, _qos: Option<&str>) -> Association {
            Association::default()
        }
    }

    fn probability(reserved_in_min: i64, eligible_in_min: i64) -> f64 {
        let forecasts = &Waits(std::array::from_fn(|place| 60 * (place as u32 + 1)));
        let shape = JobShape {
            user: UserId(1),
            association: Association::default(),
            partition: PartitionIndex(0),
            size: Size { nodes: 1, cpus: 1 },
            limit: Some(Seconds(3_600)),
        };
        let job = Reservable { forecasts, shape, now: Moment::present(NOW), longest_limit: None };
        let minutes = |minutes: i64| NOW + Seconds(60 * minutes);
        present_probability(&job, minutes(reserved_in_min), minutes(eligible_in_min), 0.9).unwrap()
    }

    #[test]
    fn a_deferred_job_has_the_probability_of_its_begin() {
        assert_eq!((probability(120, 60), probability(120, 110)), (0.6, 0.1));
    }

    #[test]
    fn a_waiting_job_has_outlived_the_shorter_waits() {
        // 60 of 100 waits are over by then, and of those 20 were shorter than what it has waited.
        assert!((probability(40, -20) - 0.5).abs() < 1e-9);
        assert_eq!(probability(40, 0), 0.4);
    }

    #[test]
    fn what_is_not_kept_by_its_time_is_missed() {
        assert_eq!((probability(0, -20), probability(-5, -20)), (0.0, 0.0));
    }
}
