//! Predictions that were outlived.

use super::Job;

/// How far beyond the first prediction a job is expected to run after its first correction, its
/// second, and so on, in seconds: 1, 5, 15 and 30 minutes, 1, 2, 5, 10, 20, 50 and 100 hours.
///
/// They do not add up: the second correction is 5 minutes beyond the first prediction, and not 6.
/// So has it the simulator of Gaussier, Glesser, Reis and Trystram (Improving Backfilling by using
/// Machine Learning to Predict Running Times, SC 2015), which compares its corrections with these.
const BEYOND_SECONDS: [i64; 11] = [60, 300, 900, 1_800, 3_600, 7_200, 18_000, 36_000, 72_000, 180_000, 360_000];

/// Expected run time in all of a job that was first expected to run `first_seconds` and has run for
/// `elapsed_seconds` (D. Tsafrir, Y. Etsion and D. Feitelson, IEEE TPDS 18(6), 2007): the first
/// prediction and the first step beyond it that has not been outlived, never more than the
/// `asked_seconds` that its user asked for. After the last step it is what its user asked for.
#[must_use]
pub fn corrected_to_seconds(first_seconds: i64, elapsed_seconds: i64, asked_seconds: i64) -> i64 {
    let steps = std::iter::once(0).chain(BEYOND_SECONDS);
    let mut corrections = steps.map(|beyond| first_seconds.saturating_add(beyond));
    corrections.find(|corrected| *corrected > elapsed_seconds).map_or(asked_seconds, |corrected| corrected.min(asked_seconds))
}

/// Expected run time in all of a job that has run the `expected_seconds` that it was expected to
/// and goes on, after so many `corrections` before, by [`corrected_to_seconds`]. Beyond what its
/// user asked for, which no scheduler that keeps to limits allows, a job is expected to end after a
/// minute more.
#[must_use]
pub fn corrected_seconds(job: &Job, expected_seconds: i64, corrections: usize) -> i64 {
    if expected_seconds >= job.estimate_seconds {
        return expected_seconds.saturating_add(60);
    }
    let beyond_before = corrections.checked_sub(1).map_or(Some(0), |before| BEYOND_SECONDS.get(before).copied());
    beyond_before
        .map_or(job.estimate_seconds, |beyond| corrected_to_seconds(expected_seconds - beyond, expected_seconds, job.estimate_seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expectations of a job that outlives them all.
    fn expectations(first: i64, estimate_seconds: i64) -> Vec<i64> {
        let job = Job { estimate_seconds, ..Job::default() };
        let mut expected = vec![first];
        for corrections in 0..4 {
            expected.extend(expected.last().map(|&last| corrected_seconds(&job, last, corrections)));
        }
        expected
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
