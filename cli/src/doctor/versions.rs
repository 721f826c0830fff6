//! Which Slurm is installed, which one runs, and which one this build is for.

use std::collections::BTreeMap;

use slurm_sys::client::{ClientError, library};
use slurm_sys::version::Version;

use super::answer::Answer;
use super::programs::{self, Programs};
use super::report::Checks;
use super::role::Role;
use super::shared_object;
use super::slurm::Slurm;

/// A version of Slurm, and who says that it is the one that counts.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) version: Version,
    pub(super) by: String,
}

/// The Slurm that plugins have to fit, as far as it is known.
#[derive(Debug, Clone, Default)]
pub(super) struct Targets {
    /// slurmctld, as it will be after its next start.
    pub(super) slurmctld: Option<Known>,
    /// What loads SPANK plugins here: slurmd on a node, elsewhere the commands.
    pub(super) spank: Option<Known>,
}

/// Finds which Slurm plugins have to fit: the one that the caller names, else the installed one,
/// else the one that runs.
pub(super) fn targets(given: Option<Version>, programs: &Programs, slurm: &Slurm, answer: Option<&Answer>, role: Role) -> Targets {
    if let Some(version) = given {
        let known = Some(Known { version, by: "the Slurm named by --slurm-version".to_owned() });
        return Targets { slurmctld: known.clone(), spank: known };
    }
    let program = |name: &str| programs.version(name).map(|version| Known { version, by: format!("the installed {name}") });
    let own_plugins = || {
        let (path, version) = shared_object::version_of_slurm(&slurm.plugin_directories)?;
        Some(Known { version, by: format!("Slurm's own {}", path.display()) })
    };
    let running = || {
        let version = Version::find(&answer?.version)?;
        Some(Known { version, by: "the running slurmctld".to_owned() })
    };
    let commands = || program("scontrol").or_else(own_plugins);
    Targets {
        slurmctld: program("slurmctld").or_else(running).or_else(own_plugins),
        spank: match role {
            Role::Node => program("slurmd").or_else(commands),
            Role::Controller | Role::Login => commands().or_else(|| program("slurmd")),
        },
    }
}

/// Checks which Slurm is installed and runs, and whether this build is for it.
pub(super) fn check(
    programs: &Programs,
    slurm: &Slurm,
    targets: &Targets,
    slurmctld_process: Option<u32>,
    answer: Option<&Result<Answer, String>>,
    role: Role,
) -> Checks {
    let mut checks = Checks::of("Versions");
    installed(&mut checks, programs);
    built_for(&mut checks, targets);
    libslurm(&mut checks, slurm, role);
    match answer {
        None => {}
        Some(Ok(answer)) => {
            running(&mut checks, programs, &answer.version);
            nodes(&mut checks, answer);
        }
        Some(Err(reason)) => no_answer(&mut checks, slurm, slurmctld_process, reason),
    }
    checks
}

fn installed(checks: &mut Checks, programs: &Programs) {
    const NAME: &str = "installed Slurm";
    if programs.all().is_empty() {
        checks.not_checked(NAME, "none of slurmctld, slurmd and scontrol is installed in PATH or the usual directories");
        return;
    }
    let said = |program: &programs::Program| match &program.version {
        Ok(version) => format!("{} {version}", program.name),
        Err(words) => format!("{} does not say its version: {words}", program.name),
    };
    let found = programs.all().iter().map(said).collect::<Vec<_>>().join(", ");
    let mut versions = programs.all().iter().filter_map(|program| program.version.as_ref().ok());
    let first = versions.next();
    if versions.any(|version| Some(version) != first) {
        checks.warning(
            NAME,
            found,
            "install all of Slurm's programs in one version; the plugins fit only the one that they were built for",
        );
    } else {
        checks.ok(NAME, found);
    }
}

fn built_for(checks: &mut Checks, targets: &Targets) {
    const NAME: &str = "this build";
    let built_for = Version::BUILT_FOR;
    match targets.slurmctld.as_ref().or(targets.spank.as_ref()) {
        Some(known) if known.version.release() != built_for.release() => {
            let (major, minor) = known.version.release();
            checks.failed(
                NAME,
                format!("built for Slurm {built_for}, but {} is {}", known.by, known.version),
                format!("install the queuecast that was built for Slurm {major}.{minor:02}: this one's queuecastd cannot talk to it"),
            );
        }
        Some(_) => checks.ok(NAME, format!("built for Slurm {built_for}")),
        None => checks.not_checked(NAME, format!("built for Slurm {built_for}; no Slurm is known here to hold that against")),
    }
}

fn libslurm(checks: &mut Checks, slurm: &Slurm, role: Role) {
    const NAME: &str = "libslurm";
    let file = library::FILE_NAME;
    match &slurm.libslurm {
        Ok(()) => checks.ok(NAME, format!("{file} can be used")),
        // No part of queuecast on a node needs libslurm.
        Err(ClientError::Library { message }) if role == Role::Node => checks.not_checked(NAME, format!("not needed here ({message})")),
        Err(ClientError::Library { message }) => checks.failed(
            NAME,
            message,
            format!(
                "install Slurm's library ({file}), or the queuecast that was built for the Slurm that is installed; queuecastd needs it"
            ),
        ),
        Err(error) => checks.failed(NAME, error.to_string(), "make slurm.conf good, or set SLURM_CONF to the right one"),
    }
}

fn running(checks: &mut Checks, programs: &Programs, running: &str) {
    const NAME: &str = "slurmctld";
    match (Version::find(running), programs.version("slurmctld")) {
        (Some(version), Some(installed)) if version != installed => checks.warning(
            NAME,
            format!("Slurm {version} runs, and {installed} is installed"),
            "restart slurmctld once the plugins fit the installed version (`systemctl restart slurmctld`)",
        ),
        _ => checks.ok(NAME, format!("Slurm {running} runs")),
    }
}

fn no_answer(checks: &mut Checks, slurm: &Slurm, slurmctld_process: Option<u32>, reason: &str) {
    const NAME: &str = "slurmctld";
    match (&slurm.libslurm, slurmctld_process) {
        (Err(_), Some(process)) => checks.not_checked(NAME, format!("runs as process {process}; without libslurm it can't be asked")),
        (Err(_), None) => checks.not_checked(NAME, "without libslurm it can't be asked"),
        (Ok(()), Some(process)) => {
            checks.failed(NAME, format!("runs as process {process}, but: {reason}"), "see what slurmctld's log (SlurmctldLogFile) says");
        }
        (Ok(()), None) => {
            let advice = "start it (`systemctl start slurmctld`); where it ends again at once, the last lines of its log say why";
            checks.failed(NAME, reason, advice);
        }
    }
}

fn nodes(checks: &mut Checks, answer: &Answer) {
    const NAME: &str = "slurmd of the nodes";
    let release = Version::find(&answer.version).map(Version::release);
    let mut by_version: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut silent = Vec::new();
    for node in &answer.nodes {
        match node.version.as_deref() {
            Some(version) => by_version.entry(version).or_default().push(&node.name),
            None => silent.push(node.name.as_str()),
        }
    }
    let mut found: Vec<String> = by_version.iter().map(|(version, nodes)| format!("{} on Slurm {version}", counted(nodes.len()))).collect();
    if !silent.is_empty() {
        found.push(format!("{} not heard of yet ({})", counted(silent.len()), named(&silent)));
    }
    let found = if found.is_empty() { "no nodes".to_owned() } else { found.join(", ") };
    let other: Vec<&str> = by_version
        .iter()
        .filter(|(version, _)| Version::find(version).map(Version::release) != release)
        .flat_map(|(_, nodes)| nodes.iter().copied())
        .collect();
    if other.is_empty() {
        checks.ok(NAME, found);
    } else {
        checks.warning(
            NAME,
            format!("{found}; of another release than slurmctld: {}", named(&other)),
            "the SPANK plugin on these nodes has to be the one for their release: update Slurm and plugin there together, and see `queuecast doctor --nodes`",
        );
    }
}

fn counted(nodes: usize) -> String {
    if nodes == 1 { "1 node".to_owned() } else { format!("{nodes} nodes") }
}

/// Some names, and how many there are beside them.
fn named(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    let shown = names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(",");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}
