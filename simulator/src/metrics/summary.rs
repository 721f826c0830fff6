//! The summary of one run in a few figures.

use job_types::time::Seconds;

use super::Distribution;
use crate::engine::Record;

/// Run times shorter than this count as this long in a bounded slowdown (D. Feitelson, L. Rudolph,
/// U. Schwiegelshohn, K. Sevcik and P. Wong, "Theory and Practice in Parallel Job Scheduling",
/// JSSPP 1997).
pub const SHORTEST_RUN_TIME: Seconds = Seconds(10);

/// Response over run time.
#[must_use]
pub fn slowdown(record: &Record) -> f64 {
    record.response().0 as f64 / record.run_time().max(Seconds(1)).0 as f64
}

/// Response over run time, where that is at least [`SHORTEST_RUN_TIME`], and at least 1.
#[must_use]
pub fn bounded_slowdown(record: &Record) -> f64 {
    (record.response().0 as f64 / record.run_time().max(SHORTEST_RUN_TIME).0 as f64).max(1.0)
}

/// All jobs of one run.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Summary {
    /// The number of jobs.
    pub jobs: usize,
    /// Submission to start.
    pub wait_s: Distribution,
    /// Submission to end.
    pub response_s: Distribution,
    /// Response over run time.
    pub slowdown: Distribution,
    /// Slowdowns in which short run times count as longer.
    pub bounded_slowdown: Distribution,
    /// Processor time used, as a part of what there was from the first submission to the last end.
    pub utilisation: f64,
    /// Time from the first submission to the last end.
    #[serde(rename = "makespan_s")]
    pub makespan: Seconds,
}

impl Summary {
    /// The summary of these records on a machine of so many processors; everything is zero where
    /// there are none.
    #[must_use]
    pub fn of(records: &[Record], processors: u32) -> Self {
        let first = records.iter().map(|record| record.submit).min().unwrap_or_default();
        let last = records.iter().map(|record| record.end).max().unwrap_or_default();
        let work: f64 = records.iter().map(|record| f64::from(record.processors) * record.occupied().0 as f64).sum();
        let there = f64::from(processors) * (last - first).0 as f64;
        let distribution = |figure: fn(&Record) -> f64| Distribution::of(records.iter().map(figure));
        Self {
            jobs: records.len(),
            wait_s: distribution(|record| record.wait().0 as f64),
            response_s: distribution(|record| record.response().0 as f64),
            slowdown: distribution(slowdown),
            bounded_slowdown: distribution(bounded_slowdown),
            utilisation: if there > 0.0 { work / there } else { 0.0 },
            makespan: last - first,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_jobs_by_hand() {
        let found = Summary::of(&[Record::made_up([0, 0, 100], 0, 2), Record::made_up([0, 100, 104], 0, 4)], 4);
        assert_eq!((found.wait_s.mean, found.response_s.mean, found.makespan), (50.0, 102.0, Seconds(104)));
        assert_eq!((found.slowdown.maximum, found.bounded_slowdown.maximum), (26.0, 10.4));
        assert!((found.utilisation - 216.0 / 416.0).abs() < 1e-12);
    }
}
