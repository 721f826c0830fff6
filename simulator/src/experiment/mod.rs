//! Molding, deferral and virtual reservations held against workload logs.
//!
//! A log is replayed twice, under EASY unless another scheduler is given: as it is, and with a
//! policy in front that may change the jobs of a window. The jobs before the window are the
//! history; none follows it. Figures are over the window's jobs.
//!
//! What a changed job runs at another size is not in any log. There are two protocols, and the
//! figures of one say nothing of the other:
//!
//! - [`Protocol::Paper`]: a run time drawn from the user's own runs at that size (Hariharan et al.
//!   2020, VI.C). A job becomes another job of its user's, shorter or longer.
//! - [`Protocol::WorkConserving`]: the same computation, along a speed-up curve that no policy
//!   sees.

mod admissions;
mod computations;
mod deadline_state;
mod deadlines;
mod deferral;
mod expected_run_times;
mod given;
mod learnt_waits;
mod outcome;
mod paper_molding;
mod parts;
mod placement;
mod policy;
mod priced_time;
mod progress;
mod queue_state;
mod reservations;
mod shipped;
mod speed_up;
mod state;
#[cfg(test)]
mod tests;
mod waits;

pub use computations::{SpeedUpModel, speed_ups};
pub(crate) use deadline_state::deadline_state;
pub(crate) use deadlines::ratio_error;
pub use deadlines::{Admission, AdmissionBackfill, AdmissionOptions, AdmissionOutcome, Calibration, CalibrationGroup, Held, admissions};
pub use deferral::{Counted, Deferral, Hold};
pub use learning::waits::qbets::Classes as VarqClasses;
#[cfg(test)]
pub(crate) use learnt_waits::PublishedSite;
pub use outcome::ReplayOutcome;
pub use paper_molding::PaperMolding;
pub use parts::{Ablations, AdmissionRule, RequestedFeatures, ReservationWish, Reviewed, Site};
pub use placement::{
    Added, HighLoad, LongestDelay, OverDraws, Pictured, PlacementExperiment, PlacementMethod, PlacementOptions, PlacementPreference,
    PlacementRunTimes, PlacementSummary, Placements, SoundJobs, TooFewSoundJobs, placements,
};
pub use policy::{Changed, Decider, ExperimentPolicy, MoldedRunTimes, OwnRuns};
pub use priced_time::Agreement;
pub use published_methods::varq::Choice as VarqChoice;
pub use queue_state::{Expected, QueuedJob, queue_of, state_of};
pub use reservations::{
    BoundedWait, Dependence, JOINT_RETRY, JointLog, JointOptions, JointOutcome, JointReservations, OWN_NODES, OWN_RUN_TIMES, Others, RETRY,
    Refusals, ReservationClass, ReservationFigures, ReservationMethod, ReservationOptions, ReservationOutcome, Reservations,
    joint_reservations, reservation_figures, reservations,
};
pub use shipped::{AskedReservation, DeadlineForecast, Shipped};
pub use speed_up::SpeedUp;

use std::borrow::Cow;

use job_types::time::{Seconds, UnixTime};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use self::progress::Shown;
use crate::engine::backfill::{Easy, Slurm, SlurmParameters};
use crate::engine::estimates::Requested;
use crate::engine::order::FirstCome;
use crate::engine::policy::AsSubmitted;
use crate::engine::{DoesNotFit, Job, JobIndex, Machine, Record, Scheduler, simulate};

/// How long a job that is molded runs at its new size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Protocol {
    /// A molded job runs as long as one of the user's own runs at that size.
    Paper,
    /// A molded job runs as long as the same computation takes at that size.
    #[default]
    WorkConserving,
}

/// Which policy decides about the jobs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// Molding by Hariharan et al. 2020 (IV.A).
    PaperMolding,
    /// Molding and deferral by Hariharan et al. 2020 (IV.B).
    PaperDeferral(Hold, Counted),
    /// The decision that the plugin ships with, where users wish this.
    Default(RequestedFeatures),
}

/// An experiment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// How long a job that is molded runs at its new size.
    pub protocol: Protocol,
    /// The policy.
    pub method: Method,
    /// The curve of the speed-up under [`Protocol::WorkConserving`].
    pub speed_up: SpeedUpModel,
    /// The part of the window's jobs that the policy may change, drawn job by job.
    pub adoption: f64,
    /// First job of the window, counted from 1.
    pub from: usize,
    /// Last job of the window; the last there is where there are fewer.
    pub to: usize,
    /// How old the state gets that the default decides from; the daemon publishes one every
    /// 30 s.
    pub refresh: Seconds,
    /// What of the default is in force.
    pub parts: Ablations,
    /// Each job is submitted up to so much later, by a time of its own, with the policy and
    /// without. One replay is one path, and a path may be a lucky one: what becomes of the log as
    /// it is says as little of chance as what becomes of it with a policy. With [`JITTER`] each
    /// draw compares two paths that are drawn alike, so that draws differ by as much as chance
    /// moves.
    pub jitter: Seconds,
    /// Seed of all that is random.
    pub seed: u64,
}

/// The [`Options::jitter`] of who asks for several draws: too short for anybody to notice, and
/// enough for another path.
pub const JITTER: Seconds = Seconds::MINUTE;

impl Default for Options {
    /// Molding by Hariharan et al.'s split: 10,000 jobs of history, 20,000 that may be changed.
    fn default() -> Self {
        Self {
            protocol: Protocol::default(),
            method: Method::Default(RequestedFeatures::default()),
            speed_up: SpeedUpModel::default(),
            adoption: 1.0,
            from: 10_001,
            to: 30_000,
            refresh: Seconds(30),
            parts: Ablations::default(),
            jitter: Seconds::ZERO,
            seed: 1,
        }
    }
}

/// Why an experiment cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ExperimentError {
    /// Too few jobs.
    #[error("the log has {found} jobs that ran, job {wanted} is asked for; choose a smaller --from")]
    TooFewJobs {
        /// The number of jobs that ran.
        found: usize,
        /// The first that was asked for.
        wanted: usize,
    },
    /// Logs that are replayed side by side and do not overlap.
    #[error("from job --from on the logs have no time in common")]
    NoTimeInCommon,
    /// No time limits.
    #[error("the log does not say how long jobs were asked to run at most (field 9), which reservations are made of")]
    NoTimeLimits,
    /// A job larger than the machine.
    #[error(transparent)]
    DoesNotFit(#[from] DoesNotFit),
}

/// Mean responses of the jobs that ask for about as much work.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct WorkClass {
    /// Processor hours of the job as written, from so many on.
    pub at_least_processor_hours: f64,
    /// The number of jobs in the class.
    pub jobs: usize,
    /// Mean response in the log as it is, in seconds.
    pub baseline_response_s: f64,
    /// Mean response with the policy, in seconds.
    pub response_s: f64,
}

/// The least processor hours of each class of work.
const WORK_CLASSES: [f64; 6] = [0.0, 0.1, 1.0, 10.0, 100.0, 1_000.0];

/// The figures of a log with the policy and without.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Comparison {
    /// The log as it is.
    pub baseline: ReplayOutcome,
    /// The figures with the policy.
    pub ours: ReplayOutcome,
    /// What the policy did.
    pub changed: Changed,
    /// Jobs of the window that kept their size and were not held.
    pub unmolded_jobs: usize,
    /// Mean response of those jobs in the log as it is.
    pub unmolded_baseline_response_s: f64,
    /// Mean response of those jobs with the policy, in seconds.
    pub unmolded_response_s: f64,
    /// The jobs of the window whose users let the policy change them ([`Options::adoption`]).
    pub adopters: ResponseChange,
    /// The other jobs of the window: what they pay for it, or gain. Both are drawn job by job, so
    /// that they are alike but for that.
    pub others: ResponseChange,
    /// Mean responses by the work of the jobs as written (figures 7 and 9 of Hariharan et al.
    /// 2020).
    pub by_work: Vec<WorkClass>,
    /// How often the price of the machine's time and whole plans allow the same change; `None`
    /// where the policy asks for no price.
    pub agreement: Option<Agreement>,
}

/// Responses of some of the jobs without the policy and with it; all 0 where there are no such
/// jobs.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct ResponseChange {
    /// The number of these jobs.
    pub jobs: usize,
    /// Mean response in the log as it is.
    pub baseline_response_s: f64,
    /// Mean response with the policy, in seconds.
    pub response_s: f64,
    /// 95 % of them end within this time from their submission in the log as it is.
    pub baseline_p95_response_s: f64,
    /// 95 % of them do with the policy.
    pub p95_response_s: f64,
}

impl ResponseChange {
    /// Compares the responses of the jobs in these places.
    fn of(places: &[usize], baseline: &[Record], records: &[Record]) -> Self {
        let of = |records: &[Record]| {
            let responses = places.iter().filter_map(|place| records.get(*place)).map(|record| record.response().0 as f64);
            crate::metrics::Distribution::of(responses)
        };
        let (before, with) = (of(baseline), of(records));
        Self {
            jobs: places.len(),
            baseline_response_s: before.mean,
            response_s: with.mean,
            baseline_p95_response_s: before.p95,
            p95_response_s: with.p95,
        }
    }
}

/// The scheduler of the experiments where no other is named: first come, first served with EASY
/// backfilling.
#[must_use]
pub fn easy() -> Scheduler {
    Scheduler { order: Box::new(FirstCome), backfill: Box::new(Easy::default()), estimates: Box::new(Requested) }
}

/// Slurm's two schedulers with their defaults, first come, first served.
#[must_use]
pub fn slurm_defaults() -> Scheduler {
    let backfill = Box::new(Slurm::new(SlurmParameters::default()));
    Scheduler { order: Box::new(FirstCome), backfill, estimates: Box::new(Requested) }
}

/// Replays `jobs` with and without the policy.
///
/// # Errors
///
/// [`ExperimentError`] where the window lies behind the last job, or a job is larger than the
/// machine.
pub fn compare(jobs: &[Job], processors: u32, options: &Options) -> Result<Comparison, ExperimentError> {
    compare_shown(jobs, processors, options, &|_, _| ())
}

/// Compares as [`compare`] does. `progress` is told how many jobs of the replay with the policy
/// have been submitted, and how many there are.
///
/// # Errors
///
/// As [`compare`].
pub fn compare_shown(
    jobs: &[Job],
    processors: u32,
    options: &Options,
    progress: &dyn Fn(usize, usize),
) -> Result<Comparison, ExperimentError> {
    compare_under(&|_| easy(), jobs, processors, options, progress)
}

/// Compares as [`compare_shown`] does, under another scheduler, which is made anew for each replay
/// from its jobs.
///
/// # Errors
///
/// As [`compare`].
pub fn compare_under(
    scheduler: &dyn Fn(&[Job]) -> Scheduler,
    jobs: &[Job],
    processors: u32,
    options: &Options,
    progress: &dyn Fn(usize, usize),
) -> Result<Comparison, ExperimentError> {
    let (found, first) = (jobs.len(), options.from.saturating_sub(1));
    let end = options.to.min(found);
    if first >= end {
        return Err(ExperimentError::TooFewJobs { found, wanted: options.from });
    }
    let jobs = &*jittered(jobs.get(..end).unwrap_or_default(), options.jitter, options.seed);
    let machine = Machine::new(processors);
    let baseline = simulate(jobs, &machine, &mut scheduler(jobs), &mut AsSubmitted)?;
    let WithPolicy { records, changed, is_changed, agreement } =
        with_policy(&mut scheduler(jobs), jobs, &machine, first, options, progress)?;
    let adopts = adopters(jobs.len(), options.adoption, options.seed);
    let (adopting, others): (Vec<usize>, Vec<usize>) = (first..end).partition(|place| adopts.get(*place).copied().unwrap_or(false));
    let kept = || is_changed.iter().enumerate().skip(first).filter(|(_, changed)| !**changed).map(|(place, _)| place);
    let mean = |records: &[Record]| {
        let responses = kept().filter_map(|place| records.get(place)).map(|record| record.response().0 as f64);
        crate::metrics::Distribution::of(responses).mean
    };
    Ok(Comparison {
        baseline: ReplayOutcome::of(&baseline, first..end, processors),
        ours: ReplayOutcome::of(&records, first..end, processors),
        changed,
        unmolded_jobs: kept().count(),
        unmolded_baseline_response_s: mean(&baseline),
        unmolded_response_s: mean(&records),
        adopters: ResponseChange::of(&adopting, &baseline, &records),
        others: ResponseChange::of(&others, &baseline, &records),
        by_work: by_work(jobs, &baseline, &records, first),
        agreement,
    })
}

fn by_work(jobs: &[Job], baseline: &[Record], records: &[Record], first: usize) -> Vec<WorkClass> {
    let window = || jobs.iter().zip(baseline.iter().zip(records)).skip(first);
    let class = |place: usize, at_least: f64| {
        let below = WORK_CLASSES.get(place + 1).copied().unwrap_or(f64::INFINITY);
        let here = |job: &Job| (at_least..below).contains(&(job.work_processor_seconds() / 3_600.0));
        let of = |response: fn((&Record, &Record)) -> Seconds| {
            let responses = window().filter(|(job, _)| here(job)).map(|(_, records)| response(records).0 as f64);
            crate::metrics::Distribution::of(responses).mean
        };
        WorkClass {
            at_least_processor_hours: at_least,
            jobs: window().filter(|(job, _)| here(job)).count(),
            baseline_response_s: of(|(baseline, _)| baseline.response()),
            response_s: of(|(_, changed)| changed.response()),
        }
    };
    WORK_CLASSES.into_iter().enumerate().map(|(place, at_least)| class(place, at_least)).collect()
}

/// A replay with a policy.
struct WithPolicy {
    records: Vec<Record>,
    changed: Changed,
    /// By job.
    is_changed: Vec<bool>,
    agreement: Option<Agreement>,
}

fn with_policy(
    scheduler: &mut Scheduler,
    jobs: &[Job],
    machine: &Machine,
    first: usize,
    options: &Options,
    progress: &dyn Fn(usize, usize),
) -> Result<WithPolicy, ExperimentError> {
    let mut shown = Shown::new(experiment_policy(jobs, machine.processors, first, options), jobs.len(), progress);
    let records = simulate(jobs, machine, scheduler, &mut shown)?;
    let policy = shown.policy();
    let held = records.iter().map(|record| record.eligible > record.submit);
    let is_changed = policy.is_molded().iter().zip(held).map(|(molded, held)| *molded || held).collect();
    let (changed, agreement) = (policy.changed(), policy.decider().agreement());
    Ok(WithPolicy { records, changed, is_changed, agreement })
}

/// When the first of those that never run leaves the simulation: long after all that does run.
const NEVER: UnixTime = UnixTime(1 << 40);

/// A stream of a seed: what one thing draws does not move the others.
fn stream(seed: u64, number: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(number);
    random
}

/// The jobs, each submitted up to `most` later, in the order in which they then are.
fn jittered(jobs: &[Job], most: Seconds, seed: u64) -> Cow<'_, [Job]> {
    if most <= Seconds::ZERO {
        return Cow::Borrowed(jobs);
    }
    let mut random = stream(seed, 3);
    let later = |job: &Job| Job { submit: job.submit + Seconds(random.random_range(0..=most.0)), ..*job };
    let mut jobs: Vec<Job> = jobs.iter().map(later).collect();
    jobs.sort_by_key(|job| job.submit);
    Cow::Owned(jobs)
}

/// Returns whether the user of each job uses what is offered, drawn job by job.
fn adopters(jobs: usize, part: f64, seed: u64) -> Vec<bool> {
    let mut random = stream(seed, 1);
    (0..jobs).map(|_| random.random::<f64>() < part).collect()
}

/// The policy of `options` in front of a machine of so many processors, which may change the jobs
/// from place `first` on (from 0); `from` and `to` of the options do not count.
#[must_use]
pub fn experiment_policy(jobs: &[Job], processors: u32, first: usize, options: &Options) -> ExperimentPolicy<Box<dyn Decider>> {
    // In a log without time limits the estimates are the run times.
    let has_limits = jobs.iter().any(|job| job.estimate != job.run_time);
    let longest = jobs.iter().map(|job| job.estimate).max().unwrap_or(Seconds(1));
    let stream = |number: u64| stream(options.seed, number);
    let adopts = adopters(jobs.len(), options.adoption, options.seed);
    let molded_run_times = match options.protocol {
        Protocol::Paper => MoldedRunTimes::OwnRuns(Box::new(OwnRuns::new(stream(2)))),
        Protocol::WorkConserving => MoldedRunTimes::Computation(speed_ups(jobs, options.speed_up, options.seed)),
    };
    let paper = || PaperMolding::new(processors, first as u32, longest, options.seed);
    let decider: Box<dyn Decider> = match options.method {
        Method::PaperMolding => Box::new(paper()),
        Method::PaperDeferral(hold, counted) => Box::new(Deferral::new(paper(), hold, counted, jobs.len())),
        Method::Default(wishes) => {
            // Without time limits there is no limit that a job could reach.
            let longest_limit = has_limits.then_some(longest);
            let site = Site { processors, longest_limit, refresh: options.refresh };
            Box::new(Shipped::new(jobs, &site, wishes, options.parts, options.seed))
        }
    };
    let window = first as JobIndex..jobs.len() as JobIndex;
    ExperimentPolicy::new(decider, molded_run_times, window, adopts, (!has_limits).then_some(longest))
}
