//! One cluster asked, by its command.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::slot::shown;
use elsewhere::process::{self, Said, Silence};

/// How a cluster is asked.
#[derive(Debug)]
pub(crate) enum Way {
    /// By this program, on this host, with these arguments besides.
    Here { program: PathBuf, more: Vec<OsString> },
    /// By the words of a command that runs `queuecast` there.
    Command(Vec<String>),
}

/// What came of asking a cluster.
#[derive(Debug)]
pub(crate) enum Heard {
    /// The command has ended.
    Said(Said),
    /// It could not be started: nothing was asked.
    NotStarted(String),
    /// It has not ended in time, and was ended.
    TooLong(Duration),
}

impl Way {
    /// Runs `queuecast` there, and waits for as long for what it says.
    pub(crate) fn ask(&self, arguments: &[OsString], patience: Duration) -> Heard {
        let prepared = match self {
            Way::Here { program, more } => {
                let mut command = Command::new(program);
                command.args(arguments).args(more);
                Ok(command)
            }
            Way::Command(words) => elsewhere::prepared(words, arguments.iter().cloned()),
        };
        let mut command = match prepared {
            Ok(command) => command,
            Err(error) => return Heard::NotStarted(format!("{error:#}")),
        };
        match process::run(&mut command, patience) {
            Ok(said) => Heard::Said(said),
            Err(Silence::NotStarted(error)) => Heard::NotStarted(format!("{}: {error}", command.get_program().display())),
            Err(Silence::TooLong(limit)) => Heard::TooLong(limit),
        }
    }

    /// What stands before a command of `queuecast` for that cluster.
    pub(crate) fn typed(&self) -> String {
        match self {
            Way::Here { .. } => "queuecast".to_owned(),
            Way::Command(words) => words.join(" "),
        }
    }

    /// The command by which its user gets to a host of the cluster, where that is known: ssh, with
    /// its arguments before the program.
    pub(crate) fn login(&self) -> Option<String> {
        let Way::Command(words) = self else { return None };
        let (program, before) = words.split_last()?;
        let is_ssh = before.first().is_some_and(|first| first == "ssh" || first.ends_with("/ssh"));
        (is_ssh && before.len() > 1 && (program == "queuecast" || program.ends_with("/queuecast"))).then(|| before.join(" "))
    }
}

impl Heard {
    /// The reason for which there is no answer, for people.
    pub(crate) fn why(&self) -> String {
        match self {
            Heard::Said(Said { status: Some(0 | 1), .. }) => "its answer can't be read".to_owned(),
            Heard::Said(said) => shown(said.last_words().trim_start_matches(QUEUECAST)),
            Heard::NotStarted(why) => shown(why),
            Heard::TooLong(limit) => format!("no answer within {} s", limit.as_secs()),
        }
    }

    /// The reason for which `queuecast` there has certainly done nothing, if it says so: that it
    /// answers no, or refuses its arguments.
    pub(crate) fn refusal(&self) -> Option<String> {
        match self {
            Heard::NotStarted(why) => Some(shown(why)),
            Heard::Said(said) if matches!(said.status, Some(1 | 2)) => {
                said.last_words().strip_prefix(QUEUECAST).filter(|_| said.output.trim().is_empty()).map(shown)
            }
            _ => None,
        }
    }
}

/// What errors of `queuecast` begin with.
const QUEUECAST: &str = "queuecast: ";

#[cfg(test)]
mod tests {
    use super::*;

    fn said(status: Option<i32>, output: &str, error: &str) -> Heard {
        Heard::Said(Said { status, output: output.to_owned(), error: error.to_owned() })
    }

    #[test]
    fn only_queuecast_s_own_no_makes_it_certain_that_nothing_was_done() {
        assert_eq!(said(Some(1), "", "queuecast: too many\n").refusal().as_deref(), Some("too many"));
        assert_eq!(said(Some(2), "", "queuecast: --nodes: no\n").refusal().as_deref(), Some("--nodes: no"));
        for unknown in [
            said(Some(255), "", "Connection to east closed by remote host.\n"),
            said(Some(1), "", "Connection reset\n"),
            said(Some(3), "", "queuecast: queuecastd has not answered\n"),
            said(Some(1), "{", "queuecast: cut off\n"),
            said(None, "", ""),
            Heard::TooLong(Duration::from_secs(1)),
        ] {
            assert_eq!(unknown.refusal(), None, "{unknown:?}");
        }
    }

    #[test]
    fn a_user_gets_to_the_cluster_as_the_command_does() {
        let of = |words: &[&str]| Way::Command(words.iter().map(|word| (*word).to_owned()).collect());
        assert_eq!(of(&["ssh", "-p", "22", "east", "queuecast"]).login().as_deref(), Some("ssh -p 22 east"));
        assert_eq!(of(&["/opt/there", "east", "queuecast"]).login(), None);
        assert_eq!(of(&["ssh", "queuecast"]).login(), None);
    }

    #[test]
    fn arguments_are_words_and_what_is_silent_is_ended() {
        let here = Way::Here { program: "/bin/echo".into(), more: vec!["$(b)".into()] };
        let Heard::Said(said) = here.ask(&["a;b".into()], Duration::from_secs(10)) else { panic!("nothing") };
        assert_eq!(said.output, "a;b $(b)\n");
        let silent = Way::Here { program: "/bin/sleep".into(), more: Vec::new() };
        let heard = silent.ask(&["60".into()], Duration::from_millis(50));
        assert!(matches!(heard, Heard::TooLong(_)), "{heard:?}");
        let absent = Way::Command(vec!["/nonexistent/ssh".to_owned()]);
        assert!(matches!(absent.ask(&[], Duration::from_secs(1)), Heard::NotStarted(_)));
    }
}
