//! The users who submit jobs. They are of unequal activity; each has favourite sizes, a usual
//! length of run, and applications that are run again and again.
//!
//! The published model draws each job by itself. Here it draws *applications*; each is given to a
//! user whom it suits, and then run several times. Applications are drawn as the model draws jobs
//! and all are run equally often in the mean, so that the workload keeps the model's sizes and run
//! times, while a user's history at a size says something of the next job.

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{InvalidOption, Kind, Model, estimates};

/// Users to a group.
const GROUP_SIZE: u64 = 8;
/// Share of submissions that begin a new application: every application is run eight times in the
/// mean.
const NEW_APPLICATION: f64 = 0.125;
/// How far back users reach for an application, counted in applications of all users; the most
/// recent are run most.
const REMEMBERED: usize = 2000;
/// Share of parallel runs at half or twice the application's size.
const OTHER_SIZE: f64 = 0.15;
/// The run time falls with the size to this power: a speedup that is less than perfect.
const SPEEDUP_EXPONENT: f64 = 0.8;
/// Share of runs that fail early.
const FAILS: f64 = 0.05;

#[derive(Debug, Clone)]
struct User {
    group: u64,
    activity: f64,
    favourite_sizes: [u64; 3],
    usual_log_run_time: f64,
}

impl User {
    /// How well an application suits the user, without regard to activity.
    fn affinity(&self, size: u64, log_run_time: f64) -> f64 {
        let near = |favourite: &u64| favourite.ilog2() == size.ilog2();
        let by_size = if self.favourite_sizes.contains(&size) {
            1.0
        } else if self.favourite_sizes.iter().any(near) {
            0.15
        } else {
            0.01
        };
        let distance = (log_run_time - self.usual_log_run_time) / 1.5;
        by_size * (0.02 + (-0.5 * distance * distance).exp())
    }
}

#[derive(Debug, Clone)]
struct Application {
    number: u64,
    user: u64,
    group: u64,
    processors: u64,
    log_run_time: f64,
    /// Spread of the runs' logarithms.
    spread: f64,
    time_limit_seconds: u64,
}

/// One run of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) user: u64,
    pub(super) group: u64,
    pub(super) application: u64,
    pub(super) processors: u64,
    pub(super) run_time_seconds: u64,
    pub(super) time_limit_seconds: u64,
    pub(super) completed: bool,
}

/// The users of a machine.
#[derive(Debug, Clone)]
pub(super) struct Users {
    users: Vec<User>,
    /// Applications of batch and of interactive jobs, the newest last.
    applications: [Vec<Application>; 2],
    applications_drawn: u64,
    machine_processors: u64,
}

impl Users {
    /// Users whose favourites are drawn from the models. Their activity follows Zipf's law.
    pub(super) fn new(count: u64, models: &[(Kind, Model)], machine_processors: u64, random: &mut impl Rng) -> Result<Self, InvalidOption> {
        if count == 0 || models.is_empty() {
            return Err(InvalidOption("a workload needs at least one user"));
        }
        let users = (1..=count)
            .map(|number| {
                let model = &models[random.random_range(0..models.len())].1;
                let favourite_sizes = std::array::from_fn(|_| model.size(random));
                let usual_log_run_time = model.log_run_time(favourite_sizes[0], random);
                let group = (number - 1) / GROUP_SIZE + 1;
                User { group, activity: 1.0 / number as f64, favourite_sizes, usual_log_run_time }
            })
            .collect();
        Ok(Self { users, applications: [Vec::new(), Vec::new()], applications_drawn: 0, machine_processors })
    }

    /// The next run of an application of this kind: of a new one, or of one that was run lately.
    pub(super) fn next_run(&mut self, kind: Kind, model: &Model, random: &mut impl Rng) -> Run {
        let known = &self.applications[kind as usize];
        let index = if known.is_empty() || random.random::<f64>() < NEW_APPLICATION {
            self.add_application(kind, model, random)
        } else {
            // How far back, as a power of a uniform number: recent ones often, old ones seldom.
            let reach = known.len().min(REMEMBERED);
            let back = (reach as f64).powf(random.random::<f64>()) as usize - 1;
            known.len() - 1 - back.min(reach - 1)
        };
        let application = &self.applications[kind as usize][index];
        run(application, self.machine_processors, random)
    }

    fn add_application(&mut self, kind: Kind, model: &Model, random: &mut impl Rng) -> usize {
        let processors = model.size(random);
        let log_run_time = model.log_run_time(processors, random);
        let weights: Vec<f64> = self.users.iter().map(|user| user.activity * user.affinity(processors, log_run_time)).collect();
        let mut left = random.random::<f64>() * weights.iter().sum::<f64>();
        let chosen = weights
            .iter()
            .position(|weight| {
                left -= weight;
                left < 0.0
            })
            .unwrap_or(0);
        self.applications_drawn += 1;
        let spread = 0.05 + 0.35 * random.random::<f64>();
        let application = Application {
            number: self.applications_drawn,
            user: chosen as u64 + 1,
            group: self.users[chosen].group,
            processors,
            log_run_time,
            spread,
            // Users know the long runs of their application, not its mean.
            time_limit_seconds: estimates::draw((log_run_time + spread).exp(), random),
        };
        let applications = &mut self.applications[kind as usize];
        applications.push(application);
        applications.len() - 1
    }
}

fn run(application: &Application, machine_processors: u64, random: &mut impl Rng) -> Run {
    let mut processors = application.processors;
    let mut log_run_time = application.log_run_time;
    if processors > 1 && random.random::<f64>() < OTHER_SIZE {
        let other = if random.random::<bool>() { processors * 2 } else { processors / 2 };
        // Powers of two stay so, odd sizes are not halved, and parallel jobs stay parallel.
        if (2..=machine_processors).contains(&other) && (other > processors || processors.is_multiple_of(2)) {
            log_run_time += SPEEDUP_EXPONENT * (processors as f64 / other as f64).ln();
            processors = other;
        }
    }
    let deviation: f64 = StandardNormal.sample(random);
    let whole_run_seconds = (log_run_time + application.spread * deviation).exp();
    let fails = random.random::<f64>() < FAILS;
    let fraction = if fails { random.random::<f64>() } else { 1.0 };
    let run_time_seconds = ((whole_run_seconds * fraction).round() as u64).max(1);
    // A run that reaches its time limit is ended there.
    let within_limit = run_time_seconds < application.time_limit_seconds;
    Run {
        user: application.user,
        group: application.group,
        application: application.number,
        processors,
        run_time_seconds: run_time_seconds.min(application.time_limit_seconds),
        time_limit_seconds: application.time_limit_seconds,
        completed: within_limit && !fails,
    }
}
