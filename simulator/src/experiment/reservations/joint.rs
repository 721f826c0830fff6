//! Joint reservations replayed: the same nodes asked for on several machines, of which the first to
//! have them serves (Nurmi, Wolski and Brevik 2008, 4.6).
//!
//! The logs are replayed side by side on one clock, each on its own machine. One process asks all
//! machines for the same job at the same moments; what each would give comes from the decision that
//! ships, and the cheapest set that suffices, by the search that ships, is submitted. Once one of
//! its jobs has its nodes, the others are withdrawn at that moment. What is asked for is drawn as
//! for jobs of one's own.
//!
//! The joint probability is computed as if machines did not depend on each other. How far they do
//! is seen in a second replay. There each machine is asked for an equal part of what is left to
//! chance, so that both always have a job, and nothing is withdrawn, so that of each job is known
//! whether it had its nodes in time.

mod outcome;
mod process;

use std::cell::RefCell;
use std::rc::Rc;

use job_types::time::{Seconds, UnixTime};

use self::outcome::Replayed;
pub use self::outcome::{Dependence, JointReservations};
use self::process::{Chooses, Front, Process, Superfluous};
use super::super::NEVER;
use super::super::parts::{Ablations, RequestedFeatures, ReservationWish, Reviewed, Site};
use super::super::progress::Shown;
use super::super::shipped::Shipped;
use super::super::{ExperimentError, ExperimentPolicy, MoldedRunTimes, easy};
use super::own_jobs::{made_up, merged};
use crate::engine::{Job, JobIndex, Machine, Simulation};

/// How long after a refusal the process asks again.
pub const JOINT_RETRY: Seconds = Seconds(3_600);

/// A log that is replayed beside others, on the clock that they have in common.
#[derive(Debug, Clone, Copy)]
pub struct JointLog<'a> {
    /// The log's jobs.
    pub jobs: &'a [Job],
    /// Processors of the log's machine.
    pub processors: u32,
}

/// What is asked for, and when.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointOptions {
    /// What the process asks for.
    pub wish: ReservationWish,
    /// Processors of a node.
    pub node: u32,
    /// It asks from the submission of this job of each log on, counted from 1: from the latest of
    /// these moments.
    pub from: usize,
    /// It asks until the submission of this job of each log, or of its last: until the earliest of
    /// these moments.
    pub to: usize,
    /// How old the state gets that decisions are made from.
    pub refresh: Seconds,
    /// What of a reservation follows the queue.
    pub reviewed: Reviewed,
    /// Seed of all that is random.
    pub seed: u64,
}

/// The outcome of joint reservations on several machines.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct JointOutcome {
    /// The reservations on all machines together.
    pub joint: JointReservations,
    /// The reservations on each machine alone, asked for the same jobs at the same times.
    pub alone: Vec<JointReservations>,
    /// How many of the joint reservations were to be had on one machine alone at that moment.
    pub also_alone: usize,
    /// The expected cost of these joint reservations over that of the cheapest single ones.
    pub expected_over_alone: Option<f64>,
    /// How far the first two machines depend on each other.
    pub dependence: Dependence,
}

/// Replays logs side by side, with one process that asks for joint reservations. `progress` is told
/// how much of the work is done, of how much.
///
/// # Errors
///
/// [`ExperimentError`] where the logs have no time in common, a job is larger than its machine, or
/// a log says nothing of time limits.
pub fn joint_reservations(
    logs: &[JointLog<'_>],
    options: &JointOptions,
    progress: &dyn Fn(usize, usize),
) -> Result<JointOutcome, ExperimentError> {
    let replays = 2 + logs.len();
    let part = |place: usize| move |done: usize, all: usize| progress(place * 1_000 + done * 1_000 / all.max(1), replays * 1_000);
    // The process asks for the same jobs on all machines.
    let (begin, end) = window(logs, options)?;
    let smallest = logs.iter().map(|log| log.processors).min().unwrap_or(1);
    let own = made_up(options.wish.next(begin), end, JOINT_RETRY, options.node, smallest, options.seed);
    let joint = replay(logs, options, &own, Chooses::Cheapest, &part(0))?;
    let apart = replay(logs, options, &own, Chooses::Evenly, &part(1))?;
    let alone = |(place, log): (usize, &JointLog<'_>)| {
        replay(std::slice::from_ref(log), options, &own, Chooses::Cheapest, &part(2 + place)).map(|found| found.reservations())
    };
    let alone = logs.iter().enumerate().map(alone).collect::<Result<Vec<_>, _>>()?;
    let both: Vec<(u64, u64)> = joint.given.iter().filter_map(|given| Some((given.expected, given.alone?))).collect();
    let sum = |of: fn(&(u64, u64)) -> u64| both.iter().map(of).sum::<u64>() as f64;
    let (expected, single) = (sum(|both| both.0), sum(|both| both.1));
    Ok(JointOutcome {
        joint: joint.reservations(),
        alone,
        also_alone: both.len(),
        expected_over_alone: (single > 0.0).then(|| expected / single),
        dependence: apart.dependence(),
    })
}

/// The time in which is asked.
fn window(logs: &[JointLog<'_>], options: &JointOptions) -> Result<(UnixTime, UnixTime), ExperimentError> {
    let first = options.from.saturating_sub(1);
    let mut within = (UnixTime(i64::MIN), UnixTime(i64::MAX));
    for log in logs {
        let jobs = log.jobs.get(..options.to.min(log.jobs.len())).unwrap_or_default();
        let (Some(begin), Some(end)) = (jobs.get(first), jobs.last()) else {
            return Err(ExperimentError::TooFewJobs { found: jobs.len(), wanted: options.from });
        };
        if jobs.iter().all(|job| job.estimate == job.run_time) {
            return Err(ExperimentError::NoTimeLimits);
        }
        within = (within.0.max(begin.submit), within.1.min(end.submit));
    }
    if within.0 >= within.1 { Err(ExperimentError::NoTimeInCommon) } else { Ok(within) }
}

/// Replays the logs until these jobs of the process's own have been asked for.
fn replay(
    logs: &[JointLog<'_>],
    options: &JointOptions,
    own: &[Job],
    chooses: Chooses,
    progress: &dyn Fn(usize, usize),
) -> Result<Replayed, ExperimentError> {
    let process = Rc::new(RefCell::new(Process::new(options.wish, logs.len(), chooses)));
    let end = own.last().map_or(UnixTime::default(), |job| job.submit);
    // What is too improbable alone may be enough with others.
    let wish = ReservationWish { probability: 0.0, ..options.wish };
    let wishes = RequestedFeatures { molding: false, reservation: Some(wish), ..RequestedFeatures::default() };
    let parts = Ablations { reviewed: options.reviewed, ..Ablations::default() };
    let mut machines = Vec::new();
    for (place, log) in logs.iter().enumerate() {
        let until = log.jobs.partition_point(|job| job.submit <= end);
        let (jobs, is_own) = merged(log.jobs.get(..until).unwrap_or_default(), own);
        let longest_limit = jobs.iter().map(|job| job.estimate).max();
        let site = Site { processors: log.processors, longest_limit, refresh: options.refresh };
        let front = Front::new(&process, place, Shipped::new(&jobs, &site, wishes, parts, options.seed));
        let whole = 0..jobs.len() as JobIndex;
        let policy = ExperimentPolicy::new(front, MoldedRunTimes::Computation(Vec::new()), whole, is_own, None);
        // Side by side they come as far as each other.
        let all = jobs.len();
        let shown: &dyn Fn(usize, usize) = if place == 0 { progress } else { &|_, _| {} };
        machines.push((jobs, Machine::new(log.processors), easy(), Shown::new(policy, all, shown)));
    }
    let mut simulations: Vec<_> = Vec::new();
    for (jobs, machine, scheduler, policy) in &mut machines {
        simulations.push(Simulation::new(jobs, machine, scheduler, policy));
    }
    loop {
        let next = |(place, simulation): (usize, &Simulation<'_, _>)| simulation.next_moment().map(|moment| (moment, place));
        let soonest = simulations.iter().enumerate().filter_map(next).min();
        let Some((_, place)) = soonest.filter(|(moment, _)| *moment < NEVER) else { break };
        if let Some(simulation) = simulations.get_mut(place) {
            simulation.step()?;
        }
        let superfluous = process.borrow_mut().superfluous();
        for Superfluous { machine, job, since } in superfluous {
            if let Some(simulation) = simulations.get_mut(machine) {
                simulation.withdraw(job, since);
            }
        }
    }
    let records = simulations.into_iter().map(Simulation::into_records).collect();
    drop(machines);
    let mut process = process.borrow_mut();
    Ok(Replayed { asked: process.asked, given: std::mem::take(&mut process.given), records })
}

#[cfg(test)]
mod tests {
    use published_methods::varq::Choice;

    use super::super::super::tests::so_many_jobs;
    use super::*;

    fn options(probability: f64) -> JointOptions {
        let wish = ReservationWish { every: Seconds(2 * 3_600), probability, names_probability: true, point: Choice::Latest };
        let (refresh, reviewed) = (Seconds(30), Reviewed::default());
        JointOptions { wish, node: 1, from: 201, to: usize::MAX, refresh, reviewed, seed: 1 }
    }

    fn found(first: &[Job], second: &[Job], probability: f64) -> Result<JointOutcome, ExperimentError> {
        let log = |jobs| JointLog { jobs, processors: 64 };
        joint_reservations(&[log(first), log(second)], &options(probability), &|_, _| {})
    }

    #[test]
    fn a_machine_beside_itself_misses_what_it_misses() {
        let jobs = so_many_jobs(1_000);
        let found = found(&jobs, &jobs, 0.75).unwrap();
        assert_eq!(found.alone[0], found.alone[1], "the same machine twice");
        assert!(found.joint.found.accepted > 10 && found.joint.found.cost_ratio.unwrap() >= 1.0, "{found:?}");
        let Dependence { pairs, first_kept, second_kept, either_kept, either_if_independent, correlation } = found.dependence;
        assert!(pairs > 10 && first_kept == second_kept && either_kept == first_kept, "{found:?}");
        assert!(either_kept < either_if_independent && (correlation.unwrap() - 1.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn logs_that_do_not_overlap_are_refused() {
        let jobs = so_many_jobs(400);
        let later: Vec<Job> = jobs.iter().map(|job| Job { submit: job.submit + Seconds(10_000_000), ..*job }).collect();
        assert_eq!(found(&jobs, &later, 0.5), Err(ExperimentError::NoTimeInCommon));
    }
}
