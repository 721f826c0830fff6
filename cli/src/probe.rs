//! `queuecast probe`: where inside a window nodes can be reserved, and what that does to others.

mod clusters;
mod plot;
mod text;

use forecast_report::{JobReport, situation};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use command_parts::failure::Failure;
use command_parts::output::{self, FormatArguments};
use daemon_api::Answer;
use job_types::time::UnixTime;
use serde::Serialize;

use crate::api;
use crate::asked::AskedArguments;
use crate::cluster::ClusterArgument;
use crate::described::arguments::JobArguments;
use crate::described::check_clusters;
use crate::described::given::remarks;
use crate::installation::{Installation, InstallationArguments};
use crate::slot::{self, WindowArguments};

/// Say where in a window nodes can be reserved, and what that does to others.
///
/// For each of up to twenty slots of the window a reservation is put into the present plan of the
/// queue, and all jobs that wait are planned beside it (Röblitz and Rzadca 2006). The best slot is
/// the one with which they end soonest. Jobs that run are taken to need their nodes until their
/// time limits, as slurmctld takes them, and the job at the head of the queue is not delayed beyond
/// the start that time limits give it.
/// Whether the site lets you have a slot is said beside each ([[firm]] of queuecast.toml).
///
/// Describe the job as to sbatch: by the script, whose #SBATCH lines are read, by options, which
/// win over them, or by both. Nothing is submitted and nothing is reserved. Whose jobs would be
/// delayed is not told to anybody.
///
/// queuecastd answers, on the host where it runs, and on others where [api] of queuecast.toml says
/// how they ask. Exit status: 0 if there is a slot that is to be
/// had, allowed or not; 1 if there is none; 2 for wrong usage; 3 without a snapshot, or where
/// queuecastd does not answer.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, infer_long_args = true)]
#[command(mut_arg("between", |between| between.required(true)))]
pub(crate) struct Arguments {
    #[command(flatten)]
    window: WindowArguments,

    /// Look for slots on these clusters, all asked at the same time, and show those of all in the
    /// order of --prefer. This cluster may be among them; the others are asked by the command that
    /// [clusters.NAME] of queuecast.toml names. One that does not answer within 5 s is left out.
    #[arg(short = 'M', long, value_name = "NAME,...", value_delimiter = ',', conflicts_with = "plot", help_heading = "Options")]
    clusters: Vec<ClusterArgument>,

    #[command(flatten)]
    job: JobArguments,

    #[command(flatten)]
    #[command(next_help_heading = "Options")]
    installation: InstallationArguments,

    /// Also draw the plan of the partition, with the best slot in it, into this file, which has to
    /// end in .svg or .png.
    #[arg(long, value_name = "FILE", value_parser = command_parts::plot::file, help_heading = "Options")]
    plot: Option<PathBuf>,

    #[command(flatten)]
    format: FormatArguments,
}

const EXAMPLES: &str = "\
Examples:
  queuecast probe --nodes 16 --time 2:00:00 --between 18:00,06:00
      sixteen nodes for two hours, some time tonight
  queuecast probe --between now,now+1day job.sh
      the nodes and the time that this script asks for, within a day
  queuecast probe -N 4 -t 60 -p batch --between 08:00,18:00 --prefer latest --plot slot.svg
      as late as it goes without hurting others; the plan as a picture
  queuecast probe -N 4 -t 60 --between 18:00,06:00 --clusters east,west --prefer cheapest
      on two clusters, the slots with the fewest node-hours charged first
  queuecast probe -N 4 -t 60 --between 18:00,06:00 --json | jq '.slots[.best]'

Keys of --json (times in Unix seconds and *_s in seconds; null where not known):
  generation, planned_at
               of the plan that was asked
  request      partition, account, qos, nodes, cpus, limit_s, earliest, latest, prefer
  ordinary_start
               when the job would start that waits as any other: lower, expected, upper
  slots        list of start, end, availability (from 0, not to be had, to 1: the less others end
               later for it, the more), delayed_jobs, total_delay_s, most_delay_s, idle_node_s (for
               which nodes stand idle before it), charged_node_s, allowed, why_not
  best         the place of the best slot in this list, counted from 0; null where there is none
  notes        what else is to be known
Keys with --clusters: slots (each with its cluster, in the order of --prefer: those that are allowed,
  then those that are to be had alone, then the others), best, notes, window (earliest, latest), and
  clusters     list of cluster, left_out (null, or why it has not answered), generation, planned_at,
               request, ordinary_start";

/// The whole report.
#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    answer: Answer,
    #[serde(skip)]
    job: JobReport,
    #[serde(skip)]
    cluster: String,
    #[serde(skip)]
    now: UnixTime,
}

impl Arguments {
    /// The installation whose daemon is asked; `None` where several clusters are.
    pub(crate) fn asked(&self) -> Option<Installation> {
        self.clusters.is_empty().then(|| self.installation.find())
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let now = output::now();
    if arguments.job.is_of_another_user() {
        return Err(Failure::Input(anyhow::anyhow!("--user: slots are told to those who ask, by their own accounts; leave it out")));
    }
    let mut described = arguments.job.clone();
    let not_read = described.take_standard_input().context("standard input").map_err(Failure::Input)?;
    let job = described.job(&[], &AskedArguments::default(), now).map_err(Failure::Input)?;
    if !arguments.clusters.is_empty() {
        return clusters::run(arguments, &job, not_read, now);
    }
    let (window, prefer) = arguments.window.read(now).map_err(Failure::Input)?;
    let installation = arguments.installation.find();
    let snapshot = installation.needed_snapshot()?;
    check_clusters(&job, &snapshot).map_err(Failure::Input)?;
    let submission = job.submission();
    let situation = situation(&snapshot, &submission, now).map_err(|unknown| Failure::Input(unknown.into()))?;
    let request = slot::request(&submission, &situation, window, prefer).map_err(Failure::Input)?;
    let answer = api::post(&installation.reach(), daemon_api::PROBE, &request);
    let mut answer: Answer = answer.map_err(|error| Failure::Input(slot::by_option(error)))?;
    answer.notes.extend(remarks(&job).into_iter().chain(not_read.map(str::to_owned)));
    let report =
        Report { answer, job: JobReport::of(&situation, job.user_name.clone()), cluster: snapshot.provenance().cluster.to_owned(), now };
    if let Some(path) = &arguments.plot {
        let plan = snapshot.plan().context("--plot: the snapshot has no plan at the moment").map_err(Failure::Input)?;
        let free: Vec<(UnixTime, u32)> = plan.free(situation.partition.index).collect();
        plot::draw(path, &report, &free, (situation.partition.cpus, situation.partition.nodes)).map_err(Failure::Input)?;
    }
    output::tell(arguments.format, &report, text::text)?.print()?;
    Ok(ExitCode::from(u8::from(report.answer.best.is_none())))
}

impl Report {
    /// CPUs of the slot's nodes, where each has the same share of the partition's.
    fn slot_cpus(&self, partition_cpus: u32, partition_nodes: u32) -> u32 {
        let per_node = partition_cpus / partition_nodes.max(1);
        self.answer.request.nodes.saturating_mul(per_node)
    }
}
