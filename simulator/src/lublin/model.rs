//! Sizes and run times as the model draws them.

use rand::Rng;
use rand_distr::{Distribution, Gamma};

use super::InvalidOption;
use super::parameters::{LONGEST_LOG_RUN_TIME, PUBLISHED_PROCESSORS, Parameters, RunTimeParameters, SizeParameters};

/// Draws sizes and run times for a machine of a given size.
#[derive(Debug, Clone)]
pub struct Model {
    sizes: SizeParameters,
    run_times: RunTimeParameters,
    first: Gamma<f64>,
    second: Gamma<f64>,
    processors: u64,
}

impl Model {
    /// The model for a machine of `processors` processors.
    ///
    /// # Errors
    ///
    /// [`InvalidOption`] for parameters that no gamma distribution has, or a machine without
    /// processors.
    pub fn new(parameters: &Parameters, processors: u64) -> Result<Self, InvalidOption> {
        if processors == 0 {
            return Err(InvalidOption("a machine needs at least one processor"));
        }
        let run_times = parameters.run_times;
        let gamma = |shape, scale| Gamma::new(shape, scale).map_err(|_| InvalidOption("run times need positive shapes and scales"));
        Ok(Self {
            sizes: parameters.sizes,
            run_times,
            first: gamma(run_times.first_shape, run_times.first_scale)?,
            second: gamma(run_times.second_shape, run_times.second_scale)?,
            processors,
        })
    }

    /// Processors of one job, from 1 to the machine's.
    pub fn size(&self, random: &mut impl Rng) -> u64 {
        let choice: f64 = random.random();
        if choice < self.sizes.serial_probability {
            return 1;
        }
        let logarithm = self.log2_of_parallel_size(random);
        let made_power_of_two = choice < self.sizes.serial_probability + self.sizes.power_of_two_probability;
        let size = if made_power_of_two { logarithm.round().exp2() } else { logarithm.exp2().round() };
        let largest = if made_power_of_two { 1 << self.processors.ilog2() } else { self.processors };
        (size as u64).clamp(1, largest)
    }

    fn log2_of_parallel_size(&self, random: &mut impl Rng) -> f64 {
        let machine = (self.processors as f64).log2();
        // On a small machine the stages would change places; the upper ones then shrink to a point.
        let low = self.sizes.low.min(machine);
        let medium = (machine - self.sizes.medium_below_machine).max(low);
        let high = (machine - self.sizes.high_below_machine).max(medium);
        let (from, to) = if random.random::<f64>() < self.sizes.first_stage_probability { (low, medium) } else { (medium, high) };
        from + (to - from) * random.random::<f64>()
    }

    /// The probability that a job of this size has a run time from the first gamma distribution.
    /// The published slope is per processor of a machine of 128; on another machine a job counts by
    /// its share of it.
    pub fn first_gamma_probability(&self, size: u64) -> f64 {
        let published_size = size as f64 * PUBLISHED_PROCESSORS / self.processors as f64;
        (self.run_times.probability_slope * published_size + self.run_times.probability_intercept).clamp(0.0, 1.0)
    }

    /// The natural logarithm of the run time, in seconds, of a job of this size.
    pub fn log_run_time(&self, size: u64, random: &mut impl Rng) -> f64 {
        let probability = self.first_gamma_probability(size);
        loop {
            let from_first = random.random::<f64>() < probability;
            let logarithm = if from_first { &self.first } else { &self.second }.sample(random);
            if logarithm <= LONGEST_LOG_RUN_TIME {
                return logarithm;
            }
        }
    }
}
