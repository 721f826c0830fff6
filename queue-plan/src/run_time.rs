//! How long a job runs, or goes on to run, as a plan takes it.

use crate::correction::corrected_to;
use job_types::time::Seconds;
use predictor_core::forecasts::forecast::RunTimeRange;

/// What stands for a run time without an end: a year.
pub const LONGEST: Seconds = Seconds(365 * 86_400);

/// Which part of the forecast run times the optimistic plan takes as the run time of each job.
const OPTIMISTIC_QUANTILE: f64 = 0.25;

/// Three run times, from the time that is asked about on; ascending, at least one second
/// each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunTimes {
    /// The run time that three of four such jobs exceed.
    pub optimistic: Seconds,
    /// The expected run time.
    pub expected: Seconds,
    /// The run time that the time limit leaves.
    pub limit: Seconds,
}

impl Default for RunTimes {
    /// The run times of a job of which nothing is known.
    fn default() -> Self {
        Self::of_limit(None)
    }
}

impl RunTimes {
    /// The run times of a job of which nothing but its limit is known (`None` is unlimited).
    #[must_use]
    pub fn of_limit(limit: Option<Seconds>) -> Self {
        let limit = limit.unwrap_or(LONGEST).clamp(Seconds(1), LONGEST);
        Self { optimistic: limit, expected: limit, limit }
    }

    /// Returns the run times of a job that has run for `elapsed` (zero if it waits), as the
    /// forecast has them for jobs that run longer than that. If the job has outlived its forecast,
    /// the forecast is corrected upward, but never beyond the time limit. `ranges` are disjoint and
    /// ascend. If there are none, the time limit stands in.
    #[must_use]
    pub fn after(elapsed: Seconds, ranges: &[RunTimeRange], limit: Option<Seconds>) -> Self {
        let elapsed = elapsed.max(Seconds::ZERO);
        let left = Self::of_limit(limit.map(|limit| limit - elapsed));
        let Some(last) = ranges.last() else { return left };
        let beyond: Vec<(f64, f64, f64)> = ranges.iter().filter_map(|range| beyond(range, elapsed)).collect();
        let total: f64 = beyond.iter().map(|(_, _, probability)| probability).sum();
        let (optimistic, expected) = if total > 0.0 {
            let mean = beyond.iter().map(|(lower, upper, probability)| (lower + upper) / 2.0 * probability).sum::<f64>() / total;
            (quantile(&beyond, OPTIMISTIC_QUANTILE * total), mean)
        } else {
            let corrected = corrected_to(last.upper(), elapsed, elapsed + left.limit).0 as f64;
            (corrected, corrected)
        };
        let within = |run_time: f64| (Seconds(run_time.round() as i64) - elapsed).clamp(Seconds(1), left.limit);
        let expected = within(expected);
        Self { optimistic: within(optimistic).min(expected), expected, limit: left.limit }
    }

    /// Returns the run times of the same job if it begins to run this much later and holds its
    /// nodes until then.
    #[must_use]
    pub fn later_by(self, wait: Seconds) -> Self {
        let later = |run_time: Seconds| (run_time + wait).min(LONGEST);
        Self { optimistic: later(self.optimistic), expected: later(self.expected), limit: later(self.limit) }
    }
}

/// The part of a range that lies beyond the time that has passed, with its probability.
fn beyond(range: &RunTimeRange, elapsed: Seconds) -> Option<(f64, f64, f64)> {
    let (lower, upper, passed) = (range.lower().0 as f64, range.upper().0 as f64, elapsed.0 as f64);
    let probability = range.probability();
    if upper <= passed || probability.is_nan() || probability <= 0.0 {
        return None;
    }
    let from = lower.max(passed);
    Some((from, upper, if upper > lower { probability * (upper - from) / (upper - lower) } else { probability }))
}

/// Returns the run time at which the probabilities of ascending ranges have added up to `wanted`.
/// Probability is evenly spread within each range.
fn quantile(ranges: &[(f64, f64, f64)], wanted: f64) -> f64 {
    let mut sum = 0.0;
    for (lower, upper, probability) in ranges {
        if sum + probability >= wanted {
            return lower + (upper - lower) * ((wanted - sum) / probability);
        }
        sum += probability;
    }
    ranges.last().map_or(0.0, |(_, upper, _)| *upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges() -> [RunTimeRange; 2] {
        [RunTimeRange::new(100, 300, 0.5), RunTimeRange::new(1_000, 1_400, 0.5)]
    }

    fn after(elapsed: i64, ranges: &[RunTimeRange], limit: Option<i64>) -> RunTimes {
        RunTimes::after(Seconds(elapsed), ranges, limit.map(Seconds))
    }

    fn run_times(optimistic: i64, expected: i64, limit: i64) -> RunTimes {
        RunTimes { optimistic: Seconds(optimistic), expected: Seconds(expected), limit: Seconds(limit) }
    }

    #[test]
    fn a_waiting_job_runs_as_long_as_forecast_within_its_limit() {
        // The quarter lies in the middle of the first range, the mean between 200 and 1,200.
        assert_eq!(after(0, &ranges(), Some(3_600)), run_times(200, 700, 3_600));
        assert_eq!(after(0, &ranges(), Some(600)), run_times(200, 600, 600));
        assert_eq!(after(0, &[], Some(600)), run_times(600, 600, 600));
        assert_eq!(after(0, &[], None).expected, LONGEST);
    }

    #[test]
    fn a_running_job_goes_on_as_those_that_ran_longer_than_it_has() {
        // Half of the first range is left, with probability 0.25 beside 0.5: (250 * 0.25 + 1,200 *
        // 0.5) / 0.75 = 883 after 200.
        assert_eq!(after(200, &ranges(), Some(3_600)).expected, Seconds(683));
        // Only the second is left: 1,200 after 500, of which a quarter ends by 1,100.
        assert_eq!(after(500, &ranges(), Some(3_600)), run_times(600, 700, 3_100));
    }

    #[test]
    fn an_outlived_forecast_is_corrected_upward_and_never_beyond_the_limit() {
        // 1,400 + 60 has been outlived by 1,460, so that it is 1,400 + 5 min.
        assert_eq!(after(1_400, &ranges(), Some(3_600)).expected, Seconds(60));
        assert_eq!(after(1_460, &ranges(), Some(3_600)).expected, Seconds(240));
        assert_eq!(after(1_460, &ranges(), Some(1_500)).expected, Seconds(40));
        assert_eq!(after(1_600, &ranges(), Some(1_500)).expected, Seconds(1), "it ends any moment");
        assert_eq!(after(10_000_000, &ranges(), None).expected, LONGEST, "after all steps it is its limit");
    }
}
