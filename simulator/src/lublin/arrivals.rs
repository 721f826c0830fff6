//! When jobs arrive, as the model has it: inter-arrival times on a clock that goes faster at rush
//! hours.

use rand::Rng;
use rand_distr::{Distribution, Gamma};
use statrs::distribution::{ContinuousCDF, Gamma as GammaCurve};

use super::InvalidOption;
use super::parameters::{ArrivalParameters, CYCLE_START, LONGEST_LOG_INTERARRIVAL};

/// Parts of a day.
pub const HALF_HOURS: usize = 48;
const HALF_HOUR_SECONDS: f64 = 1800.0;

/// The daily cycle: how much faster or slower than on average jobs arrive in each half-hour from
/// midnight. The mean is 1.
#[derive(Debug, Clone, PartialEq)]
pub struct DailyCycle {
    weights: [f64; HALF_HOURS],
}

impl DailyCycle {
    /// The cycle of a parameter set.
    ///
    /// # Errors
    ///
    /// [`InvalidOption`] for parameters that no gamma distribution has.
    pub fn new(parameters: &ArrivalParameters) -> Result<Self, InvalidOption> {
        let curve = GammaCurve::new(parameters.cycle_shape, 1.0 / parameters.cycle_scale)
            .map_err(|_| InvalidOption("the daily cycle needs a positive shape and scale"))?;
        let mut weights = [0.0; HALF_HOURS];
        for half_hour in CYCLE_START..CYCLE_START + HALF_HOURS {
            let middle = half_hour as f64;
            // Half-hours are counted from 1 in the model and from 0 here.
            weights[(half_hour - 1) % HALF_HOURS] = curve.cdf(middle + 0.5) - curve.cdf(middle - 0.5);
        }
        let mean = weights.iter().sum::<f64>() / HALF_HOURS as f64;
        weights.iter_mut().for_each(|weight| *weight /= mean);
        Ok(Self { weights })
    }

    /// The weights of the half-hours from midnight.
    pub fn weights(&self) -> &[f64; HALF_HOURS] {
        &self.weights
    }

    /// Moves on from a moment (seconds from a midnight) until `average_seconds` have passed on the
    /// clock that goes as fast as jobs arrive.
    fn advance(&self, from_seconds: f64, average_seconds: f64) -> f64 {
        let mut moment = from_seconds;
        let mut left = average_seconds;
        let mut half_hour = (from_seconds / HALF_HOUR_SECONDS) as u64;
        loop {
            let end = (half_hour + 1) as f64 * HALF_HOUR_SECONDS;
            let weight = self.weights[(half_hour % HALF_HOURS as u64) as usize];
            let passes = (end - moment) * weight;
            if left < passes {
                return moment + left / weight;
            }
            left -= passes;
            moment = end;
            half_hour += 1;
        }
    }
}

/// The arrivals of one kind of jobs.
#[derive(Debug, Clone)]
pub struct Arrivals {
    cycle: DailyCycle,
    interarrivals: Gamma<f64>,
    now: f64,
}

impl Arrivals {
    /// Arrivals from a midnight on.
    ///
    /// # Errors
    ///
    /// [`InvalidOption`] for parameters that no gamma distribution has.
    pub fn new(parameters: &ArrivalParameters) -> Result<Self, InvalidOption> {
        let interarrivals = Gamma::new(parameters.shape * parameters.rush_to_all_ratio, parameters.scale)
            .map_err(|_| InvalidOption("arrivals need a positive shape and scale"))?;
        Ok(Self { cycle: DailyCycle::new(parameters)?, interarrivals, now: 0.0 })
    }

    /// Draws the time to the next arrival, in seconds of an average half-hour.
    pub fn draw_interarrival(&self, random: &mut impl Rng) -> f64 {
        loop {
            let logarithm = self.interarrivals.sample(random);
            if logarithm <= LONGEST_LOG_INTERARRIVAL {
                return logarithm.exp();
            }
        }
    }

    /// Moves on by that time, stretched or compressed by the hour of the day, and gives the moment
    /// of the arrival in seconds.
    pub fn advance(&mut self, average_seconds: f64) -> f64 {
        self.now = self.cycle.advance(self.now, average_seconds);
        self.now
    }
}

#[cfg(test)]
mod tests {
    use super::super::parameters::{BATCH, INTERACTIVE, TYPELESS};
    use super::{Arrivals, DailyCycle, HALF_HOURS};

    #[test]
    fn most_jobs_arrive_after_noon() {
        // The mode of gamma(a, b) is (a - 1) b, in half-hours counted from 1: 28.4, 27.0 and 29.0.
        for (parameters, busiest) in [(TYPELESS, 27), (BATCH, 26), (INTERACTIVE, 28)] {
            let cycle = DailyCycle::new(&parameters.arrivals).unwrap();
            let found = (0..HALF_HOURS).max_by(|&a, &b| cycle.weights()[a].total_cmp(&cycle.weights()[b])).unwrap();
            assert_eq!(found, busiest);
            assert!((cycle.weights().iter().sum::<f64>() - 48.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_day_takes_a_day_whatever_the_cycle() {
        let mut arrivals = Arrivals::new(&BATCH.arrivals).unwrap();
        assert!((arrivals.advance(86_400.0) - 86_400.0).abs() < 1e-6);
        assert!((arrivals.advance(5.0 * 86_400.0) - 6.0 * 86_400.0).abs() < 1e-6);
    }

    #[test]
    fn small_steps_go_as_far_as_one_large_one() {
        let mut small = Arrivals::new(&INTERACTIVE.arrivals).unwrap();
        let mut large = small.clone();
        let mut moment = 0.0;
        for _ in 0..1000 {
            moment = small.advance(77.7);
        }
        assert!((moment - large.advance(77_700.0)).abs() < 1e-3);
    }
}
