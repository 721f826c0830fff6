//! The state directory: whether what is in it can be trusted, and is there.

use forecast_report::ahead;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use command_parts::output::moment_and_distance;
use job_types::time::UnixTime;
use predictor_core::decisions::Timeliness;
use predictor_core::snapshot::layout::LAYOUT_VERSION;
use predictor_core::snapshot::{Snapshot, SnapshotError};

use super::file_system;
use super::permissions;
use super::report::Checks;
use super::role::Role;
use super::slurm::Slurm;
use crate::installation::Installation;
use crate::no_snapshot::NoSnapshot;

/// The checks, and the snapshot where there is one.
pub(super) fn check(installation: &Installation, slurm: &Slurm, role: Role, now: UnixTime) -> (Checks, Option<Snapshot<Vec<u8>>>) {
    let mut checks = Checks::of("State directory");
    let directory = &installation.directory;
    match fs::metadata(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound && role == Role::Login && installation.api.listen.is_some() => {
            checks.ok("directory", "not on this host; the snapshot comes over the network");
            return (checks, None);
        }
        Err(error) if error.kind() == ErrorKind::NotFound && role == Role::Login => {
            let found = format!(
                "there is no {}: `queuecast status`, `predict` and `queue` answer where it is, on the controller",
                directory.display()
            );
            checks.not_checked("directory", found);
            return (checks, None);
        }
        Err(error) => {
            let advice = "start queuecastd, which makes it (its parent has to be there), or correct state_directory in queuecast.toml";
            checks.failed("directory", format!("{}: {error}", directory.display()), advice);
            return (checks, None);
        }
        Ok(metadata) if !metadata.is_dir() => {
            let advice = "move that away, or correct state_directory in queuecast.toml";
            checks.failed("directory", format!("{} is not a directory", directory.display()), advice);
            return (checks, None);
        }
        Ok(metadata) => trusted(&mut checks, directory, &metadata, slurm),
    }
    passable(&mut checks, directory);
    if role == Role::Controller {
        local(&mut checks, directory);
    }
    if let Some(off) = installation.kill_switch() {
        let off = off.display();
        checks.warning(
            "kill switch",
            format!("on: {off} is there, and all jobs are left alone"),
            format!("remove it to switch on again: `rm {off}`"),
        );
    } else {
        checks.ok("kill switch", "off");
    }
    let snapshot = snapshot(&mut checks, installation, slurm, now);
    if role == Role::Controller {
        counters(&mut checks, installation, slurm);
    }
    (checks, snapshot)
}

fn trusted(checks: &mut Checks, directory: &Path, metadata: &fs::Metadata, slurm: &Slurm) {
    const NAME: &str = "directory";
    let owner = slurm.slurm_user.as_ref().map_or("SlurmUser", |user| user.name.as_str());
    let shown = directory.display();
    if let Some(reason) = permissions::distrust(metadata, slurm.slurm_user.as_ref()) {
        let found =
            format!("{shown}: {reason}; queuecastd does not start, and whoever can write there can make the plugin decide from anything");
        return checks.failed(NAME, found, permissions::repair(directory, owner));
    }
    if let Some(open) = permissions::open_ancestor(directory) {
        let open = open.display();
        let found = format!("everybody may write in {open}, and so put something else in the place of {shown}");
        return checks.failed(NAME, found, format!("`chmod o-w {open}`, or let state_directory be elsewhere"));
    }
    if slurm.slurm_user.as_ref().is_some_and(|user| user.number != metadata.uid()) {
        let found =
            format!("{shown} belongs to root, and SlurmUser is {owner}: a queuecastd and a plugin that run as that user can't write there");
        return checks.warning(NAME, found, format!("`chown {owner} {shown}`"));
    }
    checks.ok(NAME, format!("{shown}, which only {owner} may write"));
}

/// Whether slurmctld looks at a disk or memory of its own host, and never has to wait for another
/// one.
fn local(checks: &mut Checks, directory: &Path) {
    const NAME: &str = "file system";
    match file_system::remote(directory) {
        Ok(None) => checks.ok(NAME, "of this host"),
        Ok(Some(kind)) => checks.failed(
            NAME,
            format!("{} lies on {kind}: slurmctld looks there at each submission, and stands still while that does not answer", directory.display()),
            "set state_directory to a local directory of slurmctld's host, such as /var/spool/queuecast, and restart queuecastd and slurmctld",
        ),
        Err(error) => checks.not_checked(NAME, format!("{}: {error}", directory.display())),
    }
}

/// Whether those who run `queuecast predict` get there.
fn passable(checks: &mut Checks, directory: &Path) {
    const NAME: &str = "way to it";
    let closed = |path: &std::path::PathBuf| fs::metadata(path).is_ok_and(|metadata| metadata.mode() & 0o001 == 0);
    match permissions::ancestors(directory).chain([directory.to_owned()]).find(closed) {
        Some(closed) => {
            let closed = closed.display();
            let found = format!("users may not pass {closed}: `queuecast status`, `predict` and `queue` can't read the snapshot for them");
            checks.warning(NAME, found, format!("`chmod o+x {closed}`, or let state_directory be elsewhere"));
        }
        None => checks.ok(NAME, "open to all users"),
    }
}

fn snapshot(checks: &mut Checks, installation: &Installation, slurm: &Slurm, now: UnixTime) -> Option<Snapshot<Vec<u8>>> {
    const NAME: &str = "snapshot";
    let path = installation.snapshot_path();
    let snapshot = match installation.snapshot() {
        Ok(snapshot) => snapshot,
        Err(NoSnapshot::Absent(directory)) => {
            checks.failed(NAME, format!("none in {}", directory.display()), "start queuecastd (`systemctl start queuecastd`)");
            return None;
        }
        Err(NoSnapshot::Damaged(_, error @ SnapshotError::Version { .. })) => {
            let found = format!("{}: {error}; this release reads layout version {LAYOUT_VERSION}", path.display());
            checks.failed(NAME, found, "install queuecastd, plugins and `queuecast` of one release, and restart queuecastd and slurmctld");
            return None;
        }
        Err(error) => {
            checks.failed(NAME, error.to_string(), "restart queuecastd, which writes a new one (`systemctl restart queuecastd`)");
            return None;
        }
    };
    let distrust = fs::metadata(&path).ok().and_then(|metadata| permissions::distrust(&metadata, slurm.slurm_user.as_ref()));
    let published = moment_and_distance(snapshot.published_at(), now);
    if let Some(reason) = distrust {
        let found = format!("{}: {reason}; the plugin does not use it", path.display());
        checks.failed(NAME, found, "remove it, and restart queuecastd as SlurmUser, which writes a new one");
    } else if snapshot.timeliness(now) == Timeliness::Ahead {
        checks.failed(NAME, ahead(&snapshot, now), "set the clock (`timedatectl`), or restart queuecastd");
    } else if snapshot.timeliness(now) == Timeliness::TooOld {
        let found = format!("published {published}, counts for {} only: all jobs are left alone", snapshot.provenance().maximum_age);
        checks.failed(NAME, found, "see whether queuecastd runs (`systemctl status queuecastd`), and what it logs");
    } else {
        checks.ok(NAME, format!("published {published}, layout version {LAYOUT_VERSION}"));
    }
    Some(snapshot)
}

fn counters(checks: &mut Checks, installation: &Installation, slurm: &Slurm) {
    const NAME: &str = "plugin's counters";
    let path = installation.counters_path();
    match installation.counted() {
        Ok(Some(_)) => checks.ok(NAME, path.display().to_string()),
        Ok(None) => checks.warning(
            NAME,
            format!("{}: not those of this release", path.display()),
            "install plugins and `queuecast` of one release, and restart slurmctld",
        ),
        Err(error) if error.kind() == ErrorKind::NotFound && slurm.place_of_queuecast().is_none() => {
            checks.not_checked(NAME, "queuecast is not listed in JobSubmitPlugins");
        }
        Err(error) if error.kind() == ErrorKind::NotFound => checks.warning(
            NAME,
            format!("there is no {}: the plugin has not found this state directory", path.display()),
            "restart slurmctld once queuecast is listed and this configuration is good; its log says what else hinders the plugin",
        ),
        Err(error) => checks.not_checked(NAME, format!("{}: {error}", path.display())),
    }
}
