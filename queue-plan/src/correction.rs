//! Predictions of run times that were outlived.

use job_types::time::Seconds;

/// How far beyond the first prediction a job is expected to run after its first correction, its
/// second, and so on: 1, 5, 15 and 30 minutes, 1, 2, 5, 10, 20, 50 and 100 hours.
///
/// They do not add up: the second correction is 5 minutes beyond the first prediction, and not 6.
/// So has it the simulator of Gaussier, Glesser, Reis and Trystram (Improving Backfilling by using
/// Machine Learning to Predict Running Times, SC 2015), which compares its corrections with these.
pub const BEYOND: [Seconds; 11] = [
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
