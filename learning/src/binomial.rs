//! Bounds on quantiles from order statistics, by counting successes and failures.
//!
//! QBETS (Nurmi, Brevik, Wolski, JSSPP 2007; summarised in section 2.3 of Nurmi, Wolski and Brevik
//! 2008) treats each past wait as a trial that falls below the unknown quantile with that
//! quantile's probability. The number of waits below it is then binomial, and an order statistic
//! bounds the quantile at a stated confidence, whatever the distribution of waits is.

use predictor_core::forecasts::forecast::PERCENTILES;
use statrs::distribution::{Binomial, DiscreteCDF};

/// The rank, counted from 1, of the smallest observation that is an upper bound on the `quantile`
/// of the population with probability at least `confidence`, among `observations` of them; `None`
/// where even the largest is no such bound.
///
/// The bound is the observation of rank k, for the smallest k with P(Binomial(n, q) <= k - 1) >= C.
#[must_use]
pub fn upper_bound_rank(observations: usize, quantile: f64, confidence: f64) -> Option<usize> {
    let count = u64::try_from(observations).ok()?;
    let binomial = Binomial::new(quantile, count).ok()?;
    let enough = |below: u64| binomial.cdf(below) >= confidence;
    if count == 0 || !enough(count - 1) {
        return None;
    }
    // The normal approximation is within a few ranks; from there step to the exact one. (The
    // distribution's own `inverse_cdf` asks for some sixty probabilities where this asks for three,
    // and panics where rounding keeps them from ascending.)
    let mean = quantile * observations as f64;
    let spread = (mean * (1.0 - quantile)).sqrt();
    let mut below = ((mean + 1.7 * spread) as u64).min(count - 1);
    while !enough(below) {
        below += 1;
    }
    while below > 0 && enough(below - 1) {
        below -= 1;
    }
    usize::try_from(below + 1).ok()
}

/// The ranks of [`upper_bound_rank`] for the percentiles 1 to 99.
#[must_use]
pub fn percentile_ranks(observations: usize, confidence: f64) -> [Option<usize>; PERCENTILES] {
    std::array::from_fn(|index| upper_bound_rank(observations, (index + 1) as f64 / 100.0, confidence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fifty_nine_observations_are_the_fewest_that_bound_the_95th_percentile_at_95_percent() {
        // 1 - 0.95^59 = 0.9515, 1 - 0.95^58 = 0.9490.
        assert_eq!(upper_bound_rank(59, 0.95, 0.95), Some(59));
        assert_eq!(upper_bound_rank(58, 0.95, 0.95), None);
    }

    #[test]
    fn the_median_of_ten_observations_is_bounded_by_the_ninth_at_95_percent() {
        // P(Binomial(10, 0.5) <= 7) = 968 / 1024 = 0.945, P(<= 8) = 1013 / 1024 = 0.989.
        assert_eq!(upper_bound_rank(10, 0.5, 0.95), Some(9));
    }

    proptest! {
        #[test]
        fn the_rank_is_the_smallest_that_is_enough(n in 1usize..3000, percent in 1u32..100, confidence in 0.5f64..0.99) {
            let quantile = f64::from(percent) / 100.0;
            let binomial = Binomial::new(quantile, n as u64).unwrap();
            match upper_bound_rank(n, quantile, confidence) {
                Some(rank) => {
                    prop_assert!(rank <= n && binomial.cdf(rank as u64 - 1) >= confidence);
                    prop_assert!(rank == 1 || binomial.cdf(rank as u64 - 2) < confidence);
                }
                None => prop_assert!(binomial.cdf(n as u64 - 1) < confidence),
            }
        }
    }
}
