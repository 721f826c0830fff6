//! Predictions that were outlived.

use super::Job;

/// What is added to a prediction that was outlived, in seconds, one after the other: 1, 5, 15 and 30 minutes, 1, 2, 5, 10, 20, 50 and 100 hours.
const STEPS_SECONDS: [i64; 11] = [60, 300, 900, 1_800, 3_600, 7_200, 18_000, 36_000, 72_000, 180_000, 360_000];

/// Expected run time in all of a job that has run `expected_seconds` and goes on (D. Tsafrir, Y. Etsion and D. Feitelson, IEEE TPDS 18(6), 2007, 3.3): the
/// next step is added, never beyond what its user asked for. A job keeps no count of its corrections: the step is the first that is
/// longer than a sixth of what it has run, which makes the same steps grow as the job does. Beyond the user's estimate the job ends at any
/// moment, and is expected to after a minute more.
#[must_use]
pub fn corrected_seconds(job: &Job, expected_seconds: i64) -> i64 {
    if expected_seconds >= job.estimate_seconds {
        return expected_seconds.saturating_add(60);
    }
    let step = STEPS_SECONDS.iter().find(|&&step| step > expected_seconds / 6).copied().unwrap_or(360_000);
    (expected_seconds + step).min(job.estimate_seconds)
}
