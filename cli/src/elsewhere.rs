//! Commands that another host answers: `[api] command` of queuecast.toml runs them there.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, anyhow};
use command_parts::failure::Failure;

use crate::api::is_here;
use crate::installation::Installation;

/// Has the command answer where it is run, so that none is handed on and on.
pub(crate) const HERE: &str = "--here";

/// The command that runs `queuecast` where the daemon is, for a command line that asks the daemon;
/// `None` where the daemon is here, or nobody says how to reach it.
pub(crate) fn way(installation: &Installation) -> Option<&[String]> {
    let words = installation.api.command.as_slice();
    (!words.is_empty() && !is_here(&installation.api_socket())).then_some(words)
}

/// Becomes the command with these arguments of `queuecast`: input, output and exit status are its
/// own. Returns only where it can't be run.
pub(crate) fn run(words: &[String], arguments: impl Iterator<Item = OsString>) -> Failure {
    match prepared(words, arguments) {
        Ok(mut command) => {
            let error = command.exec();
            let program = command.get_program().display();
            Failure::Input(anyhow!(error).context(format!("[api] command: {program}")))
        }
        Err(error) => Failure::Input(error),
    }
}

/// The command, with arguments in quotes where a shell would else read more than a word: as ssh,
/// it hands them to a shell.
pub(crate) fn prepared(words: &[String], arguments: impl Iterator<Item = OsString>) -> anyhow::Result<Command> {
    let (program, own) = words.split_first().context("[api] command: there is none")?;
    let mut command = Command::new(program);
    command.args(own).arg(HERE);
    for argument in arguments {
        let quoted = shlex::bytes::try_quote(argument.as_bytes()).with_context(|| format!("[api] command: {argument:?}"))?;
        command.arg(OsStr::from_bytes(&quoted));
    }
    Ok(command)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn arguments_reach_another_host_s_shell_as_they_are() {
        let words = ["ssh", "ctl", "queuecast"].map(str::to_owned);
        let given = ["probe", "--between", "18:00,06:00", "a b", "$(touch x)", "it's"].map(OsString::from);
        let command = prepared(&words, given.iter().cloned()).unwrap();
        let line: Vec<String> = command.get_args().skip(2).map(|word| word.to_string_lossy().into_owned()).collect();
        let read: Vec<OsString> = shlex::split(&line.join(" ")).unwrap().into_iter().map(OsString::from).collect();
        assert_eq!((read[0].as_os_str(), &read[1..]), (OsStr::new(HERE), &given[..]));
        assert!(prepared(&words, [OsString::from_vec(b"a\0".to_vec())].into_iter()).is_err());
    }
}
