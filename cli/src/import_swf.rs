//! `queuecast import-swf`: a workload log becomes records of the past in slurmdbd.

mod log;
mod names;
mod past;
mod report;
mod slurmdbd;

use std::io;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, anyhow};
use clap::{Args, ValueEnum};
use command_parts::failure::Failure;
use command_parts::log_file::{self, LogFileOptions};
use command_parts::output::{self, FormatArguments};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use self::names::MappedUser;
use self::past::{JobNumbers, TimeScale};

/// Fill slurmdbd with the jobs of a workload log, as records of the past.
///
/// The log is in the Standard Workload Format or what sacct printed (plain, or packed with gzip, xz
/// or zstd), or is made on the spot with --embedded, for a machine of 128 processors where
/// --processors says no other. Its jobs are shifted in time so that the log ends now, and written
/// with users, accounts, partition, sizes, time limits and times; those that are larger than the
/// machine are left out. `sacct` then shows them as it shows any job, and queuecastd learns from
/// them. Nothing is submitted, and no user of the log needs to exist on the machine.
///
/// They go into a cluster that is there for imports alone (`sacctmgr add cluster past`), never into
/// one where a slurmctld has registered, so that `sacctmgr delete cluster past` takes them out
/// again. queuecastd counts them as its own cluster's past where [history] earlier_clusters of
/// queuecast.toml names that cluster.
///
/// The records go through slurmdbd itself, so no database password is needed, but slurmdbd takes
/// them only from root, SlurmUser and its administrators. All of them are written, or none.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
#[command(group(clap::ArgGroup::new("log").required(true).args(["file", "embedded"])))]
pub(crate) struct Arguments {
    /// The log, such as SDSC-SP2-1998-4.2-cln.swf.gz; `-` is standard input.
    file: Option<PathBuf>,

    /// Use a workload made by the Lublin-Feitelson model, with users and time limits, instead of a
    /// log.
    #[arg(long)]
    embedded: bool,

    /// Where the jobs go.
    #[arg(long, value_enum, value_name = "DESTINATION")]
    into: Destination,

    /// The cluster whose jobs they become: one that no slurmctld has registered. Needed with
    /// --into slurmdbd.
    #[arg(long, value_name = "NAME")]
    cluster: Option<String>,

    #[command(flatten)]
    log_file: LogFileOptions,

    /// Processors to a node: a job has as many nodes as it takes to hold its processors
    /// [default: MaxProcs / MaxNodes of the log's header].
    #[arg(long, value_name = "N")]
    cpus_per_node: Option<NonZeroU32>,

    /// The partition of all jobs [default: the default partition of the cluster of slurm.conf].
    #[arg(long, value_name = "NAME")]
    partition: Option<String>,

    /// Make the log's queues the jobs' partitions (its partitions, where it has but one queue), by
    /// the names in its header.
    #[arg(long, conflicts_with = "partition")]
    queues_as_partitions: bool,

    /// Multiply all times by F: 0.01 turns an hour into 36 seconds, for demonstrations. Time limits
    /// stay whole minutes, at least 1.
    #[arg(long, value_name = "F", default_value = "1")]
    time_scale: TimeScale,

    /// Give the jobs of a user of the log to a user of this machine. LOGUSER is the number in the
    /// log, or @1 for its busiest user, @2 for the next. May be given several times.
    #[arg(long = "map-user", value_name = "LOGUSER:LOCALUSER")]
    mapped_users: Vec<MappedUser>,

    /// What the names of the log's other users begin with: user 12 becomes u12.
    #[arg(long, value_name = "TEXT", default_value = "u")]
    user_prefix: String,

    /// Put all jobs into one account [default: one for each group of the log, g1, g2, ...].
    #[arg(long, value_name = "NAME")]
    account: Option<String>,

    /// Only jobs with these numbers (field 1 of the log).
    #[arg(long, value_name = "FROM-TO")]
    jobs: Option<JobNumbers>,

    /// Only the last N jobs of the log.
    #[arg(long, value_name = "N")]
    last: Option<NonZeroU64>,

    /// When the last job ends: a time as sbatch --begin takes it, such as now, today or
    /// 2026-03-27T14:30.
    #[arg(long, value_name = "TIME", default_value = "now")]
    ends_at: String,

    /// The lowest job number to use. Live jobs count from FirstJobId (1) upwards, so a high one
    /// keeps clear of them.
    #[arg(long, value_name = "N", default_value_t = 50_000_000)]
    first_job_id: u32,

    /// Import although slurmdbd holds records of this log: add them once more.
    #[arg(long)]
    again: bool,

    /// Read and convert everything, say what would be written, and leave slurmdbd alone.
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    format: FormatArguments,

    #[command(flatten)]
    model: log::ModelArguments,
}

const EXAMPLES: &str = "\
Examples:
  sacctmgr add cluster past && queuecast import-swf SDSC-SP2-1998-4.2-cln.swf.gz --into slurmdbd --cluster past
      two years of a 128-node machine, ending now; `sacctmgr delete cluster past` removes them, and
      slurmdbd brings the records back with the name, so that the next one needs another
  queuecast import-swf CEA-Curie-2011-2.1-cln.swf.gz --into slurmdbd --cluster past --cpus-per-node 16 --queues-as-partitions --last 50000
  queuecast import-swf --embedded --processors 32 --cpus-per-node 4 --model-jobs 5000 --into slurmdbd --cluster past --map-user @1:alice
      made-up jobs for a cluster of eight nodes, the busiest user's under the name of alice
  queuecast import-swf --embedded --seed 7 --into swf > model.swf
      the made-up workload itself, as a log
  queuecast import-swf LOG --into slurmdbd --cluster past --dry-run
      what would be written, and what would be left out and why";

/// Where the jobs go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Destination {
    /// The slurmdbd that slurm.conf names.
    Slurmdbd,
    /// Standard output, as a log in the Standard Workload Format, unchanged.
    Swf,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let began = Instant::now();
    let mut log = log::open(arguments.file.as_deref(), &arguments.log_file, &arguments.model).map_err(Failure::Input)?;
    let source = arguments.file.as_deref().map_or_else(|| "the log".to_owned(), |path| path.display().to_string());
    if arguments.into == Destination::Swf {
        log.write(io::stdout().lock()).map_err(Failure::Input)?;
        log_file::tell(&source, &log.remarks());
        return Ok(());
    }
    let ends_at = moment(&arguments.ends_at).map_err(Failure::Input)?;
    let machine = past::Machine::of(log.header(), arguments.log_file.processors, arguments.cpus_per_node);
    let mut selection = past::Selection::new(arguments.jobs, arguments.last, machine);
    let (name, header) = (log.name().to_owned(), log.header().clone());
    for record in log.records() {
        selection.add(&record.map_err(Failure::Input)?);
    }
    let remarks = log.remarks();
    let selected = selection.finish(ends_at, arguments.time_scale);
    if selected.jobs.is_empty() {
        let skipped = report::skipped_text(&selected.skipped);
        return Err(Failure::Input(anyhow!("{name}: no job can be imported{skipped}")));
    }
    let names = names::Names::new(
        &selected.jobs,
        &header,
        names::Choices {
            mapped_users: &arguments.mapped_users,
            user_prefix: &arguments.user_prefix,
            account: arguments.account.as_deref(),
            partition: arguments.partition.as_deref(),
            queues_as_partitions: arguments.queues_as_partitions,
        },
    )
    .map_err(Failure::Input)?;
    let written = if arguments.dry_run {
        None
    } else {
        let plan = slurmdbd::Plan {
            log_name: &name,
            jobs: &selected.jobs,
            names: &names,
            cluster: arguments.cluster.as_deref(),
            first_job_id: arguments.first_job_id,
            is_repeated: arguments.again,
            show_progress: arguments.format.is_text(),
        };
        Some(slurmdbd::write(&plan).map_err(Failure::No)?)
    };
    let summary = report::Summary::new(&name, machine, (&selected, &remarks), &names, written, began.elapsed());
    output::print(arguments.format, &summary, report::Summary::text)?;
    log_file::tell(&source, &remarks);
    Ok(())
}

/// Reads a time as this machine's clock shows it; Unix seconds.
fn moment(text: &str) -> anyhow::Result<i64> {
    slurm_conf::moment::parse(text, Timestamp::now().as_second(), &TimeZone::system()).context("--ends-at")
}
