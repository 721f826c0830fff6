//! Whether it would pay on the cluster that a past is from: who waited how long there, how well
//! waits and run times would have been forecast, what molding would have done to those who use it
//! and to those who don't, and what other settings of the scheduler would have done.
//!
//! Nothing here is a model of its own: forecasts are those of [`evaluation`](crate::evaluation),
//! molding is replayed by [`experiment`](crate::experiment) and schedulers by
//! [`engine`](crate::engine), so that what ships is what is measured. What is its own is the choice
//! of the jobs (the latest ones, so that a past of any length is assessed in bounded time), the
//! [verdict](verdict), and the list of what can't be said from the data at hand
//! ([`limitations`]).

mod forecasts;
pub mod limitations;
mod molding;
mod names;
mod past;
mod replayed;
mod schedulers;
pub mod verdict;

#[cfg(test)]
mod tests;

use serde::Serialize;

pub use self::forecasts::{Forecasts, RunTimeForecasts};
pub use self::limitations::NotSaid;
pub use self::molding::{Adoption, Molded, Molding, Under};
use self::names::QueueNames;
pub use self::past::{Past, WaitClass};
pub(crate) use self::replayed::ReplayedPast;
pub use self::schedulers::{Known, Schedule, Schedulers, SiteScheduler};
pub use self::verdict::Verdict;
use crate::evaluation;
use crate::swf::Log;

/// How a past is assessed.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What is known of the site's own scheduler.
    pub scheduler: SiteScheduler,
    /// How much of the past is used.
    pub most: Most,
    /// Seed of all that is random.
    pub seed: u64,
}

/// How many of the latest jobs each part looks at. The time that an assessment takes is bounded by
/// these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Most {
    /// Jobs for forecasts; the first third of them is history that is only learnt from.
    pub forecast_jobs: usize,
    /// Jobs for molding; the first third of them is not changed.
    pub molding_jobs: usize,
    /// Jobs for schedulers; the first tenth of them fills the machine and is not counted.
    pub scheduled_jobs: usize,
}

impl Default for Most {
    fn default() -> Self {
        Self { forecast_jobs: 60_000, molding_jobs: 30_000, scheduled_jobs: 60_000 }
    }
}

/// A part of an assessment that takes time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Forecasts of waits.
    Waits,
    /// Forecasts of run times.
    RunTimes,
    /// Replays with molding.
    Molding,
    /// Replays under schedulers.
    Schedulers,
}

impl Stage {
    /// All of them, in the order of [`Stage::place`].
    pub const ALL: [Stage; 4] = [Stage::Waits, Stage::RunTimes, Stage::Molding, Stage::Schedulers];

    /// Returns the place of this stage among all stages.
    #[must_use]
    pub fn place(self) -> usize {
        self as usize
    }
}

/// Is told how much of a stage is done, of how much.
pub type Progress<'a> = &'a (dyn Fn(Stage, usize, usize) + Sync);

/// What one past says of the cluster that it is from.
#[derive(Debug, Clone, Serialize)]
pub struct Assessment {
    /// Whether queuecast would pay at this site, and by which figures.
    pub verdict: Verdict,
    /// What was read, and how long which jobs waited.
    pub past: Past,
    /// How well waits and run times would have been forecast; `None` where there are too few jobs,
    /// or too few whose waits are known.
    pub forecasts: Option<Forecasts>,
    /// How well run times alone would have been forecast, where the past does not say how long jobs
    /// waited; each as if every job had started when it was submitted.
    pub run_times: Option<RunTimeForecasts>,
    /// What molding would have done; `None` where there are too few jobs.
    pub molding: Option<Molding>,
    /// What other schedulers and settings would have done; `None` where there are too few jobs.
    pub schedulers: Option<Schedulers>,
    /// What can't be said from this past.
    pub not_said: Vec<NotSaid>,
}

/// Why a past can't be assessed at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AssessmentError {
    /// No job of which a forecast could be made, and too few to be replayed.
    #[error(
        "none of the {} jobs of this past says all of: when it was submitted, how long it waited and ran, how large it was, and whose it is",
        job_types::text::count(*records)
    )]
    NoJobs {
        /// The jobs that were read.
        records: usize,
    },
    /// Forecasts can't be made.
    #[error(transparent)]
    Forecasts(#[from] evaluation::EvaluationError),
    /// Replays can't be made.
    #[error(transparent)]
    Replays(#[from] crate::engine::DoesNotFit),
    /// Replays with molding can't be made.
    #[error(transparent)]
    Molding(#[from] crate::experiment::ExperimentError),
}

/// Fewer jobs than this are described, and neither forecast nor replayed.
pub const FEWEST_JOBS: usize = 60;

/// Assesses a past. The same past, options and seed give the same assessment, whatever the number
/// of threads.
///
/// # Errors
///
/// [`AssessmentError`] where no job of it can be used.
pub fn assess(log: &Log, options: &Options, progress: Progress<'_>) -> Result<Assessment, AssessmentError> {
    let mut workload = evaluation::read(log);
    let names = QueueNames::from(&log.header);
    let mut replayed = ReplayedPast::of(log, workload.processors);
    let mut says_waits = true;
    if workload.jobs.len() < FEWEST_JOBS {
        let at_once = evaluation::read(&started_at_once(log));
        let replayed_at_once = ReplayedPast::of(log, at_once.processors);
        if at_once.jobs.len() >= FEWEST_JOBS && replayed_at_once.jobs.len() >= FEWEST_JOBS {
            (workload, replayed, says_waits) = (at_once, replayed_at_once, false);
        }
    }
    if workload.jobs.is_empty() {
        return Err(AssessmentError::NoJobs { records: log.records.len() });
    }
    let past = Past::of(log, &workload, &names, &replayed, says_waits);
    if workload.jobs.len() < FEWEST_JOBS || replayed.jobs.len() < FEWEST_JOBS {
        let not_said = limitations::of(log, &past, None, None, &options.scheduler);
        let verdict = Verdict::of(&past, None, None, None);
        return Ok(Assessment { verdict, past, forecasts: None, run_times: None, molding: None, schedulers: None, not_said });
    }
    let ((forecasts, run_times), (molding, schedulers)) = rayon::join(
        || match says_waits {
            true => (Some(forecasts::forecasts(&workload, &names, options, progress)), None),
            false => (None, Some(forecasts::run_times(&workload, &names, options, progress))),
        },
        || rayon::join(|| molding::molding(&replayed, options, progress), || schedulers::schedulers(&replayed, options, progress)),
    );
    let (forecasts, run_times) = (forecasts.transpose()?, run_times.transpose()?);
    let (molding, schedulers) = (molding?, schedulers?);
    let not_said = limitations::of(log, &past, forecasts.as_ref(), Some(&schedulers), &options.scheduler);
    let verdict = Verdict::of(&past, forecasts.as_ref(), Some(&molding), Some(&schedulers));
    Ok(Assessment { verdict, past, forecasts, run_times, molding: Some(molding), schedulers: Some(schedulers), not_said })
}

/// The log as if each job whose wait is not known had started when it was submitted.
fn started_at_once(log: &Log) -> Log {
    let mut log = log.clone();
    for record in log.records.iter_mut().filter(|record| record.run_time_seconds.is_some()) {
        record.wait_time_seconds.get_or_insert(0);
    }
    log
}
