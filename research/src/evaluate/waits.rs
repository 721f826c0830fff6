//! `queuecast evaluate waits`: forecasts of waits (Hariharan et al. 2020, table V and figure 5).

mod forecasts;
mod picture;
#[cfg(test)]
mod sample;
mod text;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use command_parts::failure::Failure;
use command_parts::plot;
use simulator::evaluation::{WaitOptions, WaitReport, evaluate_waits};

use super::LogReport;
use super::published::WaitFigures;
use super::run::RunArguments;
use super::tables::{ForecastReport, Jobs};

/// Forecast the waits of a log's jobs again, by each method, and show how far off each was.
///
/// The published methods are QBETS, IBL (Li et al.) and APQ (Hariharan et al. 2020); predicting 0
/// and k nearest neighbours show what little effort gets; queuecast is the default of the daemon.
/// It is a whole distribution: its point is held against the others, and its probabilities against
/// what happened. In force is what the daemon would have given: the default, or QBETS in a
/// partition and time in which that was better.
///
/// Exit status: 0 if there is an answer; 2 for wrong usage, or a log that can't be read or lacks
/// what is asked for.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    run: RunArguments,

    /// The last job to forecast; the log's last where that has fewer.
    #[arg(long, value_name = "N", default_value = "60000")]
    to: NonZeroUsize,

    /// Also write what was forecast for each job, and what happened, into this file:
    /// comma-separated values, a line for each job.
    #[arg(long, value_name = "FILE")]
    write_forecasts: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  queuecast evaluate waits SDSC-SP2-1998-4.2-cln.swf.gz
      the published test part, jobs 20,001 to 60,000
  queuecast evaluate waits KTH-SP2-1996-2.1-cln.swf.gz --from 10001 --to 12000
      a part of the log, in less time
  queuecast evaluate waits SDSC-SP2-1998-4.2-cln.swf.gz --plot sp2.svg
      with a reliability diagram, and errors by class of wait
  queuecast evaluate waits *.swf.gz
      one table over several logs
  queuecast evaluate waits SDSC-SP2-1998-4.2-cln.swf.gz --write-forecasts sp2.csv
      with each job's forecast and wait, to check any figure by other means
  queuecast evaluate waits LOG --format json | jq '.aae_hours.best'

How the figures are to be read:
  mean absolute error    of the point forecast; the interval holds it with 95 % (bootstrap over blocks of
                         consecutive jobs), because a few hundred very long waits carry most of it
  scaled                 mean of the absolute error over the job's response time
  within a factor of 2   waits and forecasts of less than a minute count as a minute
  coverage               the part of the jobs with bounds whose wait was at most the forecast quantile; where many waits
                         are 0, a random part of those that equal the quantile is counted (randomised
                         probability integral transform)
  pinball loss           the mean over the quantiles 0.05 to 0.95 and the jobs with bounds: how good the
                         distribution is as a whole
  in force               the forecast that the daemon's rule takes, partition by partition: the default's, or
                         QBETS's (its point is the median of the class's waits); jobs for which nothing was in
                         force are left out
  without bounds         jobs for which too little was known for bounds; they are in no coverage and no loss

Columns of --write-forecasts (times in seconds; empty where there is no forecast):
  log, job           the log, and the job's number among those that ran, as --from counts them
  submit             Unix time (or since the log's begin, where its header does not say when that was)
  queue, processors, limit_s
                     as the log has them; queue/partition where it has both
  point_s, q50_s, q75_s, q90_s, q95_s
                     the default's point forecast, and its bounds on these quantiles
  wait_s, pit        how long the job waited, and the randomised probability integral transform of that
  in_force           whose forecast the daemon would have given: blended (the default), qbets or none
  in_force_point_s   the point forecast that it would have given
  qbets_q50_s, qbets_q75_s, qbets_q90_s, qbets_q95_s
                     QBETS's bounds on the quantiles

Keys of --format json (one object for one LOG; for several {\"logs\": [...]}):
  log, file, jobs, processors
                     the log; jobs are those that ran
  remarks            what was left out of the log, or taken as not known: list of records (how many; null
                     where it is about the log as a whole) and what
  from, to, test_jobs
                     which jobs were forecast, and how many
  aae_hours          mean absolute error by method: zero, knn, qbets, ibl, apq, best (the default),
                     the members that the default weighs, and in_force (what the daemon would have given)
  aae_interval_hours its 95 % interval by method: lower and upper
  scaled_aae, median_ae_hours_by_method, within_factor_2_by_method
                     by method
  median_ae_hours, within_factor_2
                     of the default
  jobs_without_bounds
                     jobs that best, qbets and in_force had no bounds for; no coverage, reliability or loss has them
  coverage           of the default, by nominal probability (\"0.5\", \"0.75\", \"0.9\", \"0.95\"); no keys
                     where no job had bounds
  in_force_coverage  the same of the bounds that were in force
  block_coverage     the default's in each block of 4,000 jobs
  reliability        list of nominal and observed probability
  qbets_coverage     part of the jobs that waited at most QBETS's bound on the quantile
  by_queue, by_size  lists with aae_hours, median_ae_hours_by_method, coverage, in_force_coverage,
                     qbets_coverage and in_force
                     of the jobs of each queue (queue) and class of size (at_least_processors,
                     at_most_processors; null: no end), how many these are (jobs), and how many of them
                     had no bounds of the default (jobs_without_bounds)
  in_force           part of the jobs whose forecast the daemon would have taken from blended (the
                     default), qbets, or none
  pinball_hours      of best, qbets and in_force
  by_wait            list of at_least_s, below_s (null: the last), jobs, aae_hours by method (figure 5)
  member_weights     mean weight of each member of the default
  prediction_us      p50 and p99 of the time that one forecast takes, in microseconds
  published          aae_hours and scaled_aae by method, source, remark; null for a log that
                     Hariharan et al. 2020 do not have
  notes              what was left out, and other remarks";

/// What was found on one log.
type WaitsOfLog = LogReport<WaitReport, WaitFigures>;

impl ForecastReport for WaitReport {
    fn jobs(&self) -> Jobs {
        Jobs { from: self.from, to: self.to, test_jobs: self.test_jobs }
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    plot::check_folder(arguments.write_forecasts.as_deref()).map_err(Failure::Input)?;
    let found = arguments.run.run(Some(arguments.to), |task| {
        let options = WaitOptions { from: task.from, to: task.to.unwrap_or(usize::MAX), seed: task.seed, ..WaitOptions::default() };
        evaluate_waits(&task.log.workload, &options, &|done, all| task.progress(done, all))
    })?;
    let found: Vec<WaitsOfLog> = found.into_iter().map(LogReport::from).collect();
    if let Some(path) = &arguments.write_forecasts {
        forecasts::write(path, &found).map_err(Failure::Input)?;
    }
    arguments.run.common.report(found, picture::draw, |reports| reports.text(text::one, text::several))
}
