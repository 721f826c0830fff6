//! queuecast: status, predict, probe, reserve, reservations, queue, explain, report, doctor,
//! assess, evaluate, simulate, filter, import-swf, export-swf.

mod api;
mod asked;
mod assess;
mod cluster;
mod columns;
mod described;
mod doctor;
mod documentation;
mod exit_status;
mod expected;
mod explain;
mod export_swf;
mod filter;
mod genuine;
mod grid;
mod guard;
mod handed_on;
mod import_swf;
mod installation;
mod job_name;
mod live;
mod no_snapshot;
mod policy_report;
mod predict;
mod probe;
mod queue;
mod report;
mod reservations;
mod reserve;
mod selection;
mod slot;
mod slurm_release;
mod slurmdbd_log;
mod status;
mod user;
mod view;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use command_parts::failure::Failure;
use research::{evaluate, simulate};

use crate::installation::Installation;

/// Forecasts of a Slurm queue, and what is made of them.
///
/// Exit status: 0 done; 1 the answer is no (refused, or a check failed); 2 wrong usage or
/// unreadable input; 3 there is no snapshot that can be read, or queuecastd does not answer; 4
/// slurmctld does not answer; 5 slurmdbd does not answer.
#[derive(Debug, Parser)]
#[command(name = "queuecast", version, max_term_width = 110, after_long_help = EXAMPLES)]
struct CommandLine {
    /// Answer on this host, and do not hand the command on to the host of queuecastd ([api] command
    /// of queuecast.toml).
    #[arg(long)]
    here: bool,

    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  queuecast status
      does it work
  queuecast predict -p batch -N 4 -t 2:00:00
      when would such a job start, and how long would it run
  queuecast explain 1234
      what was decided about job 1234, and what became of it";

#[derive(Debug, Subcommand)]
enum Command {
    Status(status::Arguments),
    Predict(Box<predict::Arguments>),
    Probe(Box<probe::Arguments>),
    Reserve(Box<reserve::Arguments>),
    Reservations(reservations::Arguments),
    Queue(queue::Arguments),
    Explain(explain::Arguments),
    Report(report::Arguments),
    Doctor(Box<doctor::Arguments>),
    Assess(Box<assess::Arguments>),
    Evaluate(Box<evaluate::Arguments>),
    Simulate(Box<simulate::Arguments>),
    Filter(filter::Arguments),
    #[command(name = "import-swf")]
    ImportSwf(Box<import_swf::Arguments>),
    #[command(name = "export-swf")]
    ExportSwf(export_swf::Arguments),
    #[command(hide = true)]
    Documentation(documentation::Arguments),
}

fn main() -> ExitCode {
    let CommandLine { here, command } = CommandLine::parse();
    let asked = command.asked().filter(|_installation| !here);
    let outcome = match asked.as_ref().and_then(handed_on::way) {
        Some(words) => Err(handed_on::run(words, std::env::args_os().skip(1))),
        None => command.run(),
    };
    outcome.unwrap_or_else(|failure| exit_status::report(&failure))
}

impl Command {
    /// The installation whose daemon is asked for what it alone can answer.
    fn asked(&self) -> Option<Installation> {
        match self {
            Command::Probe(arguments) => arguments.asked(),
            Command::Reserve(arguments) => arguments.asked(),
            Command::Reservations(arguments) => Some(arguments.asked()),
            _ => None,
        }
    }

    fn run(&self) -> Result<ExitCode, Failure> {
        match self {
            Command::Status(arguments) => status::run(arguments),
            Command::Predict(arguments) => predict::run(arguments),
            Command::Probe(arguments) => probe::run(arguments),
            Command::Reserve(arguments) => reserve::run(arguments),
            Command::Reservations(arguments) => reservations::run(arguments),
            Command::Queue(arguments) => queue::run(arguments),
            Command::Explain(arguments) => explain::run(arguments),
            Command::Report(arguments) => report::run(arguments),
            Command::Doctor(arguments) => doctor::run(arguments),
            Command::Assess(arguments) => assess::run(arguments),
            Command::Evaluate(arguments) => evaluate::run(arguments),
            Command::Simulate(arguments) => simulate::run(arguments),
            Command::Filter(arguments) => filter::run(arguments),
            Command::ImportSwf(arguments) => import_swf::run(arguments).map(|()| ExitCode::SUCCESS),
            Command::ExportSwf(arguments) => export_swf::run(arguments).map(|()| ExitCode::SUCCESS),
            Command::Documentation(arguments) => documentation::run(arguments, CommandLine::command()),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::CommandLine::command().debug_assert();
    }
}
