//! The SPANK plugin: whether sbatch, salloc, srun and slurmstepd will load it.

use std::path::{Path, PathBuf};

use super::permissions;
use super::plugstack::{Line, Plugstack};
use super::report::Checks;
use super::role::Role;
use super::shared_object::PluginFile;
use super::slurm::Slurm;
use super::versions::Known;

/// The plugin's file name.
const FILE_NAME: &str = "spank_queuecast.so";

/// Checks the SPANK plugin and its line in plugstack.conf.
pub(super) fn check(slurm: &Slurm, stack: Option<&Plugstack>, target: Option<&Known>, role: Role) -> Checks {
    let mut checks = Checks::of("SPANK plugin");
    let (Some(stack), Some(path)) = (stack, &slurm.plugstack) else {
        checks.not_checked("plugstack.conf", "there is no slurm.conf, beside which it would be");
        return checks;
    };
    let lines: Vec<&Line> = stack.lines.iter().filter(|line| is_ours(line)).collect();
    let Some(line) = plugstack(&mut checks, stack, path, &lines, role) else { return checks };
    let file = resolve(line, slurm, target);
    if plugin(&mut checks, line, &file, target) {
        permissions::check_plugin(&mut checks, &file, slurm.slurm_user.as_ref(), "slurmstepd loads it as root");
    }
    checks
}

fn is_ours(line: &Line) -> bool {
    Path::new(&line.plugin).file_name().is_some_and(|name| name == FILE_NAME)
}

/// Returns the line that loads the plugin.
fn plugstack<'lines>(checks: &mut Checks, stack: &Plugstack, path: &Path, lines: &[&'lines Line], role: Role) -> Option<&'lines Line> {
    const NAME: &str = "plugstack.conf";
    let shown = path.display();
    for problem in &stack.problems {
        checks.warning(NAME, problem, "correct it: the plugins named there are not loaded");
    }
    let Some(line) = lines.first() else {
        let found = match stack.hash {
            Some(_) => format!("{shown} has no line for {FILE_NAME}"),
            None => format!("there is no {shown}"),
        };
        let advice = format!("add a line `optional {FILE_NAME}` (with the path, where it is not in PluginDir) to {shown}");
        // A controller hands it out only where nodes have no configuration of their own.
        match role {
            Role::Controller => {
                checks.warning(NAME, found, format!("{advice}, if users submit here or hosts get their configuration from slurmctld"))
            }
            Role::Login => checks.failed(NAME, format!("{found}: sbatch knows none of queuecast's options here"), advice),
            Role::Node => checks.failed(NAME, format!("{found}: jobs that were promised their nodes do not wait on them"), advice),
        }
        return None;
    };
    let at = format!("{}:{}", line.file.display(), line.number);
    if lines.len() > 1 {
        let places = lines.iter().map(|line| format!("{}:{}", line.file.display(), line.number)).collect::<Vec<_>>().join(", ");
        checks.warning(
            NAME,
            format!("{FILE_NAME} is named more than once: {places}"),
            "leave one line: its options can't be registered twice",
        );
    } else if line.required {
        checks.warning(
            NAME,
            format!("{at} says `required`: where the plugin can't be loaded, every job fails and its nodes are drained"),
            format!("write `optional` instead of `required` in {at}"),
        );
    } else {
        checks.ok(NAME, format!("{at}: optional {}", line.plugin));
    }
    Some(line)
}

/// The file that a line means: a name without a path is looked for in PluginDir, and the first that
/// fits is taken.
fn resolve(line: &Line, slurm: &Slurm, target: Option<&Known>) -> PathBuf {
    let named = PathBuf::from(&line.plugin);
    if named.is_absolute() {
        return named;
    }
    let candidates = || slurm.plugin_directories.iter().map(|directory| directory.join(&named));
    let fits = |path: &PathBuf| {
        PluginFile::read(path).is_ok_and(|plugin| target.is_none_or(|target| plugin.version.release() == target.version.release()))
    };
    candidates().find(fits).or_else(|| candidates().find(|path| path.exists())).unwrap_or(named)
}

/// Returns whether there is a file.
fn plugin(checks: &mut Checks, line: &Line, path: &Path, target: Option<&Known>) -> bool {
    const NAME: &str = "plugin";
    let shown = path.display();
    let consequence = if line.required { "no job can be submitted or started" } else { "sbatch knows none of queuecast's options" };
    let install = |target: &Known| {
        let version = target.version;
        format!("install queuecast-plugins-slurm-{version}, or build the plugins against the headers of Slurm {version}")
    };
    let wanted = target.map_or_else(|| "install the plugins of queuecast that fit the Slurm here".to_owned(), install);
    if !path.exists() {
        let found = if path.is_absolute() { format!("there is no {shown}") } else { format!("there is no {shown} in PluginDir") };
        checks.failed(NAME, format!("{found}: {consequence}"), format!("{wanted}, or correct {}:{}", line.file.display(), line.number));
        return false;
    }
    match (PluginFile::read(path), target) {
        (Err(reason), _) => checks.failed(NAME, format!("{shown}: {reason}: {consequence}"), wanted),
        (Ok(plugin), _) if plugin.kind != "spank" => {
            checks.failed(NAME, format!("{shown} is the plugin {}, not SPANK's", plugin.kind), wanted)
        }
        (Ok(plugin), None) => {
            checks.not_checked(NAME, format!("{shown} is for Slurm {}; no Slurm is known here to hold that against", plugin.version))
        }
        (Ok(plugin), Some(target)) if plugin.version.release() != target.version.release() => {
            let found = format!("{shown} was built for Slurm {}, but {} is {}: {consequence}", plugin.version, target.by, target.version);
            checks.failed(NAME, found, wanted);
        }
        (Ok(plugin), Some(target)) => {
            checks.ok(NAME, format!("{shown} is for Slurm {}, and {} is {}", plugin.version, target.by, target.version));
        }
    }
    true
}
