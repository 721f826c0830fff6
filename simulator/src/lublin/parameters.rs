//! The published figures of the model.
//!
//! From U. Lublin and D. G. Feitelson, "The Workload on Parallel Supercomputers: Modeling the
//! Characteristics of Rigid Jobs", Journal of Parallel and Distributed Computing 63(11), 2003, and
//! the parameter listing that its authors published with it (`m_lublin99`). They were fitted to
//! logs of machines of about 128 processors.

/// The kind of a job in the model that tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Small, short, and submitted in the middle of the day.
    Interactive,
    /// All other jobs.
    Batch,
}

/// Which of the published parameter sets to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mix {
    /// One set of parameters for all jobs.
    Typeless,
    /// Batch and interactive jobs, each with its own set and its own arrivals.
    #[default]
    BatchAndInteractive,
}

/// Job sizes: serial with one probability, a power of two with another; the logarithm (base 2) of a
/// parallel job's size is uniform in two stages, `[low, medium]` with probability
/// `first_stage_probability`, else `[medium, high]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeParameters {
    /// Share of jobs of one processor.
    pub serial_probability: f64,
    /// Share of jobs that are parallel and made a power of two.
    pub power_of_two_probability: f64,
    /// Logarithm of the smallest parallel size; less than 1 gives size 2 its share.
    pub low: f64,
    /// How far `medium` lies below the logarithm of the machine's size.
    pub medium_below_machine: f64,
    /// How far `high` lies below the logarithm of the machine's size.
    pub high_below_machine: f64,
    /// Probability of the first stage.
    pub first_stage_probability: f64,
}

/// Run times: the natural logarithm of the seconds is hyper-gamma, the first gamma with probability
/// `probability_slope * size + probability_intercept`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunTimeParameters {
    /// Shape of the first gamma distribution (shorter jobs).
    pub first_shape: f64,
    /// Scale of the first gamma distribution.
    pub first_scale: f64,
    /// Shape of the second gamma distribution (longer jobs).
    pub second_shape: f64,
    /// Scale of the second gamma distribution.
    pub second_scale: f64,
    /// Change of the first's probability per processor, on a machine of 128.
    pub probability_slope: f64,
    /// The first's probability at size 0.
    pub probability_intercept: f64,
}

/// Arrivals: the natural logarithm of the seconds between two is gamma, stretched and compressed by
/// the hour of the day, whose 48 half-hours are weighted by another gamma distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArrivalParameters {
    /// Shape, at rush hours.
    pub shape: f64,
    /// Scale.
    pub scale: f64,
    /// What the shape at rush hours is multiplied by to hold for the whole day.
    pub rush_to_all_ratio: f64,
    /// Shape of the daily cycle, over half-hours.
    pub cycle_shape: f64,
    /// Scale of the daily cycle, in half-hours.
    pub cycle_scale: f64,
}

/// One published set of parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// Job sizes.
    pub sizes: SizeParameters,
    /// Run times.
    pub run_times: RunTimeParameters,
    /// Arrivals.
    pub arrivals: ArrivalParameters,
}

/// The machine size to which the published slope of the run times belongs.
pub const PUBLISHED_PROCESSORS: f64 = 128.0;
/// No run time is longer than the exponential of this, in seconds (45 hours); longer draws are
/// drawn again.
pub const LONGEST_LOG_RUN_TIME: f64 = 12.0;
/// No time between two arrivals is longer than the exponential of this, in seconds (five days).
pub const LONGEST_LOG_INTERARRIVAL: f64 = 13.0;
/// The day of the cycle begins with this half-hour, counted from 1: half past five in the morning.
pub const CYCLE_START: usize = 11;

/// The published parameters that make no difference between batch and interactive jobs.
pub const TYPELESS: Parameters = Parameters {
    sizes: SizeParameters {
        serial_probability: 0.244,
        power_of_two_probability: 0.576,
        low: 0.8,
        medium_below_machine: 2.5,
        high_below_machine: 0.0,
        first_stage_probability: 0.86,
    },
    run_times: RunTimeParameters {
        first_shape: 4.2,
        first_scale: 0.94,
        second_shape: 312.0,
        second_scale: 0.03,
        probability_slope: -0.0054,
        probability_intercept: 0.78,
    },
    arrivals: ArrivalParameters { shape: 10.2303, scale: 0.4871, rush_to_all_ratio: 1.0225, cycle_shape: 8.1737, cycle_scale: 3.9631 },
};

/// Batch jobs.
pub const BATCH: Parameters = Parameters {
    sizes: SizeParameters {
        serial_probability: 0.2927,
        power_of_two_probability: 0.6686,
        low: 1.2,
        medium_below_machine: 2.0,
        high_below_machine: 0.0,
        first_stage_probability: 0.875,
    },
    run_times: RunTimeParameters {
        first_shape: 6.57,
        first_scale: 0.823,
        second_shape: 639.1,
        second_scale: 0.0156,
        probability_slope: -0.003,
        probability_intercept: 0.6986,
    },
    arrivals: ArrivalParameters { shape: 6.0415, scale: 0.8531, rush_to_all_ratio: 1.0519, cycle_shape: 6.1271, cycle_scale: 5.2740 },
};

/// Interactive jobs.
pub const INTERACTIVE: Parameters = Parameters {
    sizes: SizeParameters {
        serial_probability: 0.1541,
        power_of_two_probability: 0.625,
        low: 1.0,
        medium_below_machine: 4.0,
        high_below_machine: 1.5,
        first_stage_probability: 0.705,
    },
    run_times: RunTimeParameters {
        first_shape: 3.8351,
        first_scale: 0.6605,
        second_shape: 7.073,
        second_scale: 0.6856,
        probability_slope: -0.0118,
        probability_intercept: 0.9156,
    },
    arrivals: ArrivalParameters { shape: 6.5510, scale: 0.6621, rush_to_all_ratio: 0.9797, cycle_shape: 8.9186, cycle_scale: 3.6680 },
};

impl Mix {
    /// The streams of arrivals that the mix is made of.
    pub fn streams(self) -> &'static [(Kind, Parameters)] {
        match self {
            Self::Typeless => &[(Kind::Batch, TYPELESS)],
            Self::BatchAndInteractive => &[(Kind::Interactive, INTERACTIVE), (Kind::Batch, BATCH)],
        }
    }
}
