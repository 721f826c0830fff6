//! The computations behind the jobs of a log: which speed-up each has.

use std::collections::HashMap;

use job_types::number::UserId;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::SpeedUp;
use crate::engine::Job;

/// Which curve speed-ups follow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SpeedUpModel {
    /// Downey's: the average parallelism is log-uniform between half and four times the largest
    /// size at which the application was asked for, the variance uniform between 0 and 2.
    #[default]
    Downey,
    /// Amdahl's: the efficiency at the largest size at which the application was asked for is
    /// uniform between 0.5 and 1.
    Amdahl,
}

/// What makes one application: the user, with the executable's number where the log has it, or else
/// the size class.
type Application = (UserId, bool, u32);

fn application(job: &Job) -> Application {
    match job.executable {
        u32::MAX => (job.user, false, job.processors.max(1).ilog2()),
        executable => (job.user, true, executable),
    }
}

/// The speed-up of each job's computation, drawn once for each application in the order in which
/// the applications first appear. An application that was never asked for on more than one
/// processor is serial.
///
/// The draws rest on what users ask for, because users know their programs: sizes far beyond a
/// program's parallelism are not asked for again and again.
#[must_use]
pub fn speed_ups(jobs: &[Job], model: SpeedUpModel, seed: u64) -> Vec<SpeedUp> {
    let mut largest: HashMap<Application, u32> = HashMap::new();
    for job in jobs {
        let size = largest.entry(application(job)).or_default();
        *size = job.processors.max(*size);
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut drawn: HashMap<Application, SpeedUp> = HashMap::new();
    let curves = jobs.iter().map(|job| {
        let application = application(job);
        *drawn.entry(application).or_insert_with(|| draw(model, largest.get(&application).copied().unwrap_or(1), &mut random))
    });
    curves.collect()
}

fn draw(model: SpeedUpModel, largest: u32, random: &mut impl Rng) -> SpeedUp {
    // Two draws for each application, whatever it is: the others' do not depend on it.
    let [first, second]: [f64; 2] = random.random();
    let largest = f64::from(largest);
    match model {
        SpeedUpModel::Downey if largest <= 1.0 => SpeedUp::Downey { parallelism: 1.0, variance: 0.0 },
        SpeedUpModel::Downey => SpeedUp::Downey { parallelism: (largest * (3.0 * first - 1.0).exp2()).max(1.0), variance: 2.0 * second },
        SpeedUpModel::Amdahl if largest <= 1.0 => SpeedUp::Amdahl { serial_part: 1.0 },
        SpeedUpModel::Amdahl => {
            let efficiency = 1.0 - 0.5 * first;
            SpeedUp::Amdahl { serial_part: ((1.0 / efficiency - 1.0) / (largest - 1.0)).min(1.0) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::time::Seconds;

    fn job(user: u32, executable: u32, processors: u32) -> Job {
        Job { user: UserId(user), executable, processors, ..Job::default() }
    }

    #[test]
    fn an_application_has_one_curve_and_the_seed_decides_which() {
        let jobs = [job(1, 5, 8), job(1, 5, 32), job(2, 5, 8), job(1, u32::MAX, 8), job(1, u32::MAX, 9), job(1, u32::MAX, 16)];
        for model in [SpeedUpModel::Downey, SpeedUpModel::Amdahl] {
            let curves = speed_ups(&jobs, model, 1);
            assert_eq!(curves[0], curves[1]);
            assert_eq!(curves[3], curves[4], "one size class");
            assert!(curves[0] != curves[2] && curves[0] != curves[3] && curves[4] != curves[5]);
            assert_eq!(curves, speed_ups(&jobs, model, 1));
            assert_ne!(curves, speed_ups(&jobs, model, 2));
        }
    }

    #[test]
    fn draws_lie_where_they_are_said_to() {
        let jobs: Vec<Job> = (0..1_000).map(|user| job(user, 1, 64)).collect();
        for curve in speed_ups(&jobs, SpeedUpModel::Downey, 3) {
            let SpeedUp::Downey { parallelism, variance } = curve else { panic!() };
            assert!((32.0..=256.0).contains(&parallelism) && (0.0..=2.0).contains(&variance));
        }
        for curve in speed_ups(&jobs, SpeedUpModel::Amdahl, 3) {
            assert!((0.5..=1.0).contains(&(curve.at(64) / 64.0)));
        }
    }

    #[test]
    fn what_was_never_parallel_is_serial() {
        for model in [SpeedUpModel::Downey, SpeedUpModel::Amdahl] {
            let curve = speed_ups(&[job(1, 1, 1)], model, 1)[0];
            assert_eq!(curve.run_time(Seconds(1_000), 1, 64), Seconds(1_000));
        }
    }
}
