//! `queuecast predict`: what is forecast for a described job, and what the submit filter would do
//! with it.

mod plot;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::LazyLock;

use anyhow::Context;
use clap::Args;
use command_parts::failure::Failure;
use command_parts::output::{self, FormatArguments};
use forecast_report::{Prediction, situation};
use jiff::tz::TimeZone;
use job_types::time::UnixTime;
use serde::Serialize;
use slurm_conf::moment;

use crate::asked::AskedArguments;
use crate::described::arguments::JobArguments;
use crate::described::given::{OptionReport, remarks};
use crate::described::{check_clusters, effect};
use crate::installation::InstallationArguments;

/// Forecast the wait and the run time of a job, and say what queuecast would do with it.
///
/// Describe the job as to sbatch: by the script, whose #SBATCH lines are read, by options, which
/// win over them, or by both; nothing is submitted. The environment's SBATCH_ variables stand
/// between the two, as for sbatch. Where nothing describes the job, the script is read from
/// standard input, as by sbatch. What stands behind the script belongs to the script, so that
/// this command's own options stand before it. All options of sbatch are known; which of them the
/// forecast does not count is listed below, and told with each forecast. Waits are forecast from
/// the state of the cluster by what followed such states, or, where too little of that is known,
/// from past jobs of the same class (partition, size, time limit, and how pressed the partition
/// is); run times from your own past jobs of the same size. Beside that stands when the job would
/// start by the daemon's plan of the queue, which knows the jobs that wait and none that are still
/// to come.
///
/// Exit status: 0 if there is an answer; 1 if the job would be refused; 2 for wrong usage; 3
/// without a snapshot.
#[derive(Debug, Args)]
#[command(after_long_help = HELP.as_str(), infer_long_args = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    job: JobArguments,

    #[command(flatten)]
    asked: AskedArguments,

    /// Also forecast the probability of being done by this time. May be given several times.
    #[arg(long, value_name = "TIME", help_heading = "Options")]
    by: Vec<String>,

    #[command(flatten)]
    #[command(next_help_heading = "Options")]
    installation: InstallationArguments,

    /// Also draw the probability of starting over time and the ranges of run times into this file,
    /// which has to end in .svg or .png.
    #[arg(long, value_name = "FILE", value_parser = command_parts::plot::file, help_heading = "Options")]
    plot: Option<PathBuf>,

    #[command(flatten)]
    format: FormatArguments,
}

/// What stands behind the options in the long help.
static HELP: LazyLock<String> = LazyLock::new(|| format!("{EXAMPLES}\n\n{}", effect::in_words()));

const EXAMPLES: &str = "\
Examples:
  queuecast predict job.sh
      when would this script start, and how long would it run
  queuecast predict -N 8 -t 4:00:00 job.sh
      the same on eight nodes, with another time limit
  queuecast predict -p batch -N 4 -t 2:00:00
      when would it start, how long would it run
  queuecast predict -N 16 -n 64 -t 1:00:00 --auto-mold
      would another number of nodes be done sooner
  queuecast predict -N 4 -t 1:00:00 --deadline tomorrow-08:00 --by 20:00 --by midnight
      how likely is it done in time
  queuecast predict -N 4 -t 1:00:00 --reserve-at 18:00 --success-probability 0.9
      can its nodes be there at 18:00, and what does it cost
  queuecast predict -N 4 -t 1:00:00 --plot forecast.svg
      the forecasts as a picture
  queuecast predict -N 4 -t 1:00:00 --format json | jq '.wait.bounds_s[\"0.95\"]'

Keys of --json (times in Unix seconds and *_s in seconds, each with a *_text beside it as Slurm
prints it; null where not known):
  generation, snapshot_age_s, cluster
  job          user, user_name, partition, nodes, cpus, tasks, limit_s (null: unlimited), begin,
               deadline, reserve_at, reserve_window (of a firm slot: earliest and latest)
  wait         counted from the moment that the job may begin:
               source (blended: by the state of the cluster; qbets: by class), class (of qbets:
               partition, cpus, limits_s; null: all), jobs (that it rests on),
               pressure, confidence (of qbets' bounds), median_s (the point forecast), bounds_s (\"0.25\" to \"0.95\": the wait that is not exceeded
               with that probability), starts_within (list of duration_s, probability)
  plan         by the plan of the queue, for a job of that size and limit submitted now (of the next
               larger and longer ones that were planned): plan_at, is_complete (whether all jobs
               that wait were placed), expected_start, earliest_start (if jobs end early),
               latest_start (if they run to their limits), expected_wait_s; no starts where there
               is never room or the partition starts no jobs; null without a plan
  run_time     jobs (0: the user has none of that size; then without ranges the time limit is taken,
               and with them they are of jobs like it), unit, point_s (the median),
               ranges (list of lower_s, upper_s, probability)
  done         for --deadline and each --by: by, probability, is_deadline
  filter       outcome (left, observed, advised, unchanged, changed or refused), why, mode,
               line, line_if_enforced, changes and proposed (nodes, cpus, tasks, limit_s, begin,
               hold_until, clears_deadline), record (as in the job's admin_comment)
  trajectory   for --reserve-at: list of begin, padded_limit_s, probability, and of the cost beyond
               the job most_node_hours, expected_node_hours
  sbatch_options
               those that hold: option, value, origin (script, environment or command line), line
               (of the script), variable, effect (counted; not counted, or not in full; no effect;
               queuecast: one of ours; not known: another plugin's)
  notes        what else is to be known";

/// The whole report.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    #[serde(flatten)]
    prediction: Prediction,
    sbatch_options: Vec<OptionReport>,
    #[serde(skip)]
    now: UnixTime,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let now = output::now();
    let by = arguments
        .by
        .iter()
        .map(|text| moment::parse(text, now.0, &TimeZone::system()).map(UnixTime).context("--by"))
        .collect::<anyhow::Result<Vec<_>>>()
        .map_err(Failure::Input)?;
    let mut described = arguments.job.clone();
    let not_read = described.take_standard_input().context("standard input").map_err(Failure::Input)?;
    let job = described.job(&[], &arguments.asked, now).map_err(Failure::Input)?;
    let installation = arguments.installation.find();
    let snapshot = installation.needed_snapshot()?;
    check_clusters(&job, &snapshot).map_err(Failure::Input)?;
    let submission = job.submission();
    let situation = situation(&snapshot, &submission, now).map_err(|unknown| Failure::Input(unknown.into()))?;
    let off = installation.kill_switch();
    let mut prediction = Prediction::of(&situation, job.user_name.clone(), &by, off.as_deref());
    prediction.notes.splice(..0, installation.privacy_note());
    prediction.notes.extend(remarks(&job).into_iter().chain(not_read.map(str::to_owned)));
    let report = Report { prediction, sbatch_options: OptionReport::all(&job), now };
    if let Some(path) = &arguments.plot {
        plot::draw(path, &report).map_err(Failure::Input)?;
    }
    output::tell(arguments.format, &report, text::text)?.print()?;
    Ok(ExitCode::from(u8::from(report.prediction.filter.is_refused())))
}
