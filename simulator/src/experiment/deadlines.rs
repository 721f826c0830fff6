//! Admission by probability held against workload logs: each job has a deadline, and is admitted
//! with it or refused when it is submitted, by the decision that ships.
//!
//! The queue is in the order of the deadlines, as the daemon has it on a cluster. A job that is
//! refused never comes into it. One that still waits when its deadline has come is taken back, as
//! Slurm does with jobs that have a deadline; one that runs then runs on. Without admission every
//! job comes into the queue, and what is taken back is the same.

mod calibration;

use std::collections::HashMap;

use job_types::job::Ending;
use job_types::promise::PromiseState;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::{Admitted, NotAdmitted};

use self::calibration::Forecasted;
pub use self::calibration::{Calibration, CalibrationGroup, Held};
use super::deadline_state::deadline_state;
use super::parts::{AdmissionRule, Site};
use super::progress::Shown;
use super::{ExperimentError, ExperimentPolicy, MoldedRunTimes, NEVER, Shipped, SpeedUpModel, speed_ups};
use crate::engine::backfill::{Easy, Slurm, SlurmParameters};
use crate::engine::estimates::Requested;
use crate::engine::policy::AsSubmitted;
use crate::engine::{Backfill, Job, JobIndex, Machine, Order, Policy, Record, Scheduler, Simulation};

/// The scheduler that starts the jobs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AdmissionBackfill {
    /// EASY.
    #[default]
    Easy,
    /// Slurm's two schedulers, with the parameters that it has where the site sets none.
    Slurm,
}

/// What is replayed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdmissionOptions {
    /// The probability with which a deadline is to be kept; `None` admits every job.
    pub wanted: Option<f64>,
    /// The scheduler that starts the jobs.
    pub backfill: AdmissionBackfill,
    /// Whether users take another size where that is offered in the place of a refusal.
    pub molding: bool,
    /// Whether jobs that would be refused run as others do, so that what was forecast for them is
    /// held against what happens.
    pub in_shadow: bool,
    /// First job that counts, from 1; those before it are admitted or refused as well, and are the
    /// history.
    pub from: usize,
    /// How old the state gets that decisions are made from.
    pub refresh: Seconds,
    /// Seed of all that is random.
    pub seed: u64,
}

impl Default for AdmissionOptions {
    /// A probability of 0.9 under EASY, with all jobs.
    fn default() -> Self {
        Self {
            wanted: Some(0.9),
            backfill: AdmissionBackfill::Easy,
            molding: false,
            in_shadow: false,
            from: 1,
            refresh: Seconds(30),
            seed: 1,
        }
    }
}

/// What became of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// The job was refused.
    Refused,
    /// The job was admitted, and done in time.
    Kept,
    /// The job was admitted, and late or taken back.
    Missed,
    /// The job was admitted and ended otherwise before its deadline, as the log says: it counts for
    /// nobody.
    Withdrawn,
}

/// What a replay came to.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AdmissionOutcome {
    /// Jobs that count.
    pub submitted: usize,
    /// Those of them that come to their own end by the log: failed and cancelled jobs are never
    /// done.
    pub completing: usize,
    /// Jobs that were admitted.
    pub accepted: usize,
    /// Jobs that were done by their deadlines.
    pub fulfilled: usize,
    /// The percentage of the jobs that come to their own end which were done by their deadlines.
    pub fulfilled_percent: f64,
    /// The standard error of that percentage, by batches of jobs in a row, because neighbours
    /// depend on each other.
    pub fulfilled_standard_error: f64,
    /// Jobs that were admitted and not done in time.
    pub late: usize,
    /// Jobs that were admitted, and ended otherwise before their deadlines.
    pub withdrawn: usize,
    /// The part of the deadlines of admitted jobs that was kept, of those that were kept or missed;
    /// `None` if none was.
    pub kept: Option<f64>,
    /// The standard error of that part, by the same batches.
    pub kept_standard_error: f64,
    /// The mean of response over run time of the jobs that were done in time; `None` if there are
    /// none.
    pub mean_slowdown: Option<f64>,
    /// Jobs that were admitted at another size.
    pub molded: usize,
    /// The processor time of the admitted jobs, over that of the submitted ones.
    pub admitted_work: f64,
    /// What was forecast held against what happened, where refused jobs ran in shadow.
    pub calibration: Option<Calibration>,
    /// What became of each job.
    #[serde(skip)]
    pub fates: Vec<Admission>,
}

/// The probability that was forecast for a job, and whether it was refused for that.
type Forecast = (f64, bool);

/// How many batches standard errors are taken from.
const BATCHES: usize = 20;

/// The order of the deadlines.
struct ByDeadline(HashMap<u32, UnixTime>);

impl Order for ByDeadline {
    fn key(&mut self, job: &Job, _expected: Seconds, _now: UnixTime) -> i64 {
        self.0.get(&job.number).map_or(i64::MAX, |deadline| deadline.0)
    }
}

/// Replays `jobs`, of which each has the deadline at its place in `deadlines`. `progress` is told
/// how many of the jobs have been submitted, of how many.
///
/// # Errors
///
/// [`ExperimentError`] where the jobs that count lie behind the last, or a job is larger than the
/// machine.
pub fn admissions(
    jobs: &[Job],
    deadlines: &[UnixTime],
    processors: u32,
    options: &AdmissionOptions,
    progress: &dyn Fn(usize, usize),
) -> Result<AdmissionOutcome, ExperimentError> {
    let first = options.from.saturating_sub(1);
    if first >= jobs.len() {
        return Err(ExperimentError::TooFewJobs { found: jobs.len(), wanted: options.from });
    }
    // Numbers are what the engine knows a job by in its order, and a log may have one twice.
    let jobs: Vec<Job> = (0..).zip(jobs).map(|(number, job)| Job { number, ..*job }).collect();
    let by_number = (0..).zip(deadlines.iter().copied()).collect();
    let backfill: Box<dyn Backfill> = match options.backfill {
        AdmissionBackfill::Easy => Box::new(Easy::default()),
        AdmissionBackfill::Slurm => Box::new(Slurm::new(SlurmParameters::default())),
    };
    let scheduler = Scheduler { order: Box::new(ByDeadline(by_number)), backfill, estimates: Box::new(Requested) };
    let machine = Machine::new(processors);
    let mut forecasts: Vec<Option<Forecast>> = Vec::new();
    let (records, is_admitted, endings): (Vec<Record>, Vec<bool>, Vec<Ending>) = match options.wanted {
        None => {
            let mut policy = Shown::new(AsSubmitted, jobs.len(), progress);
            let records = replay(&jobs, deadlines, &machine, scheduler, &mut policy)?;
            (records, vec![true; jobs.len()], jobs.iter().map(|job| job.ending).collect())
        }
        Some(wanted) => {
            let site = Site { processors, longest_limit: jobs.iter().map(|job| job.estimate).max(), refresh: options.refresh };
            let rule = AdmissionRule { wanted, molding: options.molding, in_shadow: options.in_shadow };
            let shipped = Shipped::admitting(&jobs, &site, deadlines.to_vec(), rule, options.seed);
            let run_times = MoldedRunTimes::Computation(speed_ups(&jobs, SpeedUpModel::default(), options.seed));
            let all = 0..jobs.len() as JobIndex;
            let policy = ExperimentPolicy::new(shipped, run_times, all, vec![true; jobs.len()], None);
            let mut policy = Shown::new(policy, jobs.len(), progress);
            let records = replay(&jobs, deadlines, &machine, scheduler, &mut policy)?;
            let answers = policy.policy().decider().admissions();
            let each = || 0..jobs.len() as JobIndex;
            if options.in_shadow {
                forecasts = each().map(|job| answers.get(&job).and_then(forecast)).collect();
            }
            // What could not be decided about yet went on as it was written, without a promise.
            let is_admitted = |job: JobIndex| match answers.get(&job) {
                Some(Ok(_)) => true,
                Some(Err(NotAdmitted::Unlikely { .. })) => options.in_shadow,
                _ => false,
            };
            let is_admitted = each().map(is_admitted).collect();
            let endings = (0..).zip(&jobs).map(|(index, job)| policy.policy().ending(index, job)).collect();
            (records, is_admitted, endings)
        }
    };
    let fate = |((record, ending), (deadline, is_admitted)): ((&Record, &Ending), (&UnixTime, &bool))| {
        // A job that never started has neither start nor end.
        let end = (record.start >= record.submit).then_some(record.end);
        match deadline_state(*deadline, end, *ending) {
            _ if !is_admitted => Admission::Refused,
            PromiseState::Kept => Admission::Kept,
            PromiseState::Withdrawn => Admission::Withdrawn,
            PromiseState::Missed | PromiseState::Open => Admission::Missed,
        }
    };
    let of_jobs = records.iter().zip(&endings).zip(deadlines.iter().zip(&is_admitted));
    let fates: Vec<Admission> = of_jobs.map(fate).skip(first).collect();
    let mut outcome = AdmissionOutcome::of(fates, &jobs[first..], &records[first..]);
    if options.in_shadow {
        let of_jobs = forecasts.iter().zip(&jobs).skip(first).zip(&outcome.fates);
        let forecasted = |((forecast, job), fate): ((&Option<Forecast>, &Job), &Admission)| {
            let (probability, is_refused) = (*forecast)?;
            let is_kept = match fate {
                Admission::Kept => true,
                Admission::Missed => false,
                Admission::Refused | Admission::Withdrawn => return None,
            };
            Some(Forecasted { probability, is_refused, is_kept, queue: job.queue, processors: job.processors })
        };
        let held: Vec<Forecasted> = of_jobs.filter_map(forecasted).collect();
        outcome.calibration = Some(Calibration::of(&held));
    }
    Ok(outcome)
}

/// The probability that a rule forecast for a job, and whether it refuses the job for it.
fn forecast(answer: &Result<Admitted, NotAdmitted>) -> Option<Forecast> {
    match answer {
        Ok(admitted) => Some((admitted.probability?, false)),
        Err(NotAdmitted::Unlikely { probability, .. }) => Some((*probability, true)),
        Err(_) => None,
    }
}

/// Goes through a replay in which jobs that still wait at their deadlines are taken back.
fn replay<P: Policy>(
    jobs: &[Job],
    deadlines: &[UnixTime],
    machine: &Machine,
    mut scheduler: Scheduler,
    policy: &mut P,
) -> Result<Vec<Record>, ExperimentError> {
    let mut simulation = Simulation::new(jobs, machine, &mut scheduler, policy);
    let mut to_come: Vec<(UnixTime, JobIndex)> = deadlines.iter().copied().zip(0..).collect();
    to_come.sort_unstable();
    let mut to_come = to_come.into_iter().peekable();
    while let Some(next) = simulation.next_moment().filter(|next| *next < NEVER) {
        match to_come.next_if(|(deadline, _)| *deadline < next) {
            // Taking back a job that has started or was never in the queue has no effect.
            Some((deadline, job)) => {
                simulation.withdraw(job, deadline);
            }
            None => {
                simulation.step()?;
            }
        }
    }
    Ok(simulation.into_records())
}

impl AdmissionOutcome {
    fn of(fates: Vec<Admission>, jobs: &[Job], records: &[Record]) -> Self {
        let count = |wanted: Admission| fates.iter().filter(|fate| **fate == wanted).count();
        let (submitted, fulfilled, late) = (fates.len(), count(Admission::Kept), count(Admission::Missed));
        let withdrawn = count(Admission::Withdrawn);
        let accepted = fulfilled + late + withdrawn;
        let completes: Vec<bool> = jobs.iter().map(|job| job.ending == Ending::Completed).collect();
        let completing = completes.iter().filter(|completes| **completes).count();
        let of_those = |wanted: fn(Admission) -> bool| records.iter().zip(jobs).zip(&fates).filter(move |(_, fate)| wanted(**fate));
        let kept = || of_those(|fate| fate == Admission::Kept);
        let slowdowns: f64 = kept().map(|((record, _), _)| record.response().0 as f64 / record.run_time().0.max(1) as f64).sum();
        let work = |(_, job): (&Record, &Job)| job.work_processor_seconds();
        let admitted_work: f64 = of_those(|fate| fate != Admission::Refused).map(|(pair, _)| work(pair)).sum();
        let all_work: f64 = of_those(|_| true).map(|(pair, _)| work(pair)).sum();
        let molded = of_those(|fate| fate != Admission::Refused).filter(|((record, job), _)| record.processors != job.processors).count();
        let batch = submitted.div_ceil(BATCHES).max(1);
        let of_batch = |wanted: fn(Admission) -> bool| move |batch: &[Admission]| batch.iter().filter(|fate| wanted(**fate)).count() as f64;
        let batches_kept = || fates.chunks(batch).map(of_batch(|fate| fate == Admission::Kept));
        let batches_decided = fates.chunks(batch).map(of_batch(|fate| matches!(fate, Admission::Kept | Admission::Missed)));
        let batches_completing = completes.chunks(batch).map(|batch| batch.iter().filter(|completes| **completes).count() as f64);
        Self {
            submitted,
            completing,
            accepted,
            fulfilled,
            fulfilled_percent: 100.0 * fulfilled as f64 / completing.max(1) as f64,
            fulfilled_standard_error: 100.0 * ratio_error(batches_kept().zip(batches_completing)),
            late,
            withdrawn,
            kept: (fulfilled + late > 0).then(|| fulfilled as f64 / (fulfilled + late) as f64),
            kept_standard_error: ratio_error(batches_kept().zip(batches_decided)),
            mean_slowdown: (fulfilled > 0).then(|| slowdowns / fulfilled as f64),
            molded,
            admitted_work: if all_work > 0.0 { admitted_work / all_work } else { 0.0 },
            calibration: None,
            fates,
        }
    }

    /// How many of the refused jobs were done in time where nobody was refused.
    #[must_use]
    pub fn refused_in_time(&self, without_admission: &AdmissionOutcome) -> usize {
        let pairs = self.fates.iter().zip(&without_admission.fates);
        pairs.filter(|(fate, shadow)| **fate == Admission::Refused && **shadow == Admission::Kept).count()
    }
}

/// The standard error of the sum of the first over that of the second, from batches (the estimator
/// of a ratio: Cochran, Sampling Techniques, 1977, 6.3).
pub(crate) fn ratio_error(batches: impl Iterator<Item = (f64, f64)>) -> f64 {
    let batches: Vec<(f64, f64)> = batches.collect();
    let (count, of) = (batches.len() as f64, batches.iter().map(|batch| batch.1).sum::<f64>());
    if batches.len() < 2 || of == 0.0 {
        return 0.0;
    }
    let ratio = batches.iter().map(|batch| batch.0).sum::<f64>() / of;
    let squares: f64 = batches.iter().map(|(part, all)| (part - ratio * all).powi(2)).sum();
    (squares * count / (count - 1.0)).sqrt() / of
}

#[cfg(test)]
mod tests {
    use super::super::tests::so_many_jobs;
    use super::*;

    /// Each job has to be done within so many times its run time.
    fn outcome(times: i64, options: &AdmissionOptions) -> AdmissionOutcome {
        let jobs = so_many_jobs(1_500);
        let deadlines: Vec<UnixTime> = jobs.iter().map(|job| job.submit + Seconds(job.run_time.0 * times)).collect();
        admissions(&jobs, &deadlines, 64, options, &|_, _| {}).unwrap()
    }

    #[test]
    fn what_is_admitted_is_kept_with_the_probability_that_is_wanted_and_the_rest_is_refused() {
        for backfill in [AdmissionBackfill::Easy, AdmissionBackfill::Slurm] {
            let options = AdmissionOptions { backfill, from: 501, ..AdmissionOptions::default() };
            let found = outcome(8, &options);
            assert_eq!((found.submitted, found.fulfilled + found.late + found.withdrawn), (1_000, found.accepted));
            assert!((100..1_000).contains(&found.accepted), "{found:?}");
            assert!(found.kept.unwrap() + 2.0 * found.kept_standard_error >= 0.9, "{found:?}");
            let all = outcome(8, &AdmissionOptions { wanted: None, ..options });
            assert_eq!((all.accepted, all.admitted_work), (1_000, 1.0));
            assert!(found.refused_in_time(&all) <= 1_000 - found.accepted && all.refused_in_time(&all) == 0);
        }
    }

    #[test]
    fn in_shadow_refused_jobs_run_and_are_held_against_what_was_forecast_for_them() {
        let options = AdmissionOptions { from: 501, ..AdmissionOptions::default() };
        let found = outcome(8, &AdmissionOptions { in_shadow: true, ..options });
        let held = found.calibration.as_ref().unwrap().all.clone();
        assert_eq!((found.accepted, held.admitted.jobs + held.refused.jobs), (1_000, found.fulfilled + found.late));
        assert!(held.refused.jobs > 0 && held.refused.forecast < held.admitted.forecast, "{held:?}");
        assert!(outcome(8, &options).calibration.is_none());
    }

    #[test]
    fn a_deadline_that_has_passed_at_the_submission_is_refused() {
        let impossible = outcome(0, &AdmissionOptions::default());
        assert_eq!((impossible.accepted, impossible.fulfilled, impossible.kept), (0, 0, None));
    }

    #[test]
    fn the_same_replay_twice_is_the_same() {
        assert_eq!(outcome(8, &AdmissionOptions::default()), outcome(8, &AdmissionOptions::default()));
    }

    #[test]
    fn the_error_of_a_ratio_is_that_of_its_batches() {
        // Parts of 0.4 and 0.6 of ten each: the deviation of the mean of two.
        assert!((ratio_error([(4.0, 10.0), (6.0, 10.0)].into_iter()) - 0.1).abs() < 1e-12);
        assert_eq!(ratio_error([(5.0, 10.0); 4].into_iter()), 0.0);
    }
}
