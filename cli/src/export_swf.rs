//! `queuecast export-swf`: slurmdbd's jobs become a workload log.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, ensure};
use clap::Args;
use command_parts::failure::Failure;
use command_parts::log_file;
use command_parts::output;
use jiff::tz::TimeZone;
use simulator::swf::{self, Log};
use slurm_conf::moment;

use crate::slurmdbd_log::{SlurmdbdJobs, read_slurmdbd};

/// Write the jobs that slurmdbd knows as a workload log.
///
/// The log is in the Standard Workload Format, which `queuecast evaluate`, `simulate` and
/// `import-swf` read, and other programs as well. Each run of a job is a line: when it became
/// eligible, how long it waited and ran, on how many CPUs, with which time limit and memory, and
/// how it ended. The format has no field for its nodes and its QOS, which `queuecast assess
/// --slurmdbd` sees. Users, accounts and names of jobs become numbers in the order in which they
/// first appear, and nothing tells who is behind a number; so do partitions, whose names
/// --partition-names has in the header. The header says how many CPUs and nodes the cluster has
/// now, if slurmctld answers and no more were ever in use at once.
///
/// slurmdbd is asked for a stretch of time after the other, so that no answer is large, and shows
/// to a user who is neither root, SlurmUser nor its operator no more than PrivateData lets it.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Where to write the log [default: standard output]. A file is replaced once the log is
    /// whole.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// From when on jobs ended: a time as sbatch --begin takes it, such as now-90days or
    /// 2026-03-27.
    #[arg(long, value_name = "TIME", default_value = "now-365days", allow_hyphen_values = true)]
    since: String,

    /// Until when jobs ended.
    #[arg(long, value_name = "TIME", default_value = "now")]
    until: String,

    /// The cluster whose jobs are meant [default: ClusterName of slurm.conf].
    #[arg(long, value_name = "NAME")]
    cluster: Option<String>,

    /// CPUs of the cluster, for the header [default: those that slurmctld counts now, or the most
    /// that were in use at once, if that is more].
    #[arg(long, value_name = "N")]
    processors: Option<std::num::NonZeroU32>,

    /// Say in the header what the partitions are called.
    #[arg(long)]
    partition_names: bool,
}

const EXAMPLES: &str = "\
Examples:
  queuecast export-swf past.swf
      the jobs that ended in the last year
  queuecast export-swf --since now-90days | xz > past.swf.xz
      those of the last 90 days, packed
  queuecast export-swf --partition-names --since 2026-01-01 --until 2026-04-01 quarter.swf
      the jobs of a quarter, with the names of the partitions
  queuecast export-swf | queuecast evaluate waits --from 1000 -
      how well the waits of this site would have been forecast";

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let now = output::now().0;
    let time = |option: &'static str, text: &str| moment::parse(text, now, &TimeZone::system()).context(option).map_err(Failure::Input);
    let (since, until) = (time("--since", &arguments.since)?, time("--until", &arguments.until)?);
    if since >= until {
        return Err(Failure::Input(anyhow!("--since lies behind --until, and nothing ended in between")));
    }
    if let Some(path) = &arguments.file {
        check_folder(path).map_err(Failure::Input)?;
    }
    let jobs = SlurmdbdJobs {
        cluster: arguments.cluster.as_deref(),
        // What ends in the last second belongs to it.
        ended: since..until.saturating_add(1),
        processors: arguments.processors.map(|processors| u64::from(processors.get())),
        with_partition_names: arguments.partition_names,
    };
    let (log, remarks) = read_slurmdbd(&jobs).map_err(Failure::No)?;
    match &arguments.file {
        Some(path) => write_file(path, &log).with_context(|| format!("cannot write {}", path.display())).map_err(Failure::Input)?,
        None => match write(io::stdout().lock(), &log) {
            // The reader has seen enough, as `head` does.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            written => written.context("cannot write to standard output").map_err(Failure::Input)?,
        },
    }
    log_file::tell("slurmdbd", &remarks);
    Ok(())
}

fn write(output: impl Write, log: &Log) -> io::Result<()> {
    swf::write(BufWriter::new(output), &log.header, &log.records)
}

/// Whether the log could be written there, so that this is known before slurmdbd is asked.
fn check_folder(path: &Path) -> anyhow::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    ensure!(folder.is_dir(), "there is no folder {} for {}", folder.display(), path.display());
    Ok(())
}

/// Writes the log beside the file, which it then replaces.
fn write_file(path: &Path, log: &Log) -> anyhow::Result<()> {
    let is_replaceable = fs::symlink_metadata(path).map_or(true, |found| found.is_file());
    if !is_replaceable {
        // A device, a pipe or a link stays what it is.
        return Ok(write(File::create(path)?, log)?);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let beside = path.with_file_name(name);
    let written = File::create_new(&beside).and_then(|file| write(file, log)).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    Ok(written?)
}
