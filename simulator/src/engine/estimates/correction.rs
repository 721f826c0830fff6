//! Predictions that were outlived.

use super::Job;

/// How far beyond the first prediction a job is expected to run after its first correction, its second, and so on, in seconds: 1, 5, 15 and 30 minutes, 1, 2, 5,
/// 10, 20, 50 and 100 hours.
const BEYOND_SECONDS: [i64; 11] = [60, 300, 900, 1_800, 3_600, 7_200, 18_000, 36_000, 72_000, 180_000, 360_000];

/// Expected run time in all of a job that has run the `expected_seconds` that it was expected to and goes on, after so many `corrections` before (D. Tsafrir,
/// Y. Etsion and D. Feitelson, IEEE TPDS 18(6), 2007): the first prediction and the next step beyond it, never more than its user asked for. After the last step it is what
/// its user asked for. Beyond that, which no scheduler that keeps to limits allows, a job is expected to end after a minute more.
#[must_use]
pub fn corrected_seconds(job: &Job, expected_seconds: i64, corrections: usize) -> i64 {
    if expected_seconds >= job.estimate_seconds {
        return expected_seconds.saturating_add(60);
    }
    let beyond_before = corrections.checked_sub(1).and_then(|before| BEYOND_SECONDS.get(before)).copied().unwrap_or(0);
    let corrected = BEYOND_SECONDS.get(corrections).map(|beyond| expected_seconds - beyond_before + beyond);
    corrected.unwrap_or(job.estimate_seconds).min(job.estimate_seconds)
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
