//! `queuecast filter`: the site's own rules about submissions.

mod check;

use clap::{Args, Subcommand};
use std::process::ExitCode;

use crate::failure::Failure;

/// Check the site's own rules about submissions.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  queuecast filter check
      whether the site's rules can be used, and what is wrong with them
  queuecast filter check rules.d/gpu.toml
      the same of one file, before it is put where the others are";

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        Command::Check(arguments) => check::run(arguments),
    }
}
