//! Slurm's own commands, run as their user would run them.

use std::ffi::OsString;
use std::process::{Command, Output, Stdio};

use anyhow::Context;

/// Runs one of Slurm's commands. It reads nothing from here: a script that came from standard input
/// could be read once only.
///
/// # Errors
/// The command can't be run.
pub(super) fn run<'a>(program: &str, arguments: impl Iterator<Item = &'a OsString>) -> anyhow::Result<Output> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    command.output().with_context(|| format!("cannot run {program}"))
}

/// What a command said on its standard error.
pub(super) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim_end().to_owned()
}
