//! `queuecast documentation`: man pages and shell completions, made from the definitions of the command line, for packages.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Command, ValueEnum};
use clap_complete::Shell;

use crate::failure::Failure;

/// Write the man pages and the shell completions into a directory.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Where to: DIR/man1 and DIR/completions are made.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments, command: Command) -> Result<ExitCode, Failure> {
    write(arguments, command)
        .with_context(|| format!("cannot write documentation into {}", arguments.directory.display()))
        .map_err(Failure::Input)?;
    Ok(ExitCode::SUCCESS)
}

fn write(arguments: &Arguments, mut command: Command) -> std::io::Result<()> {
    let (pages, completions) = (arguments.directory.join("man1"), arguments.directory.join("completions"));
    fs::create_dir_all(&pages)?;
    fs::create_dir_all(&completions)?;
    clap_mangen::generate_to(command.clone(), &pages)?;
    for shell in Shell::value_variants() {
        clap_complete::generate_to(*shell, &mut command, "queuecast", &completions)?;
    }
    Ok(())
}
