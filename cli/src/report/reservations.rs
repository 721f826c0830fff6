//! `queuecast report reservations`: whether virtual reservations were kept, and what they cost.

mod picture;
mod record;
mod tally;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::Args;
use jiff::tz::TimeZone;
use job_types::time::UnixTime;
use serde::Serialize;
use slurm_conf::moment;
use slurm_sys::client::{AccountingConnection, site};

use self::record::EndedReservations;
use self::tally::{Class, Row};
use super::interval::CONFIDENCE;
use crate::Format;
use crate::failure::Failure;
use crate::output;

/// How much of the past is asked for at once, in seconds: libslurm holds an answer in memory.
const WINDOW_S: i64 = 86_400;

/// Show how often virtual reservations were kept, beside the probability that was promised, and
/// what they cost.
///
/// Every job that was submitted with --reserve-at carries what it was promised in its
/// admin_comment, and slurmdbd keeps it. The jobs that have ended since are counted by partition
/// and by the probability that was promised: promised and kept as table 2, cost as table 3 of
/// Nurmi, Wolski and Brevik 2008, for this cluster's own history. A reservation is kept if its job
/// had its nodes by the reserved time. The interval is that of Clopper and Pearson with 95 %
/// confidence, which holds at least as often as it says; reservations for the same time are not
/// independent, so that it is too narrow where many are. Jobs that were cancelled before their time
/// without a start count for nobody.
///
/// Exit status: 0 if slurmdbd has answered, also where there were no reservations; 2 for wrong
/// usage, or where slurmdbd does not answer.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Jobs that have ended since then, as sbatch --begin takes a time: 2026-03-01, now-90days.
    #[arg(long, value_name = "TIME", default_value = "now-30days")]
    since: String,

    /// Only jobs of these partitions, separated by commas.
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',')]
    partition: Vec<String>,

    /// Also draw the part that was kept over the probability that was promised into this file,
    /// which has to end in .svg or .png.
    #[arg(long, value_name = "FILE", value_parser = crate::plot::file)]
    plot: Option<PathBuf>,

    /// How to write the report.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  queuecast report reservations
      of the last thirty days
  queuecast report reservations --since 2026-01-01 --plot kept.svg
      since then, with a picture
  queuecast report reservations --format json | jq '.rows[] | select(.upper < .promised)'
      where promises were kept less often than chance explains

Keys of --format json (times in Unix seconds, null where not known):
  cluster, since, until
                what was looked at
  confidence    of the intervals
  withdrawn     reservations whose job was cancelled before the time without a start
  rows, all     by partition, and of all partitions together: list of partition (null: all), from
                and to (the probabilities that are counted together, from excluded), reservations,
                promised (mean), kept, kept_part, lower and upper (interval of kept_part),
                required_node_hours (that the jobs ran), used_node_hours (that they had their
                nodes), cost_ratio (the second over the first)";

/// The whole report.
#[derive(Debug, Serialize)]
struct Report {
    cluster: String,
    since: i64,
    until: i64,
    confidence: f64,
    withdrawn: u64,
    rows: Vec<Row>,
    all: Vec<Row>,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let report = report(arguments).map_err(Failure::Input)?;
    if let Some(path) = &arguments.plot {
        picture::draw(path, &report).map_err(Failure::Input)?;
    }
    output::print(arguments.format, &report, text::text)?;
    Ok(ExitCode::SUCCESS)
}

fn report(arguments: &Arguments) -> anyhow::Result<Report> {
    crate::plot::check_folder(arguments.plot.as_deref())?;
    let until = output::now();
    let since = moment::parse(&arguments.since, until.0, &TimeZone::system()).map(UnixTime).context("--since")?;
    if since >= until {
        return Err(anyhow!("--since: that is still to come, and nothing has ended since"));
    }
    let cluster = site()?.cluster;
    let found = read(&cluster, since, until, &arguments.partition)?;
    let (rows, all) = (tally::by_partition(found.reservations()), tally::of_all(found.reservations()));
    Ok(Report { cluster, since: since.0, until: until.0, confidence: CONFIDENCE, withdrawn: found.withdrawn(), rows, all })
}

/// Reads what has ended, a day at a time.
fn read(cluster: &str, since: UnixTime, until: UnixTime, partitions: &[String]) -> anyhow::Result<EndedReservations> {
    let mut connection = AccountingConnection::open()?;
    let mut found = EndedReservations::default();
    let mut from = since.0;
    // What ends in this very second belongs to it.
    while from <= until.0 {
        let to = (from + WINDOW_S).min(until.0 + 1);
        connection.ended_jobs(cluster, from..to, |record| {
            let partition = record.partition.as_deref().and_then(|names| names.split(',').next()).unwrap_or_default();
            if partitions.is_empty() || partitions.iter().any(|wanted| wanted == partition) {
                found.add(&record, partition);
            }
        })?;
        from = to;
    }
    Ok(found)
}

impl Report {
    /// The classes of probabilities in which there is anything.
    fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// The name of a class of probabilities for people.
fn class_name(class: &Class) -> String {
    format!("{} to {}", class.from, class.to)
}
