//! What users bid for their jobs, in credits per node and minute.
//!
//! The eight user modules of the thesis (6.2.4.2.1, 7.2.1.4) are in `by_run_time` (zero, constant
//! total, proportional, categorized, binary categorized), `at_random` (random, binary random) and
//! `mixed`. [`ramp`] bids anew while a job waits; [`file`] keeps the bids of a run and gives them
//! back.

mod at_random;
mod by_run_time;
pub mod file;
mod mixed;
pub mod ramp;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::engine::preemptive::Job;

/// The product of nodes, run time and bid of all jobs of constant total, in credits (7.2.1.4).
const TOTAL_CREDITS: f64 = 1000.0;
/// The bid of those who bid something, where others bid nothing (7.2.1.4).
const HIGH_BID: f64 = 1000.0;

/// How users bid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum UserModule {
    /// 0 for each job.
    Zero,
    /// Uniform in [0, 50).
    Random,
    /// 1000 / (n·t).
    ConstantTotal,
    /// n·t.
    Proportional,
    /// Uniform in an interval of the run time's category (table 7.2-E).
    Categorized,
    /// 1000 or 0, by chance.
    BinaryRandom,
    /// 1000 for jobs that run for less than five minutes, else 0.
    BinaryCategorized,
    /// Each user takes one of the seven others for good.
    Mixed,
}

impl UserModule {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Zero,
        Self::Random,
        Self::ConstantTotal,
        Self::Proportional,
        Self::Categorized,
        Self::BinaryRandom,
        Self::BinaryCategorized,
        Self::Mixed,
    ];

    /// The name of the module on the command line and in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether the module asks who submitted a job.
    #[must_use]
    pub fn needs_users(self) -> bool {
        self == Self::Mixed
    }
}

/// What is followed where the text of the thesis and its table 7.2-I disagree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reading {
    /// The table: t in whole minutes, rounded up; 1000 with probability 0.85.
    #[default]
    AsTabled,
    /// The text: t in seconds, as the thesis gives durations; 1000 with probability 0.15.
    AsWritten,
}

impl Reading {
    /// t, in the unit of this reading. No run is shorter than a millisecond.
    fn run_time(self, job: &Job) -> f64 {
        match self {
            Self::AsTabled => job.whole_minutes() as f64,
            Self::AsWritten => job.run_time.0.max(1) as f64 / 1000.0,
        }
    }

    /// n·t: node-minutes or node-seconds.
    fn node_time(self, job: &Job) -> f64 {
        f64::from(job.nodes) * self.run_time(job)
    }
}

/// What is bid for each job, in the order of the jobs.
///
/// Each module has a stream of random numbers of its own, from which it draws in the order of the
/// jobs: the same jobs and seed give the same bids.
#[must_use]
pub fn bids(module: UserModule, reading: Reading, jobs: &[Job], seed: u64) -> Vec<f64> {
    let mut random = stream(module, seed);
    let each = |bid: &mut dyn FnMut(&Job) -> f64| jobs.iter().map(bid).collect();
    match module {
        UserModule::Zero => each(&mut |_| 0.0),
        UserModule::Random => each(&mut |_| at_random::uniform(&mut random)),
        UserModule::ConstantTotal => each(&mut |job| by_run_time::constant_total(job, reading)),
        UserModule::Proportional => each(&mut |job| reading.node_time(job)),
        UserModule::Categorized => each(&mut |job| by_run_time::categorized(job, &mut random)),
        UserModule::BinaryRandom => each(&mut |_| at_random::binary(reading, &mut random)),
        UserModule::BinaryCategorized => each(&mut |job| by_run_time::binary_categorized(job)),
        UserModule::Mixed => mixed::bids(reading, jobs, seed, &mut random),
    }
}

/// The random numbers of a module.
fn stream(module: UserModule, seed: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(module as u64);
    random
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::economy::made_up::job;

    #[test]
    fn names_are_those_of_the_command_line() {
        assert_eq!(UserModule::BinaryCategorized.name(), "binary-categorized");
        assert_eq!(UserModule::Zero.name(), "zero");
    }

    #[test]
    fn one_seed_gives_one_list_of_bids() {
        let jobs: Vec<Job> = (0..1000).map(|place| job(place % 7, u64::from(place) * 90, 1 + place % 3)).collect();
        for module in UserModule::ALL {
            let first = bids(module, Reading::AsTabled, &jobs, 1);
            assert_eq!(first, bids(module, Reading::AsTabled, &jobs, 1));
            assert!(first.iter().all(|bid| bid.is_finite() && *bid >= 0.0), "{}", module.name());
            let draws = matches!(module, UserModule::Random | UserModule::Categorized | UserModule::BinaryRandom | UserModule::Mixed);
            assert_eq!(first != bids(module, Reading::AsTabled, &jobs, 2), draws, "{}", module.name());
        }
    }

    #[test]
    fn a_longer_log_begins_with_the_same_bids() {
        let jobs: Vec<Job> = (0..100).map(|place| job(1, place * 60, 1)).collect();
        for module in [UserModule::Random, UserModule::Categorized, UserModule::BinaryRandom] {
            let all = bids(module, Reading::AsTabled, &jobs, 3);
            assert_eq!(bids(module, Reading::AsTabled, &jobs[..40], 3), all[..40]);
        }
    }

    #[test]
    fn time_is_in_minutes_as_tabled_and_in_seconds_as_written() {
        let jobs = [job(1, 90, 4)];
        let bid = |module, reading| bids(module, reading, &jobs, 1)[0];
        assert_eq!(bid(UserModule::ConstantTotal, Reading::AsTabled), 1000.0 / 8.0);
        assert_eq!(bid(UserModule::ConstantTotal, Reading::AsWritten), 1000.0 / 360.0);
        assert_eq!(bid(UserModule::Proportional, Reading::AsTabled), 8.0);
        assert_eq!(bid(UserModule::Proportional, Reading::AsWritten), 360.0);
    }
}
