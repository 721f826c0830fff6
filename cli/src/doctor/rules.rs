//! The site's own rules: whether those that are in force can be used, and are what their files say.

use std::fs;

use command_parts::output::moment_and_distance;
use job_types::time::UnixTime;
use rules_compiler::files::{FOLDER, of_site};
use rules_compiler::in_force;
use slurm_conf::state_directory::{RULES, RULES_OFF};

use super::permissions;
use super::report::Checks;
use super::slurm::Slurm;
use crate::installation::Installation;

/// The checks.
pub(super) fn check(installation: &Installation, slurm: &Slurm, now: UnixTime) -> Checks {
    let mut checks = Checks::of("Rules");
    in_force(&mut checks, installation, slurm, now);
    files(&mut checks, installation, now);
    folder(&mut checks, installation, slurm);
    let off = installation.directory.join(RULES_OFF);
    if off.symlink_metadata().is_ok() {
        let off = off.display();
        checks.warning(
            "kill switch",
            format!("on: {off} is there, and no rule is asked"),
            format!("remove it to switch on again: `rm {off}`"),
        );
    }
    checks
}

/// Whether the plugin can take up the rules that are there.
fn in_force(checks: &mut Checks, installation: &Installation, slurm: &Slurm, now: UnixTime) {
    const NAME: &str = "in force";
    let path = installation.directory.join(RULES);
    if let Some(reason) = fs::metadata(&path).ok().and_then(|metadata| permissions::distrust(&metadata, slurm.slurm_user.as_ref())) {
        let found = format!("{}: {reason}; the plugin does not use it", path.display());
        return checks.failed(NAME, found, "remove it, and load the rules again (`systemctl reload queuecastd`)");
    }
    match in_force::read(&installation.directory) {
        Ok(None) => checks.ok(NAME, "none"),
        Ok(Some((rules, number))) => {
            let told = in_force::state(&installation.directory).ok().flatten().and_then(|state| state.in_force);
            let since = told.filter(|told| told.number == in_force::written(number));
            let since = since.map(|told| format!(", since {} by {}", moment_and_distance(UnixTime(told.since), now), told.by.name()));
            checks.ok(NAME, format!("{} rules{}", rules.rules.len(), since.unwrap_or_default()));
        }
        Err(error) => checks.failed(
            NAME,
            error.to_string(),
            "load them again (`systemctl reload queuecastd`, or `queuecast filter load`), with plugins and commands of one release",
        ),
    }
}

/// Whether the files were free of errors when they were last compiled.
fn files(checks: &mut Checks, installation: &Installation, now: UnixTime) {
    const NAME: &str = "their files";
    let state = match in_force::state(&installation.directory) {
        Ok(Some(state)) => state,
        Ok(None) => return checks.not_checked(NAME, "nobody has compiled them yet"),
        Err(error) => return checks.not_checked(NAME, error.to_string()),
    };
    let at = moment_and_distance(UnixTime(state.compiled_at), now);
    match (state.errors.first(), state.warnings.first()) {
        (Some(first), _) => {
            let found = format!("they could not be used {at}, and the rules before stay in force: {first}");
            checks.failed(NAME, found, "correct them, see that `queuecast filter check` is content, and `systemctl reload queuecastd`");
        }
        (None, Some(first)) => checks.warning(NAME, first, "`queuecast filter check` shows all warnings"),
        (None, None) => checks.ok(NAME, format!("without errors when they were compiled {at}")),
    }
}

/// Whether others can write what decides about all submissions.
fn folder(checks: &mut Checks, installation: &Installation, slurm: &Slurm) {
    const NAME: &str = "their permissions";
    let configuration = &installation.configuration_path;
    let folder = configuration.with_file_name(FOLDER);
    let Ok(files) = of_site(configuration) else {
        return checks.failed(NAME, format!("{} can't be read", folder.display()), format!("`chmod a+rX {}`", folder.display()));
    };
    // The configuration is looked at by itself.
    let mut places = files.into_iter().filter(|file| file != configuration).peekable();
    if places.peek().is_none() {
        return;
    }
    for place in std::iter::once(folder).chain(places) {
        let Ok(metadata) = fs::metadata(&place) else { continue };
        if let Some(reason) = permissions::distrust(&metadata, slurm.slurm_user.as_ref()) {
            let found = format!("{}: {reason}; it decides about all submissions", place.display());
            return checks.failed(NAME, found, permissions::repair(&place, "root"));
        }
        if let Some((user, obstacle)) = slurm.slurm_user.as_ref().and_then(|user| Some((user, user.obstacle_to_reading(&place)?))) {
            let found = format!("{}: SlurmUser ({}) may not read it, so queuecastd can't", obstacle.display(), user.name);
            return checks.failed(NAME, found, format!("`chmod a+rX {}`", obstacle.display()));
        }
    }
    checks.ok(NAME, "readable, and only root and SlurmUser may write them");
}
