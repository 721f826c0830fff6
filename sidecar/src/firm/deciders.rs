//! The clusters that decide about parts of several clusters, asked by the commands of
//! `[clusters.NAME]`.

use std::collections::{BTreeMap, HashSet};
use std::thread;
use std::time::Duration;

use axum::http::StatusCode;
use crossbeam::channel::{Receiver, Sender, unbounded};
use daemon_api::{Decided, Refusal};
use elsewhere::process::{self, Silence};
use job_types::together::{Decision, Together, Token};
use slurm_conf::configuration::ClusterSettings;

use crate::api::Refused;

/// How long a cluster may take to say what it has decided.
const PATIENCE: Duration = Duration::from_secs(20);
/// How many questions are under way at the most: each has a thread and a process.
const MOST_AT_ONCE: usize = 4;

/// What another cluster has said.
#[derive(Debug)]
pub(crate) struct Heard {
    /// The number of the slot that it was asked about.
    pub(super) slot: u64,
    /// What it has decided, or why that is not known.
    pub(super) decision: Result<Decision, String>,
}

/// The clusters that decide about parts, as they are asked from here.
#[derive(Debug)]
pub(super) struct Deciders {
    sender: Sender<Heard>,
    heard: Receiver<Heard>,
    /// The slots about which a cluster is being asked.
    asking: HashSet<u64>,
}

impl Deciders {
    pub(super) fn new() -> Self {
        let (sender, heard) = unbounded();
        Self { sender, heard, asking: HashSet::new() }
    }

    /// Where answers come in.
    pub(super) fn heard(&self) -> &Receiver<Heard> {
        &self.heard
    }

    /// Takes note that a cluster has said something.
    pub(super) fn has_said(&mut self, heard: &Heard) {
        self.asking.remove(&heard.slot);
    }

    /// Has the command ask, which never keeps the room waiting. Returns whether it does.
    pub(super) fn ask(&mut self, slot: u64, token: &Token, words: Vec<String>) -> bool {
        if self.asking.len() >= MOST_AT_ONCE || !self.asking.insert(slot) {
            return false;
        }
        let (sender, token) = (self.sender.clone(), token.clone());
        let asked = thread::Builder::new().name("decision".to_owned()).spawn(move || {
            // Nobody hears it any more once the daemon ends.
            let _ = sender.send(Heard { slot, decision: asked(&words, &token) });
        });
        if asked.is_err() {
            self.asking.remove(&slot);
        }
        asked.is_ok()
    }
}

/// What a cluster says that is asked by a command.
fn asked(words: &[String], token: &Token) -> Result<Decision, String> {
    let arguments = ["reservations", "decision", &token.to_string(), "--json"].map(Into::into);
    let mut command = elsewhere::prepared(words, arguments.into_iter()).map_err(|error| format!("{error:#}"))?;
    let said = process::run(&mut command, PATIENCE).map_err(|silence| match silence {
        Silence::NotStarted(error) => format!("{}: {error}", command.get_program().display()),
        Silence::TooLong(limit) => format!("no answer within {} s", limit.as_secs()),
    })?;
    let decided = Some(&said.output).filter(|_| said.status == Some(0)).and_then(|output| serde_json::from_str::<Decided>(output).ok());
    decided
        .map(|decided| decided.decision)
        .ok_or_else(|| said.last_words().chars().filter(|letter| !letter.is_control()).take(300).collect())
}

/// Whether a part can be asked for of which another cluster decides.
///
/// # Errors
/// It is not known how that is asked.
pub(super) fn check(together: Option<&Together>, clusters: &BTreeMap<String, ClusterSettings>) -> Result<(), Refused> {
    let Some(decider) = together.and_then(|together| together.decided_by.as_ref()) else { return Ok(()) };
    if clusters.get(decider).is_some_and(|settings| !settings.command.is_empty()) {
        return Ok(());
    }
    let allowed =
        format!("this cluster can't ask {decider} what it decides: command under [clusters.{decider}] of its queuecast.toml is not set");
    Err(Refused(StatusCode::BAD_REQUEST, Refusal::of_key("decided_by", allowed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(script: &str) -> Vec<String> {
        ["/bin/sh", "-c", script].map(str::to_owned).into()
    }

    fn heard(script: &str) -> Result<Decision, String> {
        asked(&words(script), &Token::from(7))
    }

    #[test]
    fn a_cluster_s_answer_is_believed_only_where_its_command_succeeds_and_says_a_decision() {
        assert_eq!(heard(r#"echo '{"decision":"confirmed"}'"#), Ok(Decision::Confirmed));
        assert_eq!(heard(r#"echo '{"decision":"given_up"}'"#), Ok(Decision::GivenUp));
        assert_eq!(heard("echo no route >&2; exit 255"), Err("no route".to_owned()));
        assert!(heard(r#"echo '{"decision":"confirmed"}'; exit 1"#).is_err());
        assert!(heard(r#"echo '{"decision":"perhaps"}'"#).is_err());
        assert!(asked(&["/nonexistent/ssh".to_owned()], &Token::from(7)).is_err());
    }

    #[test]
    fn so_many_questions_are_under_way_and_each_slot_has_one() {
        let mut deciders = Deciders::new();
        let token = Token::from(7);
        let asked: Vec<bool> = [1, 1, 2, 3, 4, 5].map(|slot| deciders.ask(slot, &token, words("exit 1"))).into();
        assert_eq!(asked, [true, false, true, true, true, false]);
        let heard = deciders.heard().recv().unwrap();
        deciders.has_said(&heard);
        assert!(deciders.ask(5, &token, words("exit 1")));
    }

    #[test]
    fn a_part_is_refused_of_which_the_cluster_that_decides_can_not_be_asked() {
        let together = |decided_by: Option<&str>| Together { token: Token::from(7), decided_by: decided_by.map(str::to_owned) };
        let of = |command: &[&str]| {
            let command = command.iter().map(|word| (*word).to_owned()).collect();
            BTreeMap::from([("east".to_owned(), ClusterSettings { state_directory: None, command })])
        };
        assert!(check(None, &BTreeMap::new()).is_ok() && check(Some(&together(None)), &BTreeMap::new()).is_ok());
        assert!(check(Some(&together(Some("east"))), &of(&["ssh", "east", "queuecast"])).is_ok());
        for clusters in [of(&[]), BTreeMap::new()] {
            let Refused(_, refusal) = check(Some(&together(Some("east"))), &clusters).unwrap_err();
            assert_eq!(refusal.key.as_deref(), Some("decided_by"));
        }
    }
}
