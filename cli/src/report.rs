//! `queuecast report`: what became of jobs on this cluster, from slurmdbd's records, and what the
//! guard found by replaying them.

mod class;
mod deadlines;
mod guard;
mod interval;
mod kept;
pub(crate) mod past;
mod records;
mod reliability;
mod reservations;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use command_parts::failure::Failure;

/// Hold what was promised on this cluster against what happened, from slurmdbd's records, and show
/// what the guard found of each policy by replaying the last weeks.
///
/// Exit status: 0 if there is an answer; 2 for wrong usage or a file that can't be read; 4 where
/// Slurm cannot be asked at all; 5 where slurmdbd does not answer.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

const EXAMPLES: &str = "\
Examples:
  queuecast report reservations --since now-90days
      how often virtual reservations were kept, and what they cost
  queuecast report deadlines --since now-90days
      whether jobs that were admitted with deadlines were done in time
  queuecast report guard
      which policies pay here, and which are held back because they don't";

#[derive(Debug, Subcommand)]
enum What {
    Reservations(reservations::Arguments),
    Deadlines(deadlines::Arguments),
    Guard(guard::Arguments),
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.what {
        What::Reservations(arguments) => reservations::run(arguments),
        What::Deadlines(arguments) => deadlines::run(arguments),
        What::Guard(arguments) => guard::run(arguments),
    }
}
