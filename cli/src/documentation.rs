//! `queuecast documentation`: manual pages and shell completions of both programs, made from the
//! definitions of their command lines, and the manual page of the configuration file, made from its
//! example. For packages.

mod page;
mod settings;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Command, CommandFactory, ValueEnum};
use clap_complete::Shell;
use command_parts::failure::Failure;

use self::page::Page;

/// The daemon's program.
const DAEMON: &str = "queuecastd";

/// Write the manual pages and the shell completions into a directory.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Where to: DIR/man1, DIR/man5, DIR/man8 and DIR/completions are made.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments, command: Command) -> Result<ExitCode, Failure> {
    write(&arguments.directory, command)
        .with_context(|| format!("cannot write documentation into {}", arguments.directory.display()))
        .map_err(Failure::Input)?;
    Ok(ExitCode::SUCCESS)
}

fn write(directory: &Path, command: Command) -> io::Result<()> {
    let daemon = daemon_arguments::Arguments::command();
    let completions = directory.join("completions");
    fs::create_dir_all(&completions)?;
    for shell in Shell::value_variants() {
        clap_complete::generate_to(*shell, &mut command.clone(), "queuecast", &completions)?;
        clap_complete::generate_to(*shell, &mut daemon.clone(), DAEMON, &completions)?;
    }
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let user_pages = directory.join("man1");
    fs::create_dir_all(&user_pages)?;
    write_all(&command, &[], &user_pages)?;

    let mut daemon = daemon;
    daemon.build();
    let system_pages = directory.join("man8");
    fs::create_dir_all(&system_pages)?;
    let also = ["queuecast(1)", "queuecast-status(1)", "queuecast.toml(5)", "slurmctld(8)", "slurmdbd(8)"];
    fs::write(system_pages.join("queuecastd.8"), Page::new(&daemon, 8, None, &also.map(str::to_owned)).text()?)?;

    let format_pages = directory.join("man5");
    fs::create_dir_all(&format_pages)?;
    fs::write(format_pages.join("queuecast.toml.5"), settings::page())
}

/// Writes the page of a command and those of the commands below it. `parents` are those above it,
/// from the first.
fn write_all(command: &Command, parents: &[&Command], directory: &Path) -> io::Result<()> {
    let shown = || command.get_subcommands().filter(|below| !below.is_hide_set());
    let mut lineage = parents.to_vec();
    lineage.push(command);
    for below in shown() {
        write_all(below, &lineage, directory)?;
    }
    let first = parents.first().copied();
    let above = parents.last().map(|parent| page::name(parent)).map(|name| format!("{name}(1)"));
    let below = shown().map(|below| format!("{}(1)", page::name(below)));
    // The first page names all others; each of these names the one above it and those below.
    let rest = ["queuecastd(8)", "queuecast.toml(5)"].map(str::to_owned);
    let also: Vec<String> = above.into_iter().chain(below).chain(rest.into_iter().filter(|_| parents.is_empty())).collect();
    fs::write(directory.join(format!("{}.1", page::name(command))), Page::new(command, 1, first, &also).text()?)
}
