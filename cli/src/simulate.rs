//! `queuecast simulate`: a workload log under a scheduler, with a policy in front of it.

mod log;
mod progress;
mod report;
mod scheduler;
mod text;

use std::num::NonZeroU32;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use simulator::engine::{Machine, simulate};

use self::log::LogArguments;
use self::report::Report;
use self::scheduler::SchedulerArguments;
use crate::Format;
use crate::failure::Failure;
use crate::output;

/// Replay a workload log under a scheduler, with a policy in front of it.
///
/// Every job of the log is submitted when its user submitted it, on the processors that it had. What the log says of waits is not used: waits are what is
/// found.
///
/// The means (mean_wait_s, mean_response_s, mean_bounded_slowdown) are over the jobs that a steady machine has run: without the first hundredth to finish, none
/// that finishes after the last submission, and none of one second on one processor. The distributions are over all jobs.
///
/// Examples:
///
///   queuecast simulate KTH-SP2-1996-2.1-cln.swf.xz --scheduler easy
///
///   queuecast simulate log.swf --processors 128 --scheduler easy --estimates last-two --candidates shortest --plot easy.svg
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    #[command(flatten)]
    log: LogArguments,

    /// Size of the machine [default: what the log's header says].
    #[arg(long, value_name = "N")]
    processors: Option<NonZeroU32>,

    #[command(flatten)]
    scheduler: SchedulerArguments,

    /// How to write the report.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let report = simulated(arguments).map_err(Failure::Input)?;
    output::print(arguments.format, &report, text::text)?;
    Ok(ExitCode::SUCCESS)
}

fn simulated(arguments: &Arguments) -> anyhow::Result<Report> {
    let started = Instant::now();
    let workload = arguments.log.read(arguments.processors.map(NonZeroU32::get))?;
    let machine = Machine::new(workload.processors);
    let mut scheduler = arguments.scheduler.scheduler();
    let source = arguments.log.source();
    let mut policy = progress::Shown::new(workload.jobs.len(), simulator::engine::policy::AsSubmitted);
    let records = simulate(&workload.jobs, &machine, &mut scheduler, &mut policy).with_context(|| source.clone())?;
    Ok(Report::of(source, arguments.scheduler.name(), &workload, &records, started.elapsed()))
}
