//! The time limits that users ask for.
//!
//! Users choose round values, a few of them nearly always, and many simply take the largest that is
//! allowed (D. Tsafrir, Y. Etsion and D. G. Feitelson, "Modeling User Runtime Estimates", JSSPP
//! 2005: twenty values make up most of a log). How much of the estimate a job uses is close to
//! uniform (A. Mu'alem and D. Feitelson, IEEE TPDS 12(6), 2001). This is a simpler model with these
//! traits.

use rand::Rng;

/// The values that users choose from, in minutes.
const ROUND_MINUTES: [u64; 22] = [5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 360, 480, 600, 720, 900, 1080, 1440, 1800, 2160, 2880];
/// How often a user does not think and takes the largest value.
const TAKES_THE_LARGEST: f64 = 0.1;
/// The least share of an estimate that is meant to be used.
const LEAST_USED: f64 = 0.1;

/// The longest time limit, in seconds.
pub(super) const LONGEST_SECONDS: u64 = ROUND_MINUTES[ROUND_MINUTES.len() - 1] * 60;

/// The limit, in seconds, that a user chooses for an application which is expected to run this
/// long.
pub(super) fn draw(expected_run_time_seconds: f64, random: &mut impl Rng) -> u64 {
    if random.random::<f64>() < TAKES_THE_LARGEST {
        return LONGEST_SECONDS;
    }
    let used = LEAST_USED + (1.0 - LEAST_USED) * random.random::<f64>();
    let wanted_seconds = expected_run_time_seconds / used;
    ROUND_MINUTES.iter().map(|minutes| minutes * 60).find(|&limit| limit as f64 >= wanted_seconds).unwrap_or(LONGEST_SECONDS)
}
