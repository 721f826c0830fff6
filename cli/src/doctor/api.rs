//! The API of queuecastd for other hosts: whether the way that is configured leads there.

use std::ffi::OsString;
use std::time::Duration;

use daemon_api::{FirmSlots, RESERVATIONS};
use serde::Deserialize;
use slurm_conf::configuration::HostPort;

use super::report::Checks;
use super::role::Role;
use crate::api::{self, NotAnswered, Reach};
use crate::installation::Installation;
use crate::reservations::UNKNOWN_FIRM_SLOTS;
use elsewhere::process::{self, Silence};

/// How long the command may take: it asks slurmctld as well.
const PATIENCE: Duration = Duration::from_secs(60);

/// The checks; none where nothing is configured.
pub(super) fn check(installation: &Installation, role: Role) -> Checks {
    let mut checks = Checks::of("API for other hosts");
    if let Some(listen) = &installation.api.listen {
        by_network(&mut checks, listen);
    }
    if !installation.api.command.is_empty() {
        by_command(&mut checks, &installation.api.command, role);
    }
    checks
}

fn by_network(checks: &mut Checks, listen: &HostPort) {
    const NAME: &str = "[api] listen";
    match api::get::<FirmSlots>(&Reach::Network(listen.clone()), RESERVATIONS) {
        Ok(_) => checks.ok(NAME, format!("port {} answers, and takes a credential of this user", listen.port)),
        Err(error @ NotAnswered::Busy(_)) => checks.warning(NAME, error.to_string(), "ask again in a minute"),
        Err(error @ NotAnswered::NoCredential(_)) => {
            let advice = "munge has to be installed and to run on this host (`munge -n | unmunge`), with the key that slurmctld's host has";
            checks.failed(NAME, error.to_string(), advice);
        }
        Err(error @ NotAnswered::NotTaken(_)) => {
            let advice = "see that both hosts have one key of munge and one time, and one ClusterName in slurm.conf";
            checks.failed(NAME, error.to_string(), advice);
        }
        Err(error) => {
            let advice = "see that queuecastd was started since `listen` was set, what it logs, and that no firewall is between the hosts";
            checks.failed(NAME, error.to_string(), advice);
        }
    }
}

/// What is read of a report of `queuecast reservations`.
#[derive(Deserialize)]
struct Listed {
    notes: Vec<String>,
}

fn by_command(checks: &mut Checks, words: &[String], role: Role) {
    const NAME: &str = "[api] command";
    if role == Role::Controller {
        return checks.not_checked(NAME, "it is for hosts where queuecastd does not run");
    }
    let shown = words.join(" ");
    let advice = format!("see what `{shown} status` says, typed as a user on this host; it may ask for nothing, as a password");
    let asked = ["reservations", "--json"].map(OsString::from).into_iter();
    let said = elsewhere::prepared(words, asked).map_err(|error| error.to_string()).and_then(|mut command| {
        process::run(&mut command, PATIENCE).map_err(|silence| match silence {
            Silence::NotStarted(error) => format!("{shown}: {error}"),
            Silence::TooLong(limit) => format!("`{shown}` gave no answer within {} s", limit.as_secs()),
        })
    });
    let said = match said {
        Ok(said) => said,
        Err(found) => return checks.failed(NAME, found, advice),
    };
    match serde_json::from_str::<Listed>(&said.output) {
        Err(_) => checks.failed(NAME, format!("`{shown}` gave no answer: {}", said.last_words()), advice),
        Ok(Listed { notes }) => match notes.into_iter().find(|note| note.starts_with(UNKNOWN_FIRM_SLOTS)) {
            Some(note) => checks.failed(NAME, format!("`{shown}` runs, and queuecastd does not answer it: {note}"), advice),
            None => checks.ok(NAME, format!("`{shown}` answers")),
        },
    }
}
