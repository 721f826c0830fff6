//! Means over the jobs that a steady machine has run.

use job_types::time::Seconds;

use super::bounded_slowdown;
use crate::engine::Record;

/// Means over the jobs that count: without the first hundredth to finish, and none that finishes
/// after the last submission.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Counted {
    /// Jobs, without those of one second on one processor.
    pub jobs_simulated: usize,
    /// How many of these jobs the means are over.
    pub jobs_counted: usize,
    /// Mean time from submission to start.
    pub mean_wait_s: f64,
    /// Mean time from submission to end.
    pub mean_response_s: f64,
    /// Mean bounded slowdown.
    pub mean_bounded_slowdown: f64,
}

/// Means over the jobs in order of finish time, by the rules of the Python Scheduler Simulator
/// (PySS, Hebrew University): a job with an estimate of one second on one processor is passed over;
/// of the `n` others the first `n / 100` to finish are passed over where there are at least a
/// hundred; counting stops at the first job that finishes after the last submission. `None` where
/// no job counts.
#[must_use]
pub fn counted(records: &[Record]) -> Option<Counted> {
    let last_submission = records.iter().map(|record| record.submit).max()?;
    let mut order: Vec<u32> = (0..records.len() as u32).collect();
    order.sort_by_key(|&place| records[place as usize].end);
    let mut size = records.len();
    let mut is_counting = true;
    let (mut jobs_counted, mut wait, mut response, mut slowdown) = (0_usize, Seconds::ZERO, Seconds::ZERO, 0.0_f64);
    for (number, record) in (1..).zip(order.iter().map(|&place| &records[place as usize])) {
        if record.estimate == Seconds(1) && record.processors == 1 {
            size -= 1;
            continue;
        }
        let is_first_hundredth = size >= 100 && number <= size / 100;
        is_counting &= record.end <= last_submission;
        if is_first_hundredth || !is_counting {
            continue;
        }
        jobs_counted += 1;
        wait = wait + record.wait();
        response = response + record.response();
        slowdown += bounded_slowdown(record);
    }
    let mean = |sum: f64| sum / jobs_counted as f64;
    (jobs_counted > 0).then(|| Counted {
        jobs_simulated: size,
        jobs_counted,
        mean_wait_s: mean(wait.0 as f64),
        mean_response_s: mean(response.0 as f64),
        mean_bounded_slowdown: mean(slowdown),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finishes_after_the_last_submission_does_not_count() {
        let records =
            [Record::made_up([0, 0, 100], 100, 1), Record::made_up([10, 100, 120], 50, 2), Record::made_up([110, 120, 130], 60, 1)];
        let found = counted(&records).unwrap();
        assert_eq!((found.jobs_simulated, found.jobs_counted), (3, 1));
        assert_eq!((found.mean_wait_s, found.mean_response_s, found.mean_bounded_slowdown), (0.0, 100.0, 1.0));
    }

    #[test]
    fn jobs_of_one_second_on_one_processor_are_passed_over() {
        let records = [Record::made_up([0, 5, 6], 1, 1), Record::made_up([0, 5, 25], 30, 1), Record::made_up([50, 50, 60], 60, 1)];
        let found = counted(&records).unwrap();
        assert_eq!((found.jobs_simulated, found.jobs_counted), (2, 1));
        assert_eq!(found.mean_wait_s, 5.0);
        assert_eq!(found.mean_bounded_slowdown, 1.25);
    }

    #[test]
    fn the_first_hundredth_to_finish_is_passed_over() {
        let mut records: Vec<Record> = (0..200).map(|place| Record::made_up([place, place + 1000, place + 2000], 1000, 1)).collect();
        records.push(Record::made_up([5000, 5000, 5010], 20, 1));
        let found = counted(&records).unwrap();
        assert_eq!((found.jobs_simulated, found.jobs_counted), (201, 198));
    }

    #[test]
    fn nothing_is_said_of_no_jobs() {
        assert_eq!(counted(&[]), None);
    }
}
