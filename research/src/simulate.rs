//! `queuecast simulate`: a workload log under a scheduler, with a policy in front of it.

mod block;
mod files;
mod log;
mod not_modelled;
mod picture;
mod policy;
mod progress;
mod report;
mod scheduler;
mod text;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use command_parts::failure::Failure;
use command_parts::log_file;
use command_parts::output::{self, FormatArguments};
use command_parts::plot;
use simulator::engine::{Block, Machine, simulate};

use self::files::FileArguments;
use self::log::LogArguments;
pub use self::not_modelled::{NotModelled, tell as tell_not_modelled};
use self::picture::Window;
use self::policy::PolicyArguments;
use self::report::{Report, Told};
use self::scheduler::SchedulerArguments;
pub use self::scheduler::SiteSettings;

const EXAMPLES: &str = "Examples:
  queuecast simulate KTH-SP2-1996-2.1-cln.swf.xz --scheduler easy
  queuecast simulate log.swf --processors 128 --estimates last-two --candidates shortest --plot easy.svg
  queuecast simulate log.swf --scheduler slurm --slurm-conf /etc/slurm/slurm.conf --format json
  queuecast simulate log.swf --scheduler conservative --policy molding --adoption 0.5";

/// Replay a workload log under a scheduler, with a policy in front of it.
///
/// Every job of the log is submitted when its user submitted it, on the processors that it had.
/// What the log says of waits is not used: waits are what is found.
///
/// The means (mean_wait_s, mean_response_s, mean_bounded_slowdown) are over the jobs that a steady
/// machine has run: without the first hundredth to finish, none that finishes after the last
/// submission, and none of one second on one processor. The distributions are over all jobs.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    log: LogArguments,

    /// Processors that are not for jobs for a time, as in an advance reservation:
    /// START-END:PROCESSORS, counted from the first submission, as in 24h-2d:64. May be given
    /// several times.
    #[arg(long = "block", value_name = "BLOCK", value_parser = block::block)]
    blocks: Vec<Block>,

    #[command(flatten)]
    scheduler: SchedulerArguments,

    #[command(flatten)]
    policy: PolicyArguments,

    #[command(flatten)]
    files: FileArguments,

    /// Also draw utilisation and queue over time, waits by job size, the distribution of slowdown
    /// and a Gantt chart into this file, which has to end in .svg or .png.
    #[arg(long, value_name = "FILE", value_parser = plot::file)]
    plot: Option<PathBuf>,

    /// What the Gantt chart shows, counted from the first submission, as in 24h-2d [default: the
    /// day around the longest queue].
    #[arg(long, value_name = "FROM-TO", value_parser = picture::window, requires = "plot")]
    window: Option<Window>,

    #[command(flatten)]
    format: FormatArguments,
}

/// Runs the command.
///
/// # Errors
///
/// A log or a slurm.conf that can't be read, and a file that can't be written.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let report = simulated(arguments).map_err(Failure::Input)?;
    output::print(arguments.format, &report, text::text)?;
    log_file::tell(&report.log, &report.told.remarks);
    not_modelled::tell(&report.told.not_modelled);
    Ok(ExitCode::SUCCESS)
}

fn simulated(arguments: &Arguments) -> anyhow::Result<Report> {
    let started = Instant::now();
    plot::check_folder(arguments.plot.as_deref())?;
    let source = arguments.log.source();
    let (workload, remarks) = arguments.log.read(arguments.policy.decides())?;
    let begin = workload.jobs.first().map(|job| job.submit).unwrap_or_default();
    let machine = Machine { processors: workload.processors, blocks: block::from(begin, &arguments.blocks) };
    let (mut scheduler, not_modelled) = arguments.scheduler.scheduler(&workload)?;
    let policy = arguments.policy.policy(&workload.jobs, workload.processors);
    let mut policy = progress::Shown::new(workload.jobs.len(), policy);
    let records = simulate(&workload.jobs, &machine, &mut scheduler, &mut policy).with_context(|| source.clone())?;
    drop(policy);
    let names = (arguments.scheduler.name(), arguments.policy.name());
    let report = Report::of(source, names, &workload, &records, Told { remarks, not_modelled }, started);
    arguments.files.write(Path::new(&report.log), &workload, &records)?;
    if let Some(path) = &arguments.plot {
        picture::draw(path, &report, &workload.jobs, &records, arguments.window)?;
    }
    Ok(report)
}
