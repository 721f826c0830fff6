//! The jobs that the comparison submits.

use rand::Rng;
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use std::time::Duration;

/// Sizes in nodes; small ones are many.
const SIZES: [u32; 14] = [1, 1, 1, 1, 2, 2, 2, 3, 4, 4, 6, 8, 12, 16];
/// Shortest and longest run time in seconds, at a scale of 1; log-uniform between.
const RUN_SECONDS: (f64, f64) = (2.0, 30.0);
/// The limit is at least so many and at most so many times the run time, rounded up to minutes.
const LIMIT_FACTOR: (f64, f64) = (2.0, 12.0);
/// The seconds for which a job of mean size and run time keeps all nodes of the cluster busy, at a
/// scale of 1.
const WORK_SECONDS: f64 = 2.9;
/// The users who submit, their accounts, and their shares of the jobs.
const USERS: [(&str, &str, f64); 4] =
    [("games", "physics", 0.45), ("man", "physics", 0.2), ("mail", "chemistry", 0.25), ("news", "chemistry", 0.1)];

/// One job to submit.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// When the job is submitted, counted from the first submission.
    pub after: Duration,
    /// How many nodes the job asks for.
    pub nodes: u32,
    /// How long the job sleeps, in seconds.
    pub run_seconds: u32,
    /// The job's time limit in minutes.
    pub limit_minutes: u32,
    /// The user who submits the job.
    pub user: &'static str,
    /// The account that the job is charged to.
    pub account: &'static str,
    /// The partition that the job is submitted to.
    pub partition: &'static str,
    /// The job's quality of service.
    pub qos: &'static str,
}

/// Makes `jobs` submissions, always the same for a seed. `scale` multiplies the run times and the
/// times between submissions. `load` is what is submitted over what the cluster can do meanwhile:
/// above 1, the queue grows as long as jobs come.
#[must_use]
pub fn submissions(jobs: usize, seed: u64, scale: f64, load: f64) -> Vec<Submission> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut after_seconds = 0.0;
    let mut submit = || {
        let (shortest, longest) = RUN_SECONDS;
        let run = scale * shortest * (longest / shortest).powf(random.random::<f64>());
        let limit = run * random.random_range(LIMIT_FACTOR.0..LIMIT_FACTOR.1) / 60.0;
        let (user, account, _) = USERS.choose_weighted(&mut random, |user| user.2).expect("weights are positive");
        let submission = Submission {
            after: Duration::from_secs_f64(after_seconds),
            nodes: *SIZES.choose(&mut random).expect("there are sizes"),
            run_seconds: run.round().max(1.0) as u32,
            limit_minutes: limit.ceil().max(1.0) as u32,
            user,
            account,
            partition: if random.random_bool(0.2) { "express" } else { "main" },
            qos: if random.random_bool(0.1) { "urgent" } else { "normal" },
        };
        after_seconds -= scale * WORK_SECONDS / load * (1.0 - random.random::<f64>()).ln();
        submission
    };
    (0..jobs).map(|_| submit()).collect()
}
