//! Predictions that were outlived.

use job_types::time::Seconds;

use super::Job;

/// How far beyond the first prediction a job is expected to run after its first correction, its
/// second, and so on: 1, 5, 15 and 30 minutes, 1, 2, 5, 10, 20, 50 and 100 hours.
///
/// They do not add up: the second correction is 5 minutes beyond the first prediction, and not 6.
/// So has it the simulator of Gaussier, Glesser, Reis and Trystram (Improving Backfilling by using
/// Machine Learning to Predict Running Times, SC 2015), which compares its corrections with these.
const BEYOND: [Seconds; 11] = [
    Seconds(60),
    Seconds(300),
    Seconds(900),
    Seconds(1_800),
    Seconds(3_600),
    Seconds(7_200),
    Seconds(18_000),
    Seconds(36_000),
    Seconds(72_000),
    Seconds(180_000),
    Seconds(360_000),
];

/// Expected run time in all of a job that was first expected to run `first` and has run for
/// `elapsed` (D. Tsafrir, Y. Etsion and D. Feitelson, IEEE TPDS 18(6), 2007): the first
/// prediction and the first step beyond it that has not been outlived, never more than the
/// `asked` that its user asked for. After the last step it is what its user asked for.
#[must_use]
pub fn corrected_to(first: Seconds, elapsed: Seconds, asked: Seconds) -> Seconds {
    let steps = std::iter::once(Seconds::ZERO).chain(BEYOND);
    let mut corrections = steps.map(|beyond| first + beyond);
    corrections.find(|corrected| *corrected > elapsed).map_or(asked, |corrected| corrected.min(asked))
}

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
