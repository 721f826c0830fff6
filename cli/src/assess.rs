//! `queuecast assess`: whether it would pay on the cluster that a past is from.

mod contents;
mod document;
mod html;
mod page;
mod picture;
mod progress;
mod text;

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, anyhow};
use clap::Args;
use command_parts::failure::Failure;
use command_parts::log_file::{self, LogFileOptions, read_log};
use command_parts::output::{self, FormatArguments};
use command_parts::plot;
use jiff::tz::TimeZone;
use rayon::ThreadPoolBuilder;
use research::simulate::{self, NotModelled, SiteSettings};
use serde::Serialize;
use simulator::assessment::{self, Assessment, Known, Most, SiteScheduler};
use simulator::remarks::Remarks;
use simulator::swf::Log;
use slurm_conf::moment;
use slurm_sys::client;

use self::progress::Bars;
use crate::slurmdbd_log::{SlurmdbdJobs, read_slurmdbd};

/// Say whether queuecast would pay here, from the past of a cluster. Nothing is installed for it.
///
/// The report says who waited how long, by partition and size; how well waits and run times would
/// have been forecast; what molding would have done to those who use it and to those who don't;
/// what other settings of Slurm's schedulers would have done; and what can't be said from this
/// past, and why. The first lines are a verdict with the figures that it rests on.
///
/// Long pasts are assessed by their latest jobs, and the report says how many: a million jobs take
/// some minutes on two cores.
///
/// Exit status: 0 if there is a report, whatever its verdict; 2 for wrong usage, or a past that
/// can't be read or has no job to go by.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The past: a log in the Standard Workload Format or what sacct printed, plain or packed with
    /// gzip, xz or zstd; `-` is standard input.
    #[arg(value_name = "PAST", required_unless_present = "slurmdbd", conflicts_with = "slurmdbd")]
    past: Option<PathBuf>,

    /// Read the past from slurmdbd, as `queuecast export-swf` does, and with it the nodes and the
    /// QOS of each job, for which a log has no field.
    #[arg(long)]
    slurmdbd: bool,

    /// With --slurmdbd: from when on jobs ended, as sbatch --begin takes a time.
    #[arg(long, value_name = "TIME", default_value = "now-365days", allow_hyphen_values = true)]
    since: String,

    /// With --slurmdbd: the jobs of this cluster [default: ClusterName of slurm.conf].
    #[arg(long, value_name = "NAME", requires = "slurmdbd")]
    cluster: Option<String>,

    /// With --slurmdbd: until when jobs ended.
    #[arg(long, value_name = "TIME", default_value = "now", allow_hyphen_values = true)]
    until: String,

    #[command(flatten)]
    log_file: LogFileOptions,

    /// Also write the report as one page of HTML into this file. It has its pictures and its style
    /// in itself, loads nothing, and runs no script.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// A slurm.conf, or what `scontrol show config` prints, with the weights of priorities and the
    /// SchedulerParameters: what other settings would do is then held against these. Without it
    /// Slurm's defaults stand for them. What the simulation does not have of it is said.
    #[arg(long, value_name = "FILE")]
    slurm_conf: Option<PathBuf>,

    /// What the report calls the cluster [default: the name of the file, or
    /// ClusterName of slurm.conf].
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// The most jobs that forecasts are held against, the latest; as many as half of these come
    /// before them and are their history.
    #[arg(long, value_name = "N", default_value = "40000")]
    forecast_jobs: NonZeroUsize,

    /// Where random numbers begin: the same options and seed give the same figures, whatever the
    /// number of threads.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// How many threads to use [default: one for each core].
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    #[command(flatten)]
    format: FormatArguments,
}

const EXAMPLES: &str = "\
Examples:
  queuecast assess SDSC-SP2-1998-4.2-cln.swf.gz --html sp2.html
      a log of the Parallel Workloads Archive, as text and as a page
  queuecast assess --slurmdbd --since now-180days --slurm-conf /etc/slurm/slurm.conf --html report.html
      the last 180 days of this cluster, and other settings held against its own
  queuecast assess past.txt.gz
      what sacct printed, with the columns that docs/own-past.md names
  queuecast assess past.swf --format json | jq -r '.verdict.sentences[]'
      the verdict alone

Keys of --format json:
  past_of            what the report calls the cluster
  verdict            answer (pays, forecasts-only, does-not-pay, cannot-be-said), sentences (the answer in
                     words), findings (label, figure, note, columns and
                     rows of name and figures: what it rests on)
  past               records, ran, did_not_run, left_out, users, queues, processors, days, utilisation;
                     all, by_queue, by_size, by_queue_and_size: jobs, wait_s, run_s (mean, median, p75,
                     p90, p95, p99, maximum), waited_an_hour and part_of_work (0 to 1);
                     says_waits: where it is false, wait_s and waited_an_hour are null
  forecasts          history_jobs, jobs, waits and run_times: what `queuecast evaluate waits` and
                     `queuecast evaluate runtimes` report of these jobs; null with too few jobs
  run_times          where the past says no waits: history_jobs, jobs and run_times, as in forecasts,
                     as if every job had started when it was submitted; else null
  molding            history_jobs, jobs, adoptions: adoption (the part of the jobs that use it) and draws,
                     what `queuecast evaluate molding` reports for each of three draws of speed-ups, with
                     adopters and others: jobs, baseline_response_s, response_s,
                     baseline_p95_response_s, p95_response_s; null with too few jobs
  schedulers         history_jobs, jobs, is_site_known, logged_wait_s, chance (0 to 1) and schedules:
                     name, what, wait_s, response_s, bounded_slowdown; null with too few jobs
  not_said           list of about, why, is_weighty (whether it bears on the verdict)
  remarks            what was left out or taken as not known as the past was read: records (null: about
                     the whole), what
  not_modelled       settings of --slurm-conf that the simulation does not have, and sentences about
                     values that Slurm itself takes for others
  seconds            how long it took";

/// What is reported as JSON.
#[derive(Debug, Serialize)]
struct Report {
    past_of: String,
    #[serde(flatten)]
    found: Assessment,
    remarks: Remarks,
    not_modelled: Vec<NotModelled>,
    seconds: f64,
}

impl Arguments {
    /// Names the source of the past, as messages call it.
    fn source(&self) -> String {
        self.past.as_ref().map_or_else(|| "slurmdbd".to_owned(), |path| path.display().to_string())
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let report = report(arguments)?;
    let document = contents::document(&report).map_err(Failure::Input)?;
    if let Some(path) = &arguments.html {
        let written = fs::write(path, html::page(&document));
        written.with_context(|| format!("cannot write the report {}", path.display())).map_err(Failure::Input)?;
    }
    output::print(arguments.format, &report, |_| text::text(&document))?;
    log_file::tell(&arguments.source(), &report.remarks);
    simulate::tell_not_modelled(&report.not_modelled);
    Ok(ExitCode::SUCCESS)
}

fn report(arguments: &Arguments) -> Result<Report, Failure> {
    let started = Instant::now();
    plot::check_folder(arguments.html.as_deref()).map_err(Failure::Input)?;
    let (scheduler, not_modelled) = site_scheduler(arguments.slurm_conf.as_deref()).map_err(Failure::Input)?;
    let threads = arguments.threads.map_or(0, NonZeroUsize::get);
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().context("cannot start the threads; try --threads 1");
    let pool = pool.map_err(Failure::Input)?;
    let (log, remarks, called) = past(arguments)?;
    let forecast_jobs = arguments.forecast_jobs.get();
    let options = assessment::Options {
        scheduler,
        most: Most { forecast_jobs: forecast_jobs.saturating_add(forecast_jobs / 2), ..Most::default() },
        seed: arguments.seed,
    };
    let bars = Bars::new();
    let found = pool.install(|| assessment::assess(&log, &options, &|stage, done, all| bars.show(stage, done, all)));
    drop(bars);
    let found = found.with_context(|| arguments.source()).map_err(Failure::Input)?;
    let past_of = arguments.name.clone().unwrap_or(called);
    Ok(Report { past_of, found, remarks, not_modelled, seconds: started.elapsed().as_secs_f64() })
}

/// The past, what is to be said of its reading, and what the cluster is called.
fn past(arguments: &Arguments) -> Result<(Log, Remarks, String), Failure> {
    let Some(path) = &arguments.past else { return of_slurmdbd(arguments) };
    let (log, remarks) = progress::reading(|| read_log(path, &arguments.log_file)).map_err(Failure::Input)?;
    Ok((log, remarks, log_file::name(path)))
}

fn of_slurmdbd(arguments: &Arguments) -> Result<(Log, Remarks, String), Failure> {
    let now = output::now().0;
    let time = |option: &'static str, text: &str| moment::parse(text, now, &TimeZone::system()).context(option).map_err(Failure::Input);
    let (since, until) = (time("--since", &arguments.since)?, time("--until", &arguments.until)?);
    if since >= until {
        return Err(Failure::Input(anyhow!("--since lies behind --until, and nothing ended in between")));
    }
    let jobs = SlurmdbdJobs {
        cluster: arguments.cluster.as_deref(),
        // What ends in the last second belongs to it.
        ended: since..until.saturating_add(1),
        processors: arguments.log_file.processors.map(|processors| u64::from(processors.get())),
        with_partition_names: true,
    };
    let (log, remarks) = read_slurmdbd(&jobs).map_err(Failure::No)?;
    let cluster = match &arguments.cluster {
        Some(cluster) => cluster.clone(),
        None => client::site().map_err(|error| Failure::No(error.into()))?.cluster,
    };
    Ok((log, remarks, cluster))
}

/// The site's own scheduler, as a file says it, and where the simulation does not go by the file.
fn site_scheduler(path: Option<&Path>) -> anyhow::Result<(SiteScheduler, Vec<NotModelled>)> {
    let Some(path) = path else { return Ok((SiteScheduler::default(), Vec::new())) };
    let site = SiteSettings::read(path)?;
    let not_modelled = site.not_modelled();
    let (has_parameters, has_priorities) = site.says;
    let known = Known { is_whole: site.is_whole, has_parameters, has_priorities };
    Ok((SiteScheduler { parameters: site.parameters, priorities: Some(site.priorities), known: Some(known) }, not_modelled))
}
