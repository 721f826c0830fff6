//! The figures of a replay.

use std::ops::Range;

use job_types::time::Seconds;

use crate::engine::Record;
use crate::metrics::{Distribution, slowdown};

/// Figures of a replay over the jobs of a window.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct ReplayOutcome {
    /// Mean time from submission to start.
    pub mean_wait_s: f64,
    /// Mean run time.
    pub mean_run_s: f64,
    /// Mean time from submission to end.
    pub mean_response_s: f64,
    /// 95 % of the jobs end within this time from their submission.
    pub p95_response_s: f64,
    /// Mean response of the tenth of the jobs with the longest.
    pub slowest_tenth_response_s: f64,
    /// Mean slowdown (response over run time) of the tenth of the jobs with the highest.
    pub worst_tenth_slowdown: f64,
    /// Processor time used by all jobs, of what there was from the window's first submission to its
    /// last end.
    pub utilisation: f64,
}

impl ReplayOutcome {
    /// Over the records in a window, on a machine of so many processors.
    #[must_use]
    pub fn of(records: &[Record], window: Range<usize>, processors: u32) -> Self {
        let counted = records.get(window).unwrap_or_default();
        let first = counted.iter().map(|record| record.submit).min().unwrap_or_default();
        let last = counted.iter().map(|record| record.end).max().unwrap_or_default();
        let used =
            |record: &Record| f64::from(record.processors) * (record.end.min(last) - record.start.max(first)).max(Seconds::ZERO).0 as f64;
        let there = f64::from(processors) * (last - first).0 as f64;
        let response = Distribution::of(counted.iter().map(|record| record.response().0 as f64));
        let mean = |of: fn(&Record) -> Seconds| Distribution::of(counted.iter().map(|record| of(record).0 as f64)).mean;
        Self {
            mean_wait_s: mean(Record::wait),
            mean_run_s: mean(Record::run_time),
            mean_response_s: response.mean,
            p95_response_s: response.p95,
            slowest_tenth_response_s: highest_tenth(counted.iter().map(|record| record.response().0 as f64)),
            worst_tenth_slowdown: highest_tenth(counted.iter().map(slowdown)),
            utilisation: if there > 0.0 { records.iter().map(used).sum::<f64>() / there } else { 0.0 },
        }
    }
}

/// Mean of the highest tenth, of at least one; 0 of nothing.
fn highest_tenth(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(|one, other| other.total_cmp(one));
    values.truncate(values.len().div_ceil(10));
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::time::UnixTime;

    #[test]
    fn a_window_by_hand() {
        let record = |submit, start, end, processors| Record {
            submit: UnixTime(submit),
            eligible: UnixTime(submit),
            start: UnixTime(start),
            end: UnixTime(end),
            estimate: Seconds(1),
            processors,
            ..Record::default()
        };
        // The first is history and holds two processors until 50; the window lasts from 10 to 110.
        let found = ReplayOutcome::of(&[record(0, 0, 50, 2), record(10, 10, 60, 1), record(10, 60, 110, 2)], 1..3, 4);
        assert_eq!((found.mean_wait_s, found.mean_run_s, found.mean_response_s, found.p95_response_s), (25.0, 50.0, 75.0, 100.0));
        assert_eq!((found.slowest_tenth_response_s, found.worst_tenth_slowdown), (100.0, 2.0));
        assert!((found.utilisation - (80.0 + 50.0 + 100.0) / 400.0).abs() < 1e-12);
    }

    #[test]
    fn of_no_jobs_everything_is_zero() {
        assert_eq!(ReplayOutcome::of(&[], 0..0, 4).mean_response_s, 0.0);
    }
}
