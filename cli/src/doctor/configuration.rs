//! queuecast.toml: found, read, and true of this cluster.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use slurm_conf::{Configuration, ConfigurationError};

use super::answer::Answer;
use super::permissions::{self, SlurmUser};
use super::report::Checks;
use super::role::Role;
use super::slurm::Slurm;
use crate::installation::Installation;

/// Checks slurm.conf and the configuration of queuecast.
pub(super) fn check(installation: &Installation, slurm: &Slurm, answer: Option<&Answer>, role: Role) -> Checks {
    let mut checks = Checks::of("Configuration");
    slurm_conf(&mut checks, slurm);
    let path = &installation.configuration_path;
    match (Configuration::load(path), role) {
        (Err(ConfigurationError::Missing { .. }), Role::Node) => {
            checks.not_checked("queuecast.toml", format!("there is no {}; it is not needed here", path.display()));
        }
        (Err(ConfigurationError::Missing { .. }), _) => checks.warning(
            "queuecast.toml",
            format!("there is no {}: queuecastd and `queuecast` take the defaults, and the plugin leaves all jobs alone", path.display()),
            "install etc/queuecast.toml there, or name another place in QUEUECAST_CONF, for slurmctld and queuecastd alike",
        ),
        (Err(error), _) => {
            checks.failed(
                "queuecast.toml",
                error.to_string(),
                "correct it, see that `queuecastd --check` is content, and `systemctl reload queuecastd`",
            );
            permissions_of(&mut checks, path, slurm.slurm_user.as_ref(), role);
        }
        (Ok(configuration), _) => {
            checks.ok("queuecast.toml", format!("{} is good", path.display()));
            permissions_of(&mut checks, path, slurm.slurm_user.as_ref(), role);
            partitions(&mut checks, &configuration, slurm, answer);
        }
    }
    checks
}

fn slurm_conf(checks: &mut Checks, slurm: &Slurm) {
    const NAME: &str = "slurm.conf";
    match (&slurm.path, slurm.problems.first()) {
        (None, _) => checks.warning(
            NAME,
            "SLURM_CONF is not set, and there is none in /etc/slurm, /usr/local/etc or /run/slurm/conf",
            "set SLURM_CONF to the file that Slurm's own commands use here",
        ),
        (Some(_), Some(problem)) => {
            checks.failed(NAME, problem, "make it readable, or set SLURM_CONF to the file that Slurm's own commands use here")
        }
        (Some(path), None) => checks.ok(NAME, path.display().to_string()),
    }
}

fn permissions_of(checks: &mut Checks, path: &Path, slurm_user: Option<&SlurmUser>, role: Role) {
    const NAME: &str = "its permissions";
    for place in [Some(path), path.parent()].into_iter().flatten() {
        let Ok(metadata) = fs::metadata(place) else { continue };
        if let Some(reason) = permissions::distrust(&metadata, slurm_user) {
            let found = format!("{}: {reason}; it says what slurmctld's plugin takes its decisions from", place.display());
            return checks.failed(NAME, found, permissions::repair(place, "root"));
        }
    }
    if let Some((user, obstacle)) = slurm_user.and_then(|user| Some((user, user.obstacle_to_reading(path)?))) {
        let found = format!("{}: SlurmUser ({}) may not read it, so queuecastd and the plugin can't", obstacle.display(), user.name);
        return checks.failed(NAME, found, format!("`chmod a+rX {}`", obstacle.display()));
    }
    if role != Role::Node && fs::metadata(path).is_ok_and(|metadata| metadata.mode() & 0o004 == 0) {
        let found =
            format!("{}: users may not read it, so that their `queuecast predict` looks in the default state directory", path.display());
        return checks.warning(NAME, found, format!("`chmod a+r {}`", path.display()));
    }
    checks.ok(NAME, "readable, and only root and SlurmUser may write it");
}

fn partitions(checks: &mut Checks, configuration: &Configuration, slurm: &Slurm, answer: Option<&Answer>) {
    const NAME: &str = "partitions in it";
    let named: Vec<&str> = configuration.policy.partitions.keys().map(String::as_str).collect();
    if named.is_empty() {
        return;
    }
    let (there, by): (BTreeSet<&str>, &str) = match answer {
        Some(answer) => (answer.partitions.iter().map(String::as_str).collect(), "slurmctld"),
        None => (slurm.partitions.iter().map(String::as_str).collect(), "slurm.conf"),
    };
    if there.is_empty() {
        return checks.not_checked(NAME, "neither slurmctld nor slurm.conf tells the partitions");
    }
    let unknown: Vec<&str> = named.iter().copied().filter(|name| !there.contains(name)).collect();
    if unknown.is_empty() {
        checks.ok(NAME, format!("{by} knows {}", named.join(", ")));
    } else {
        let there = there.into_iter().collect::<Vec<_>>().join(", ");
        let found = format!("[policy.partition.{}]: {by} has no such partition; it has {there}", unknown.join("], [policy.partition."));
        checks.warning(NAME, found, "correct the names in queuecast.toml: what stands under them holds nowhere");
    }
}
