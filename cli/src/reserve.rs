//! `queuecast reserve`: what nodes at a time would cost, and how likely they would be there; and
//! with `--between` a firm slot, which is reserved.

mod between;
mod clusters;
mod joint;
mod offer;
mod plot;
mod sbatch;
mod text;
mod together;

use forecast_report::{FilterReport, JobReport, SubmissionOutcome, TrajectoryReport, notes, situation};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::LazyLock;

use anyhow::Context;
use clap::{ArgGroup, Args};
use command_parts::failure::Failure;
use command_parts::output::{self, FormatArguments};
use jiff::tz::TimeZone;
use job_types::options::{EarlyStart, Mode, SuccessProbability, UserOptions};
use job_types::time::{Seconds, UnixTime};
use job_types::together::{Together, Token};
use job_types::window::FARTHEST_AHEAD;
use serde::Serialize;
use slurm_conf::moment;

use self::offer::Offer;
use self::together::PartArgument;
use crate::asked::AskedArguments;
use crate::cluster::ClusterArgument;
use crate::described::arguments::JobArguments;
use crate::described::given::{OptionReport, passed_over, remarks};
use crate::described::{check_clusters, effect};
use crate::installation::{Installation, InstallationArguments};
use crate::slot::WindowArguments;

/// Say what it takes to have nodes at a time, and with which probability.
///
/// A virtual reservation (Nurmi, Wolski and Brevik 2008) is a job that becomes eligible early
/// enough to have started by the time, with the probability that is asked for, and with a time
/// limit that is padded by as much: if it has its nodes early it waits on them. Becoming eligible
/// earlier makes it more probable, and costs more. This command shows both before the job is
/// submitted: when it would become eligible, with which time limit, and what it costs beyond the
/// job itself, at the most and in the mean of the forecast waits; and the same for other
/// probabilities, so that what is worth its price can be chosen.
///
/// Describe the job as to sbatch: by the script, whose #SBATCH lines are read, by options, which
/// win over them, or by both, with the environment's SBATCH_ variables between the two. The
/// decision is that of the submit filter: what is refused here is refused there, with the same
/// reason.
///
/// Nothing is submitted but with --clusters and sbatch's arguments behind two dashes: then a job
/// goes to each cluster of the set that was found, and once one of them has its nodes, the others
/// are withdrawn by the daemons of their clusters. Where a cluster refuses its job and the others
/// do not suffice, nothing stays submitted.
///
/// With --between in the place of --at the nodes are certain: queuecastd looks for the slot in the
/// window that hurts others least, as queuecast probe shows it, and has Slurm reserve it. That is
/// done at once; the answer is the name of the reservation, for srun and sbatch --reservation.
/// Until shortly before its start the slot may still move inside the window. With sbatch's
/// arguments behind two dashes the job is submitted with --reserve-window, and needs no name. With
/// --clusters the slots of several clusters are looked at, and the best is reserved where it is,
/// without a job; it does not move. Where it has been taken since, all are asked again, up to five
/// times.
///
/// With --parts and --together a slot is reserved on each of several clusters, all with the same
/// start, or on none. Each keeps its part for two minutes; once all stand, the first cluster
/// confirms, and with that all are kept. If this command is ended, or a cluster is out of reach,
/// they settle that by themselves.
///
/// Exit status: 0 if the nodes can be had with the probability, or are reserved; 1 if that would be
/// refused, or was; 2 for wrong usage; 3 without a snapshot, or where queuecastd does not answer.
#[derive(Debug, Args)]
#[command(after_long_help = HELP.as_str(), infer_long_args = true)]
// clap asks for nothing that conflicts with what is there: --at would do in the place of --between.
#[command(mut_arg("prefer", |prefer| prefer.conflicts_with("at")))]
#[command(group = ArgGroup::new("submits").args(["clusters", "between"]).multiple(true))]
pub(crate) struct Arguments {
    /// When the nodes are wanted, as sbatch --begin takes it: 18:00, 2026-03-27T14:30, now+2hours.
    #[arg(long, value_name = "TIME", required_unless_present = "between", conflicts_with = "between", help_heading = "Options")]
    at: Option<String>,

    #[command(flatten)]
    window: WindowArguments,

    /// How long before its start the slot of --between is to move no more [default: the site's].
    #[arg(long, value_name = "DURATION", value_parser = notice, requires = "between", conflicts_with_all = ["at", "clusters"], help_heading = "Options")]
    notice: Option<Seconds>,

    /// With which probability they are to be there by then: greater than 0 and less than 1, or best
    /// for the highest that is to be had [default: the site's].
    #[arg(long, value_name = "P|best", conflicts_with = "between", help_heading = "Options")]
    probability: Option<SuccessProbability>,

    /// If the nodes are there early, wait on them or run at once [default: the site's].
    #[arg(long, value_name = "wait|run", conflicts_with = "between", help_heading = "Options")]
    early_start: Option<EarlyStart>,

    /// Look for the cheapest set of reservations on these clusters of which one is kept with the
    /// probability that is asked for, at most one on each. Behind a name may stand =DIR, the state
    /// directory of that cluster's queuecastd [default: that of [clusters] in queuecast.toml, and
    /// for the own cluster as without this option]. With --between: reserve the best slot of these
    /// clusters, each of which is asked by the command that [clusters.NAME] names.
    #[arg(short = 'M', long, value_name = "NAME[=DIR],...", value_delimiter = ',', conflicts_with = "plot", help_heading = "Options")]
    clusters: Vec<ClusterArgument>,

    /// With --between: reserve so many nodes on each of these clusters, for the same start, or
    /// nothing at all. The first of them decides: the others ask it where they were not told.
    #[arg(
        long,
        value_name = "NAME:NODES,...",
        value_delimiter = ',',
        requires_all = ["between", "together"],
        conflicts_with_all = ["at", "clusters", "notice"],
        help_heading = "Options"
    )]
    parts: Vec<PartArgument>,

    /// The parts are had together or not at all; --parts needs it.
    #[arg(long, requires = "parts", help_heading = "Options")]
    together: bool,

    /// What the parts are known by of which this slot is one; queuecast on another cluster asks so.
    #[arg(long, hide = true, value_name = "TOKEN", requires = "between", conflicts_with_all = ["clusters", "parts"])]
    part_of: Option<Token>,

    /// The cluster that decides about the parts; without it this one does.
    #[arg(long, hide = true, value_name = "NAME", requires = "part_of")]
    decided_by: Option<String>,

    #[command(flatten)]
    job: JobArguments,

    #[command(flatten)]
    #[command(next_help_heading = "Options")]
    installation: InstallationArguments,

    /// Also draw the probability and the cost over the time at which the job becomes eligible into
    /// this file, which has to end in .svg or .png.
    #[arg(long, value_name = "FILE", value_parser = command_parts::plot::file, conflicts_with = "between", help_heading = "Options")]
    plot: Option<PathBuf>,

    #[command(flatten)]
    format: FormatArguments,

    /// Submit the set of --clusters, or the job that --between asks a slot for: sbatch's further
    /// arguments, and the script or --wrap, which describe the job together with what stands before
    /// the two dashes. Without anything here, nothing is submitted.
    #[arg(last = true, value_name = "SBATCH ARGUMENTS", requires = "submits", help_heading = "Options")]
    sbatch: Vec<OsString>,
}

/// What stands behind the options in the long help.
static HELP: LazyLock<String> = LazyLock::new(|| format!("{EXAMPLES}\n\n{}", effect::in_words()));

const EXAMPLES: &str = "\
Examples:
  queuecast reserve --at 18:00 --nodes 4 --time 1:00:00
      four nodes for an hour at 18:00: how likely, and at which price
  queuecast reserve --at 18:00 job.sh
      the nodes and the time that this script asks for
  queuecast reserve --at tomorrow-08:00 -p batch -N 4 -t 1:00:00 --probability 0.9
      with a probability of 0.9
  queuecast reserve --at now+2hours -N 16 -t 30 --probability best --plot reserve.svg
      with the highest probability there is; the trade-off as a picture
  queuecast reserve --clusters east,west --at 18:00 -N 4 -t 60 --probability 0.99
      on one of two clusters: the cheapest reservations of which one is kept with 0.99
  queuecast reserve --clusters east,west --at 18:00 -N 4 -t 60 --probability 0.99 -- job.sh
      the same, and submits them
  queuecast reserve --between 18:00,06:00 -N 16 -t 2:00:00
      reserves sixteen nodes for two hours, some time tonight, and says the reservation's name
  queuecast reserve --between 18:00,06:00 -N 16 -t 2:00:00 --notice 1h -- job.sh
      submits a job that gets such a slot, whose time stands an hour before
  queuecast reserve --between 18:00,06:00 -N 16 -t 2:00:00 --clusters east,west --prefer earliest
      reserves them on that of two clusters where they are to be had first
  queuecast reserve --between 18:00,06:00 -t 2:00:00 --parts east:16,west:32 --together
      reserves sixteen nodes on one cluster and thirty-two on another for the same two hours
  queuecast reserve --at 18:00 -N 4 -t 60 --format json | jq '.offers[] | [.wanted, .expected_node_hours]'

Keys of --json (times in Unix seconds and *_s in seconds, each with a *_text beside it as Slurm
prints it; null where not known):
  generation, snapshot_age_s, cluster
  job          user, user_name, partition, nodes, cpus, tasks, limit_s, begin, deadline, reserve_at,
               reserve_window (null)
  asked        the probability that was asked for, or that of the site; \"best\" for the highest
  given        whether it is to be had
  reservation  if so: probability, begin (when the job becomes eligible), padded_limit_s,
               most_node_hours, expected_node_hours (what it costs beyond the job itself)
  refused      if not: why
  mode         of the submit filter for this job: below enforce nothing is reserved at a submission
  options      the options for sbatch, salloc or srun; null where nothing would be reserved
  offers       for several probabilities: wanted, the keys of reservation (null where refused),
               refused, later_at (a later TIME at which nodes could be had with it, as forecast now)
  trajectory   list of begin, padded_limit_s, probability, most_node_hours, expected_node_hours
  sbatch_options
               as of queuecast predict
  notes        what else is to be known
Keys with --clusters:
  asked, given, refused, notes, most_node_hours, expected_node_hours (of the whole set)
  at           the time
  probability  that at least one of the set is kept; where none suffices, of the best there is
  clusters     list of cluster, generation, snapshot_age_s, job, mode, notes, best (the highest
               probability that can be asked for), refused (why nothing is to be had), and chosen:
               null, or ask (the probability to ask for), the keys of reservation, and options;
               submission: null, or job (null where refused), taken_back, and said (by sbatch)
  submitted    whether the set stands in the queues
Keys with --between:
  id, name     the number by which the slot is cancelled, and the name of its reservation
  job_id       the job that was submitted, with sbatch's arguments
  state        asked, movable, fixed, attached, running, used, early, returned, refused, lost,
               cancelled
  start, end   when the reservation begins, and when the job's time limit ends it
  nodes, window (earliest, latest)
  fixed_at     when the slot stops moving
  refused      null, or reason and nearest (the nearest window in which there may be one)
  parts        an empty list
  confirm_by   null
  charged_node_s
               node-seconds of the reservation, which are charged whether they are used or not
  notes        what else is to be known
Keys with --between and --clusters: those of --between (state and others null where it is not known
  what came of it), and
  cluster, partition
               where the slot is, or may be
  not_known    null, or why it is not known whether a slot was made there
  tried        the slots that were lost to others before: list of cluster, start, end, why
  command      what runs queuecast on that cluster
Keys with --between and --parts: those of --between (id, name and fixed_at null, nodes of all), and
  parts        list of cluster, partition, id, name, state, start, end, nodes, charged_node_s,
               confirmed (whether the cluster has been told that its part is kept), command
  together     what the parts are known by
  not_known    null, or why it is not known whether the parts are kept
  tried        the starts at which they were not to be had: list of start, cluster, why";

/// The whole report.
#[derive(Debug, Serialize)]
struct Report {
    generation: u64,
    snapshot_age_s: i64,
    cluster: String,
    job: JobReport,
    asked: SuccessProbability,
    given: bool,
    reservation: Option<offer::Given>,
    refused: Option<String>,
    mode: Mode,
    options: Option<String>,
    offers: Vec<Offer>,
    trajectory: Option<TrajectoryReport>,
    notes: Vec<String>,
    sbatch_options: Vec<OptionReport>,
    #[serde(skip)]
    at: UnixTime,
    #[serde(skip)]
    now: UnixTime,
}

impl Arguments {
    /// Which parts the slot is one of.
    fn together(&self) -> Option<Together> {
        Some(Together { token: self.part_of.clone()?, decided_by: self.decided_by.clone() })
    }

    /// The installation whose daemon is asked; `None` where a forecast is enough, sbatch asks, or
    /// several clusters are asked.
    pub(crate) fn asked(&self) -> Option<Installation> {
        let asks_others = !self.clusters.is_empty() || !self.parts.is_empty();
        (self.window.is_given() && self.sbatch.is_empty() && !asks_others).then(|| self.installation.find())
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let now = output::now();
    if arguments.window.is_given() {
        return match arguments {
            Arguments { parts, .. } if !parts.is_empty() => together::run(arguments, now),
            Arguments { clusters, .. } if !clusters.is_empty() => clusters::run(arguments, now),
            _ => between::run(arguments, now),
        };
    }
    let at = arguments.at.as_deref().context("--at: a time is needed").map_err(Failure::Input)?;
    let at = moment::parse(at, now.0, &TimeZone::system()).map(UnixTime).context("--at").map_err(Failure::Input)?;
    let asked = UserOptions { reserve_at: Some(at.0), early_start: arguments.early_start, ..UserOptions::default() };
    let more: Vec<String> = arguments.sbatch.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut described = arguments.job.clone();
    // If a command of sbatch follows `--`, it describes the job.
    let not_read = if more.is_empty() { described.take_standard_input().context("standard input").map_err(Failure::Input)? } else { None };
    let job = described.job(&more, &AskedArguments::default(), now).map_err(Failure::Input)?.asking(asked.clone());
    if !arguments.clusters.is_empty() {
        return joint::run(arguments, &asked, &job, not_read, now);
    }
    let installation = arguments.installation.find();
    let snapshot = installation.needed_snapshot()?;
    check_clusters(&job, &snapshot).map_err(Failure::Input)?;
    let submission = job.submission();
    let situation = situation(&snapshot, &submission, now).map_err(|unknown| Failure::Input(unknown.into()))?;
    let wanted = arguments.probability.unwrap_or(SuccessProbability::AtLeast(situation.policy.success_probability));

    let filter = FilterReport::of(&situation, installation.kill_switch().as_deref());
    let chosen = Offer::of(&situation, wanted);
    let given = chosen.reservation.is_some();
    let is_done = given && filter.mode == Mode::Enforce && !is_left(&filter);
    let report = Report {
        generation: snapshot.generation(),
        snapshot_age_s: snapshot.age(now).0,
        cluster: snapshot.provenance().cluster.to_owned(),
        job: JobReport::of(&situation, job.user_name.clone()),
        asked: wanted,
        given,
        options: is_done.then(|| options(&asked, arguments.probability)),
        reservation: chosen.reservation,
        refused: chosen.refused,
        mode: filter.mode,
        offers: Offer::several(&situation, wanted),
        trajectory: TrajectoryReport::of(&situation, None),
        sbatch_options: OptionReport::all(&job),
        notes: installation
            .privacy_note()
            .into_iter()
            .chain(notes(&situation))
            .chain(not_done(&filter))
            .chain(remarks(&job))
            .chain(passed_over(&job))
            .chain(not_read.map(str::to_owned))
            .collect(),
        at,
        now,
    };
    if let Some(path) = &arguments.plot {
        plot::draw(path, &report).map_err(Failure::Input)?;
    }
    output::tell(arguments.format, &report, text::text)?.print()?;
    Ok(ExitCode::from(u8::from(!report.given)))
}

/// Reads how long before its start a slot is to move no more.
fn notice(text: &str) -> Result<Seconds, String> {
    command_parts::duration::between::<0, { FARTHEST_AHEAD.0 }>(text)
}

/// Whether the filter would pass the job on, or refuse it, without a decision.
fn is_left(filter: &FilterReport) -> bool {
    filter.why.is_some() && matches!(filter.outcome, SubmissionOutcome::Left | SubmissionOutcome::Refused)
}

/// Why nothing would be reserved although it is to be had.
fn not_done(filter: &FilterReport) -> Option<String> {
    match &filter.why {
        Some(why) if is_left(filter) => Some(format!("the submit filter would reserve nothing now: {why}")),
        _ if filter.mode < Mode::Enforce => {
            Some(format!("the mode for this job is {}: its submission would be left as it is, and nothing reserved", filter.mode))
        }
        _ => None,
    }
}

/// The options that ask sbatch for the reservation.
fn options(asked: &UserOptions, probability: Option<SuccessProbability>) -> String {
    let options = asked.canonical().map(|(variable, value)| crate::asked::as_written(variable, &value));
    options.chain(probability.map(|probability| format!("--success-probability={probability}"))).collect::<Vec<_>>().join(" ")
}
