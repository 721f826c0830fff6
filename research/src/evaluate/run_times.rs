//! `queuecast evaluate runtimes`: forecasts of run times (Hariharan et al. 2020, tables VI and
//! VII).

mod picture;
#[cfg(test)]
mod sample;
mod text;

use std::num::NonZeroUsize;

use clap::Args;
use command_parts::failure::Failure;
use simulator::evaluation::{RunTimeOptions, RunTimeReport, evaluate_run_times};

use super::LogReport;
use super::published::RunTimeFigures;
use super::run::RunArguments;
use super::tables::{ForecastReport, Jobs};

/// Forecast the run times of a log's jobs again, by each method, and show how far off each was.
///
/// The published methods are the baseline (shortest to longest run time of like jobs), those of
/// Smith et al. and Li et al., and rangeSets (Hariharan et al. 2020); the mean of the user's last
/// two and the requested time show what little effort gets; queuecast is the default. A method is
/// good whose ranges hold the run time often (success rate) and are short (coverage).
///
/// Exit status: 0 if there is an answer; 2 for wrong usage, or a log that can't be read or lacks
/// what is asked for.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    run: RunArguments,

    /// The last job to forecast [default: the log's last].
    #[arg(long, value_name = "N")]
    to: Option<NonZeroUsize>,
}

const EXAMPLES: &str = "\
Examples:
  queuecast evaluate runtimes SDSC-SP2-1998-4.2-cln.swf.gz
      the published test part, all jobs from the 20,001st on
  queuecast evaluate runtimes KTH-SP2-1996-2.1-cln.swf.gz --from 10001 --to 12000
      a part of the log, in less time
  queuecast evaluate runtimes SDSC-SP2-1998-4.2-cln.swf.gz --plot sp2.svg
      with a reliability diagram, and errors by class of run time
  queuecast evaluate runtimes *.swf.gz
      one table over several logs
  queuecast evaluate runtimes LOG --format json | jq '.success_rate.best'

How the figures are to be read:
  success rate           the part of the jobs whose run time lies in the forecast's ranges; a job that ran
                         into its limit succeeds as well where the limit lies in them
  coverage               length of the forecast's ranges in percent of the baseline's
  mean absolute error    of the point forecast; a job of which a method knows nothing counts with its limit

Keys of --format json (one object for one LOG; for several {\"logs\": [...]}); \"by method\" is by baseline,
range_sets, smith, li, last_two, requested and best (the default):
  log, file, jobs, processors
                     the log; jobs are those that ran
  remarks            what was left out of the log, or taken as not known: list of records (how many; null
                     where it is about the log as a whole) and what
  from, to, test_jobs
                     which jobs were forecast, and how many
  success_rate       by method, 0 to 1
  coverage_percent   by method, 100 for the baseline
  aae_minutes        mean absolute error by method
  pit_coverage       part of the jobs that ran at most the quantile of the default's distribution, by
                     nominal probability (\"0.5\", \"0.75\", \"0.9\", \"0.95\"); randomised where many run times
                     equal it
  block_pit_coverage the same in each block of 4,000 jobs
  reliability        list of nominal and observed probability
  success_rate_beyond_limit, coverage_with_new_percent, median_coverage_percent, with_range
                     by method: success without the rule for limits; coverage where jobs without a like
                     one count; its median over the jobs; part of the jobs that got a range
  median_ae_minutes  median absolute error by method
  by_queue, by_size  lists with jobs, aae_minutes, median_ae_minutes and pit_coverage of the jobs of each
                     queue (queue) and class of size (at_least_processors, at_most_processors; null: no end)
  by_run_time        list of from_s, below_s (null: the last), jobs, aae_minutes by method
  published          success_rate (0 to 1), coverage_percent and aae_minutes by method, source, remark;
                     null for a log that Hariharan et al. do not have
  notes              what was left out, what was chosen on the validation part, and other remarks";

/// What was found on one log.
type RunTimesOfLog = LogReport<RunTimeReport, RunTimeFigures>;

impl ForecastReport for RunTimeReport {
    fn jobs(&self) -> Jobs {
        Jobs { from: self.from, to: self.to, test_jobs: self.test_jobs }
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let found = arguments.run.run(arguments.to, |task| {
        let options = RunTimeOptions { from: task.from, to: task.to.unwrap_or(usize::MAX), seed: task.seed, ..RunTimeOptions::default() };
        evaluate_run_times(&task.log.workload, &options, &|done, all| task.progress(done, all))
    })?;
    let found: Vec<RunTimesOfLog> = found.into_iter().map(LogReport::from).collect();
    arguments.run.common.report(found, picture::draw, |reports| reports.text(text::one, text::several))
}
