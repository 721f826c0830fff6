//! queuecastd: whether it runs, and with which configuration.

use command_parts::output::{apart, moment_and_distance};
use job_types::time::UnixTime;
use predictor_core::snapshot::Snapshot;
use slurm_conf::trusted::read_owned;
use upkeep::clocks_agree;

use super::report::Checks;
use super::running;
use crate::installation::Installation;

/// The checks. `snapshot` is what it published last.
pub(super) fn check(installation: &Installation, snapshot: Option<&Snapshot<Vec<u8>>>, now: UnixTime) -> Checks {
    let mut checks = Checks::of("queuecastd");
    process(&mut checks, installation, snapshot, now);
    if let Some(snapshot) = snapshot {
        configuration(&mut checks, installation, snapshot, now);
        sources(&mut checks, snapshot, now);
        clocks(&mut checks, snapshot);
    }
    checks
}

/// It keeps its number in the file that it locks. Where it is a process that this host does not
/// show, a young snapshot tells of it.
fn process(checks: &mut Checks, installation: &Installation, snapshot: Option<&Snapshot<Vec<u8>>>, now: UnixTime) {
    const NAME: &str = "process";
    let lock = installation.directory.join("lock");
    let number = read_owned(&lock, 64).ok().and_then(|bytes| String::from_utf8_lossy(&bytes).trim().parse().ok());
    match number.filter(|&process| running::is_called(process, "queuecastd")) {
        Some(process) if running::has_been_replaced(process) == Ok(true) => checks.warning(
            NAME,
            format!("process {process} runs a queuecastd that has been replaced since"),
            "take up the installed one: `systemctl restart queuecastd`",
        ),
        Some(process) => checks.ok(NAME, format!("process {process}")),
        None if snapshot.is_some_and(|snapshot| snapshot.age(now).0 < 60) => checks.not_checked(
            NAME,
            "no process here is known to be it, but it published less than a minute ago; it may run in a container, or have just ended",
        ),
        None => checks.failed(
            NAME,
            format!("none runs on {}", installation.directory.display()),
            "start it as SlurmUser (`systemctl start queuecastd`); where it ends again, `journalctl -u queuecastd` says why",
        ),
    }
}

fn configuration(checks: &mut Checks, installation: &Installation, snapshot: &Snapshot<Vec<u8>>, now: UnixTime) {
    const NAME: &str = "its configuration";
    let provenance = snapshot.provenance();
    let loaded_at = provenance.configuration_loaded_at;
    let advice = "correct the file, then `systemctl reload queuecastd`";
    let error = provenance.configuration_error;
    if !error.is_empty() {
        // If there is no file, the defaults are in force, and the site may mean that.
        if installation.configuration_written_at.is_none() {
            return checks.warning(NAME, error, "install etc/queuecast.toml there, then `systemctl reload queuecastd`");
        }
        return checks.failed(NAME, format!("when it was last loaded: {error}"), advice);
    }
    if installation.configuration_written_at.is_some_and(|written| loaded_at.0 > 0 && written > loaded_at) {
        let found = format!("loaded {}, and written to since", moment_and_distance(loaded_at, now));
        return checks.warning(NAME, found, "take it up: `systemctl reload queuecastd`");
    }
    checks.ok(NAME, format!("loaded {}", moment_and_distance(loaded_at, now)));
}

fn sources(checks: &mut Checks, snapshot: &Snapshot<Vec<u8>>, now: UnixTime) {
    let provenance = snapshot.provenance();
    for (name, read_at, advice) in [
        ("slurmctld read", provenance.controller_read_at, "see that slurmctld runs, and what queuecastd logs"),
        (
            "slurmdbd read",
            provenance.accounting_read_at,
            "see that slurmdbd runs and knows the cluster (`sacctmgr list cluster`), and what queuecastd logs; without it nothing is learnt",
        ),
    ] {
        match read_at {
            None => checks.warning(name, "never", advice),
            Some(at) if snapshot.published_at() - at > provenance.maximum_age => {
                checks.warning(name, format!("last {}", moment_and_distance(at, now)), advice);
            }
            Some(at) => checks.ok(name, moment_and_distance(at, now)),
        }
    }
}

fn clocks(checks: &mut Checks, snapshot: &Snapshot<Vec<u8>>) {
    const NAME: &str = "slurmctld's clock";
    let ahead = snapshot.provenance().controller_ahead;
    if clocks_agree(Some(ahead)) {
        return checks.ok(NAME, "the daemon's as well");
    }
    let found = format!("{} the daemon's; no job is ended as late meanwhile", apart(ahead));
    checks.failed(NAME, found, "let the machines of slurmctld and queuecastd take their time from one server (`timedatectl`)");
}
