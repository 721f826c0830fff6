//! `queuecast report guard`: what the daemon's own replays of the last weeks say of each policy.

mod picture;
mod replays;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use command_parts::failure::Failure;
use command_parts::output;
use command_parts::plot;
use job_types::time::UnixTime;
use serde::Serialize;
use simulator::guard::state::{Act, Guard, NotKnown, Try};

use self::replays::PolicyRow;
use crate::guard::GuardFile;
use crate::installation::{Installation, ReportArguments};

/// Show which policies the guard lets stand, which it holds back, and by what replays of this
/// cluster's last weeks.
///
/// Once a day queuecastd replays the jobs of the last weeks, in each partition with each policy
/// that is enforced there and without it, as many jobs using it as really did. A policy that
/// harms the jobs of those who don't use it, or gains nothing twice in a row, goes back to observe
/// in that partition by itself, and comes back after it has paid in two replays in a row. This
/// report reads what the daemon has written beside the snapshot; it asks neither slurmctld nor
/// slurmdbd, and names partitions and no users.
///
/// Changes are those of the time from submission to end, as parts of that time without the policy:
/// below 0 jobs are done sooner. Each replay is made in several draws, with other users of the
/// policy and other speed-ups; the range is that over the draws.
///
/// Exit status: 0 if there is something to tell, also where a policy is held back, no guard has run
/// yet or it is off; 2 for wrong usage, or if what the guard wrote can't be read.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Only these partitions, separated by commas.
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',')]
    partition: Vec<String>,

    /// Also draw how mean responses changed over the weeks, with the times at which a policy was
    /// held back, into this file, which has to end in .svg or .png.
    #[arg(long, value_name = "FILE", value_parser = plot::file)]
    plot: Option<PathBuf>,

    #[command(flatten)]
    report: ReportArguments,
}

const EXAMPLES: &str = "\
Examples:
  queuecast report guard
      which policy stands where, since when and why, and the replays behind it
  queuecast report guard --partition batch --plot guard.svg
      of one partition, with a picture over the weeks
  queuecast report guard --json | jq '.policies[] | select(.held_back) | .partition, .why'
      what is held back, and why
  queuecast report guard --json | jq -e 'any(.policies[]; .held_back)' && echo held back
      for a script

Keys of --json (times in Unix seconds and *_s in seconds, each with a *_text beside it as Slurm
prints it where they are whole; changes as parts, below 0 where jobs are done sooner; null where not
known):
  verdict         in words
  act             what the guard does: observe (it holds policies back), warn (it only says so), off
  has_run         whether there are results
  interval_s, window_s
                  how often it replays, and how much of the past
  last_try        at, took_s, jobs, failure (why it gave no answer), postponed (list of partition
                  and policy: there was no time for them, and they come first the next time); null
                  before the first
  last_success_at when it last gave an answer
  policies        for each: partition, policy (molding, deferral), is_bad (found not to pay, or to
                  harm others), held_back (is_bad, and the guard acts), since, why, in_a_row (how
                  many replays in a row have said what would change that), stood_badly (list of
                  since and until, as far back as replays are kept), replays
  replays         of a policy, the latest last: at, first_at and last_at (submissions), days, jobs,
                  adoption (the part of the jobs that use it), finding (pays, no-gain, harms,
                  cannot-be-said), why, draws (how many), users and others
  users, others   the jobs of those who use the policy, and of the rest, over the draws: jobs,
                  mean_without_s, mean_with_s, change (of the mean), least and greatest (of any
                  draw), p95_without_s, p95_with_s, p95_change
  not_known       what the replays do not know: list of about, why";

/// The whole report.
#[derive(Debug, Serialize)]
struct Report {
    verdict: String,
    act: Act,
    has_run: bool,
    interval_s: i64,
    window_s: i64,
    last_try: Option<Try>,
    last_success_at: Option<i64>,
    policies: Vec<PolicyRow>,
    not_known: Vec<NotKnown>,
    #[serde(skip)]
    now: UnixTime,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    plot::check_folder(arguments.plot.as_deref()).map_err(Failure::Input)?;
    let report = Report::of(&arguments.report.installation(), &arguments.partition, output::now())?;
    if let Some(path) = &arguments.plot {
        picture::draw(path, &report.policies, report.act, report.now).map_err(Failure::Input)?;
    }
    output::tell(arguments.report.format, &report, text::text)?.print()?;
    Ok(ExitCode::SUCCESS)
}

impl Report {
    /// The report on the partitions that are named, or on all where none is.
    fn of(installation: &Installation, partitions: &[String], now: UnixTime) -> Result<Self, Failure> {
        let file = GuardFile::of(installation).map_err(|error| Failure::Input(error.into()))?;
        let is_meant = |partition: &str| partitions.is_empty() || partitions.iter().any(|wanted| wanted == partition);
        let meant = file.policies().iter().filter(|standing| is_meant(&standing.partition));
        let policies = meant.map(|standing| PolicyRow::of(standing, file.is_held_back(standing))).collect();
        let (verdict, act, has_run) = (file.verdict(), file.act, file.guard.is_some());
        let Guard { interval_s, window_s, last_try, last_success, not_known, .. } = file.guard.unwrap_or_default();
        let last_success_at = last_success.map(|at| at.0);
        Ok(Self { verdict, act, has_run, interval_s, window_s, last_try, last_success_at, policies, not_known, now })
    }
}
