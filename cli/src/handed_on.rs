//! Commands that another host answers: `[api] command` of queuecast.toml runs them there.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;

use anyhow::anyhow;
use command_parts::failure::Failure;

use crate::api::is_here;
use crate::installation::Installation;

/// The command that runs `queuecast` where the daemon is, for a command line that asks the daemon;
/// `None` where the daemon is here, or nobody says how to reach it.
pub(crate) fn way(installation: &Installation) -> Option<&[String]> {
    let words = installation.api.command.as_slice();
    (!words.is_empty() && !is_here(&installation.api_socket())).then_some(words)
}

/// Becomes the command with these arguments of `queuecast`: input, output and exit status are its
/// own. Returns only where it can't be run.
pub(crate) fn run(words: &[String], arguments: impl Iterator<Item = OsString>) -> Failure {
    match elsewhere::prepared(words, arguments) {
        Ok(mut command) => {
            let error = command.exec();
            let program = command.get_program().display();
            Failure::Input(anyhow!(error).context(format!("[api] command: {program}")))
        }
        Err(error) => Failure::Input(error.context("[api] command")),
    }
}
