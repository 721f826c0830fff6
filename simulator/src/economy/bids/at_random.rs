//! Bids that have nothing to do with the job.

use rand::Rng;

use super::{HIGH_BID, Reading};

/// Bids of the Random-Bid user are below this (7.2.1.4).
const BELOW: f64 = 50.0;
/// With which probability something is bid: 7.2.1.4 says 0.15, and its table 7.2-I has averages of
/// 848 to 852 where bids play no part, so it was 0.85.
const SOMETHING_AS_TABLED: f64 = 0.85;
const SOMETHING_AS_WRITTEN: f64 = 0.15;

/// Uniform in [0, 50).
pub(super) fn uniform(random: &mut impl Rng) -> f64 {
    random.random_range(0.0..BELOW)
}

/// 1000 or 0.
pub(super) fn binary(reading: Reading, random: &mut impl Rng) -> f64 {
    let something = match reading {
        Reading::AsTabled => SOMETHING_AS_TABLED,
        Reading::AsWritten => SOMETHING_AS_WRITTEN,
    };
    if random.random::<f64>() < something { HIGH_BID } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::economy::bids::{UserModule, stream};

    #[test]
    fn uniform_bids_fill_their_interval() {
        let mut random = stream(UserModule::Random, 1);
        let bids: Vec<f64> = (0..10_000).map(|_| uniform(&mut random)).collect();
        assert!(bids.iter().all(|bid| (0.0..50.0).contains(bid)));
        assert!((bids.iter().sum::<f64>() / 10_000.0 - 25.0).abs() < 0.5);
    }

    #[test]
    fn the_table_has_many_who_bid_something_and_the_text_few() {
        let mut random = stream(UserModule::BinaryRandom, 1);
        let mut mean = |reading| (0..10_000).map(|_| binary(reading, &mut random)).sum::<f64>() / 10_000.0;
        assert!((mean(Reading::AsTabled) - 850.0).abs() < 15.0);
        assert!((mean(Reading::AsWritten) - 150.0).abs() < 15.0);
    }
}
