//! The `queuecast` of another host or cluster, which a command of queuecast.toml runs there: `[api]
//! command` on the host of the daemon, `[clusters.NAME] command` on another cluster.

pub mod process;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use anyhow::Context;

/// Has the command answer where it is run, so that none is handed on and on.
pub const HERE: &str = "--here";

/// The command, with arguments in quotes where a shell would else read more than a word: as ssh,
/// it hands them to a shell.
///
/// # Errors
/// There are no words, or an argument has a byte 0.
pub fn prepared(words: &[String], arguments: impl Iterator<Item = OsString>) -> anyhow::Result<Command> {
    let (program, own) = words.split_first().context("there is no command")?;
    let mut command = Command::new(program);
    command.args(own).arg(HERE);
    for argument in arguments {
        let quoted = shlex::bytes::try_quote(argument.as_bytes()).with_context(|| format!("{argument:?}"))?;
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
