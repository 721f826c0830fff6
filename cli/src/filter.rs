//! `queuecast filter`: the site's own rules about submissions.

mod check;

use clap::{Args, Subcommand};
use std::process::ExitCode;

use crate::failure::Failure;

/// Check the site's own rules about submissions.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        Command::Check(arguments) => check::run(arguments),
    }
}
