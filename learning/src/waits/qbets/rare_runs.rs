//! How many observations in a row above the bound are a rare event.
//!
//! Where observations were independent, three in a row above a bound on the 0.95 quantile would be
//! rare enough to say that the series has changed. Waits are not: the more one resembles the next,
//! the longer such runs are without any change. The publications (Brevik, Nurmi, Wolski, PPoPP 2006
//! and JSSPP 2007) take the length that counts as rare from simulated log-normal series, by their
//! first autocorrelation; so does this table.

/// The quantiles at whose bounds changes are looked for.
pub(super) const LEVELS: [f64; 3] = [0.5, 0.75, 0.95];

/// At most this part of the runs above a quantile, in a series that does not change, is as long as
/// a rare one. The publications name no such part in general; this one gives the three in a row
/// that they name for independent observations and the 0.95 quantile.
#[cfg(test)]
const RARE: f64 = 0.01;

const AUTOCORRELATIONS: [f64; 12] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];

/// The length of a rare run for each of [`LEVELS`] and [`AUTOCORRELATIONS`], as a test simulates
/// it.
const RUNS: [[u16; 12]; 3] =
    [[8, 9, 10, 11, 12, 14, 16, 20, 27, 47, 81, 286], [5, 5, 6, 6, 7, 8, 10, 12, 16, 28, 47, 165], [3, 3, 4, 4, 4, 5, 6, 7, 9, 16, 26, 88]];

/// The length from which on a run of observations above the bound on the quantile `LEVELS[level]`
/// is a rare event, in a series whose logarithms have this first autocorrelation; the next larger
/// one of the table counts.
pub(super) fn rare_run(level: usize, autocorrelation: f64) -> u16 {
    let column = AUTOCORRELATIONS.iter().position(|tabled| autocorrelation <= *tabled).unwrap_or(AUTOCORRELATIONS.len() - 1);
    RUNS.get(level).and_then(|row| row.get(column)).copied().unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};
    use statrs::distribution::{ContinuousCDF, Normal};

    /// The table's entries for one autocorrelation, from a series of so many observations. The
    /// logarithms are simulated: being above a quantile is the same for a number and for its
    /// logarithm.
    fn simulated(autocorrelation: f64, observations: usize, seed: u64) -> [usize; 3] {
        let normal = Normal::new(0.0, 1.0).unwrap();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let innovation = (1.0 - autocorrelation * autocorrelation).sqrt();
        let quantiles = LEVELS.map(|level| normal.inverse_cdf(level));
        let mut value: f64 = StandardNormal.sample(&mut random);
        let mut run = [0usize; 3];
        let mut lengths = [(); 3].map(|()| vec![0usize; 10_000]);
        for _ in 0..observations {
            let noise: f64 = StandardNormal.sample(&mut random);
            value = autocorrelation * value + innovation * noise;
            for level in 0..3 {
                if value > quantiles[level] {
                    run[level] += 1;
                } else {
                    lengths[level][run[level]] += usize::from(run[level] > 0);
                    run[level] = 0;
                }
            }
        }
        lengths.map(|lengths| {
            let runs: usize = lengths.iter().sum();
            let mut longer = runs;
            lengths
                .iter()
                .position(|count| {
                    let rare = longer as f64 <= RARE * runs as f64;
                    longer -= count;
                    rare
                })
                .unwrap()
        })
    }

    #[test]
    fn the_table_is_what_simulated_log_normal_series_give() {
        for (column, autocorrelation) in AUTOCORRELATIONS.iter().enumerate() {
            let found = simulated(*autocorrelation, 60_000, 11);
            for (level, found) in found.iter().enumerate() {
                let tabled = f64::from(RUNS[level][column]);
                assert!(
                    (*found as f64 - tabled).abs() <= 1.0 + 0.25 * tabled,
                    "level {level}, autocorrelation {autocorrelation}: {found} for {tabled}"
                );
            }
        }
    }

    #[test]
    #[ignore = "prints the table anew"]
    fn print_the_table() {
        let columns: Vec<_> = AUTOCORRELATIONS.iter().map(|autocorrelation| simulated(*autocorrelation, 20_000_000, 7)).collect();
        for level in 0..3 {
            println!("{:?}", columns.iter().map(|column| column[level]).collect::<Vec<_>>());
        }
    }

    #[test]
    fn three_in_a_row_above_the_95th_percentile_are_rare_among_independent_observations() {
        assert_eq!(rare_run(2, 0.0), 3);
        // 2^-7 < 0.01 < 2^-6: a run reaches its eighth observation with probability 2^-7.
        assert_eq!(rare_run(0, -0.3), 8);
        assert!(rare_run(2, 0.85) > rare_run(2, 0.4));
    }
}
