//! The plugin inside slurmctld: whether slurmctld will take it, and whether it has.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use super::permissions;
use super::report::Checks;
use super::running;
use super::shared_object::PluginFile;
use super::slurm::Slurm;
use super::versions::Known;

/// The plugin's file name: slurmctld makes it from `job_submit/queuecast`.
pub(super) const FILE_NAME: &str = "job_submit_queuecast.so";
const KIND: &str = "job_submit/queuecast";

/// A file of the plugin's name, in the order of PluginDir.
type Candidate = (PathBuf, Result<PluginFile, String>);

/// Checks the plugins of queuecast that Slurm loads.
pub(super) fn check(slurm: &Slurm, target: Option<&Known>, slurmctld_process: Option<u32>) -> Checks {
    let mut checks = Checks::of("Plugin inside slurmctld");
    listed(&mut checks, slurm);
    let candidates: Vec<Candidate> = slurm
        .plugin_directories
        .iter()
        .map(|directory| directory.join(FILE_NAME))
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), PluginFile::read(&path)))
        .collect();
    let in_force = file(&mut checks, slurm, target, &candidates);
    copies(&mut checks, &candidates, in_force.as_ref());
    if let Some(path) = in_force.as_ref().or_else(|| candidates.first().map(|(path, _)| path)) {
        permissions::check_plugin(&mut checks, path, slurm.slurm_user.as_ref(), "whoever can write it runs as slurmctld");
    }
    in_use(&mut checks, slurm, slurmctld_process, in_force.as_ref());
    checks
}

fn listed(checks: &mut Checks, slurm: &Slurm) {
    const NAME: &str = "JobSubmitPlugins";
    if slurm.path.is_none() && slurm.libslurm.is_err() {
        return checks.not_checked(NAME, "there is no slurm.conf");
    }
    let Some(place) = slurm.place_of_queuecast() else {
        let advice = "add queuecast to JobSubmitPlugins in slurm.conf once its plugin is found and fits, and restart slurmctld";
        let list = slurm.job_submit_plugins.join(",");
        let found =
            if list.is_empty() { "empty: no submission is shown to queuecast".to_owned() } else { format!("{list}: without queuecast") };
        return checks.warning(NAME, found, advice);
    };
    let names = |plugins: &[String]| plugins.join(", ");
    let before = slurm.job_submit_plugins.get(..place).unwrap_or_default();
    let behind = slurm.job_submit_plugins.get(place + 1..).unwrap_or_default();
    let order = match (before.is_empty(), behind.is_empty()) {
        (true, true) => String::new(),
        (false, true) => format!("; {} runs before it, and queuecast sees what that wrote", names(before)),
        (true, false) => format!("; {} runs behind it, and can change what queuecast wrote", names(behind)),
        (false, false) => format!("; {} runs before it, {} behind it", names(before), names(behind)),
    };
    checks.ok(NAME, format!("queuecast is listed{order}"));
}

/// Returns the file that slurmctld takes: the first that fits (`plugin_load_and_link` in
/// src/common/plugin.c).
fn file(checks: &mut Checks, slurm: &Slurm, target: Option<&Known>, candidates: &[Candidate]) -> Option<PathBuf> {
    const NAME: &str = "plugin";
    let is_listed = slurm.place_of_queuecast().is_some();
    let consequence = if is_listed { "slurmctld refuses it and does not start" } else { "slurmctld would refuse it and not start" };
    let directories = slurm.plugin_directories.iter().map(|directory| directory.display().to_string()).collect::<Vec<_>>().join(":");
    let Some(target) = target else {
        let found = candidates.first().map(|(path, _)| path.display().to_string()).unwrap_or_else(|| format!("no {FILE_NAME}"));
        checks.not_checked(NAME, format!("{found}: no Slurm is known here to hold its version against; name one with --slurm-version"));
        return None;
    };
    let fits = |candidate: &&Candidate| candidate.1.as_ref().is_ok_and(|plugin| plugin.kind == KIND && plugin.version == target.version);
    if let Some((path, _)) = candidates.iter().find(fits) {
        checks.ok(NAME, format!("{} is for Slurm {}, as is {}", path.display(), target.version, target.by));
        return Some(path.clone());
    }
    let wanted = format!("install queuecast-plugins-slurm-{0}, or build the plugins against the headers of Slurm {0}", target.version);
    let or_not = if is_listed { ", or take queuecast out of JobSubmitPlugins, before slurmctld is restarted" } else { "" };
    match candidates.first() {
        None if slurm.plugin_directories.is_empty() => checks.not_checked(NAME, "no PluginDir is known here"),
        None if is_listed => {
            checks.failed(NAME, format!("no {FILE_NAME} in {directories}: slurmctld does not start"), format!("{wanted}{or_not}"));
        }
        None => checks.warning(NAME, format!("no {FILE_NAME} in {directories}"), wanted),
        Some((path, Err(reason))) => {
            checks.failed(NAME, format!("{}: {reason}; {consequence}", path.display()), format!("{wanted}{or_not}"));
        }
        Some((path, Ok(plugin))) if plugin.kind != KIND => {
            let found = format!("{} is the plugin {}, not {KIND}; {consequence}", path.display(), plugin.kind);
            checks.failed(NAME, found, format!("{wanted}{or_not}"));
        }
        Some((path, Ok(plugin))) => {
            let found = format!(
                "{} was built for Slurm {}, but {} is {}; {consequence}",
                path.display(),
                plugin.version,
                target.by,
                target.version
            );
            checks.failed(NAME, found, format!("{wanted}{or_not}"));
        }
    }
    None
}

fn copies(checks: &mut Checks, candidates: &[Candidate], in_force: Option<&PathBuf>) {
    if candidates.len() < 2 {
        return;
    }
    let described = candidates.iter().map(|(path, read)| match read {
        Ok(plugin) => format!("{} ({})", path.display(), plugin.version),
        Err(_) => format!("{} (no plugin)", path.display()),
    });
    let counts = in_force.map_or("none of them fits".to_owned(), |path| format!("{} counts, the first that fits", path.display()));
    checks.warning("copies", format!("{}: {counts}", described.collect::<Vec<_>>().join(", ")), "remove the ones that are not wanted");
}

fn in_use(checks: &mut Checks, slurm: &Slurm, slurmctld_process: Option<u32>, in_force: Option<&PathBuf>) {
    const NAME: &str = "plugin in use";
    let Some(process) = slurmctld_process else { return checks.not_checked(NAME, "slurmctld does not run here") };
    let mapped = match running::mapped(process, FILE_NAME) {
        Ok(mapped) => mapped,
        Err(reason) => return checks.not_checked(NAME, format!("{reason}; run it as root")),
    };
    let restart = "restart slurmctld (`systemctl restart slurmctld`); jobs go on meanwhile";
    if let Some(old) = mapped.iter().find(|mapped| mapped.is_gone) {
        let found = format!("slurmctld (process {process}) has a {} loaded that has been replaced or removed since", old.path.display());
        return checks.warning(NAME, found, restart);
    }
    let inode = |path: &PathBuf| fs::metadata(path).map(|metadata| metadata.ino()).ok();
    match (mapped.first(), in_force) {
        (None, _) if slurm.place_of_queuecast().is_some() => {
            checks.warning(NAME, format!("slurmctld (process {process}) was started before queuecast was listed"), restart);
        }
        (None, _) => checks.not_checked(NAME, "queuecast is not listed in JobSubmitPlugins"),
        (Some(loaded), Some(in_force)) if inode(in_force) != Some(loaded.inode) => {
            let found = format!("slurmctld (process {process}) has {} loaded, and will take {}", loaded.path.display(), in_force.display());
            checks.warning(NAME, found, restart);
        }
        (Some(loaded), _) => checks.ok(NAME, format!("slurmctld (process {process}) has {} loaded", loaded.path.display())),
    }
}
