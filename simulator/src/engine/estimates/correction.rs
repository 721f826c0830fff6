//! Predictions that were outlived.

use job_types::time::Seconds;
use queue_plan::{BEYOND, corrected_to};

use super::Job;

/// Expected run time in all of a job that has run the `expected` that it was expected to
/// and goes on, after so many `corrections` before, by [`corrected_to`]. Beyond what its
/// user asked for, which no scheduler that keeps to limits allows, a job is expected to end after a
/// minute more.
#[must_use]
pub fn corrected(job: &Job, expected: Seconds, corrections: usize) -> Seconds {
    if expected >= job.estimate {
        return expected + Seconds::MINUTE;
    }
    let beyond_before = corrections.checked_sub(1).map_or(Some(Seconds::ZERO), |before| BEYOND.get(before).copied());
    beyond_before.map_or(job.estimate, |beyond| corrected_to(expected - beyond, expected, job.estimate))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expectations of a job that outlives them all.
    fn expectations(first: i64, estimate: i64) -> Vec<i64> {
        let job = Job { estimate: Seconds(estimate), ..Job::default() };
        let mut expected = vec![Seconds(first)];
        for corrections in 0..4 {
            expected.extend(expected.last().map(|&last| corrected(&job, last, corrections)));
        }
        expected.into_iter().map(|expected| expected.0).collect()
    }

    #[test]
    fn each_correction_goes_a_step_further_beyond_the_first_prediction() {
        assert_eq!(expectations(1_000, 1_000_000), [1_000, 1_060, 1_300, 1_900, 2_800]);
    }

    #[test]
    fn no_prediction_exceeds_what_was_asked_for() {
        assert_eq!(expectations(1_000, 1_500), [1_000, 1_060, 1_300, 1_500, 1_560]);
    }
}
