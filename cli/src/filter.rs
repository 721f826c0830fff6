//! `queuecast filter`: the site's own rules about submissions.

mod check;
mod explain;
mod load;
mod people;
mod reasons;
mod recorded;
mod replay;
mod scan;
mod shadow;
mod sources;
mod test;

use clap::{Args, Subcommand};
use command_parts::failure::Failure;
use std::process::ExitCode;

/// Check, test and explain the site's own rules about submissions, and put them in force.
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
      the same of one file, before it is put where the others are
  queuecast filter test
      whether the rules do what the tests beside them expect
  queuecast filter explain -- sbatch -p gpu --gres=gpu:2 job.sh
      which rules match such a submission, and what each does
  queuecast filter scan --rules new.toml
      which jobs of the queue and of the last thirty days such rules would touch or refuse
  queuecast filter shadow --rules new.toml
      what they would do otherwise than the rules in force
  queuecast filter load
      put the site's rules in force, and print what changes";

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Arguments),
    Test(test::Arguments),
    Explain(Box<explain::Arguments>),
    Scan(scan::Arguments),
    Shadow(Box<shadow::Arguments>),
    Load(load::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        Command::Check(arguments) => check::run(arguments),
        Command::Test(arguments) => test::run(arguments),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Scan(arguments) => scan::run(arguments),
        Command::Shadow(arguments) => shadow::run(arguments),
        Command::Load(arguments) => load::run(arguments),
    }
}
