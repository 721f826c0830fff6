//! Which users may write, read and search files and directories.

use job_types::number::UserId;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::unistd::{Uid, User};
use slurm_sys::memory::{self, Distrust};

use super::report::Checks;
use crate::user;

/// The user that slurmctld runs as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SlurmUser {
    pub(super) name: String,
    pub(super) number: u32,
}

impl SlurmUser {
    pub(super) fn from_number(number: u32) -> Self {
        Self { name: user::name(UserId(number)).unwrap_or_else(|| number.to_string()), number }
    }

    /// Finds the user by name or number, as slurm.conf gives it.
    pub(super) fn find(given: &str) -> Option<Self> {
        let user = User::from_name(given).ok().flatten().map(|user| Self { name: user.name, number: user.uid.as_raw() });
        user.or_else(|| given.parse().ok().map(Self::from_number))
    }

    /// Whether this user may do what `bit` stands for (4 read, 1 pass) with a file.
    fn may(&self, metadata: &Metadata, bit: u32) -> bool {
        let groups = || match User::from_uid(Uid::from_raw(self.number)) {
            Ok(Some(user)) => {
                std::ffi::CString::new(user.name).ok().and_then(|name| nix::unistd::getgrouplist(&name, user.gid).ok()).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        let mode = metadata.mode();
        if self.number == 0 {
            true
        } else if metadata.uid() == self.number {
            mode & (bit << 6) != 0
        } else if groups().iter().any(|group| group.as_raw() == metadata.gid()) {
            mode & (bit << 3) != 0
        } else {
            mode & bit != 0
        }
    }

    /// What keeps this user from reading a file: the file itself, or a directory on the way to it.
    pub(super) fn obstacle_to_reading(&self, path: &Path) -> Option<PathBuf> {
        let closed = |path: &&Path, bit| fs::metadata(path).is_ok_and(|metadata| !self.may(&metadata, bit));
        let on_the_way = ancestors(path).find(|directory| closed(&directory.as_path(), 1));
        on_the_way.or_else(|| closed(&path, 4).then(|| path.to_owned()))
    }
}

/// Why what lies at a path is not to be trusted: who else than root and Slurm's user owns it or may
/// write it.
pub(super) fn distrust(metadata: &Metadata, slurm_user: Option<&SlurmUser>) -> Option<String> {
    Some(match memory::distrust(metadata, slurm_user.map(|slurm_user| slurm_user.number))? {
        Distrust::Owner(owner) => {
            let name = user::name(UserId(owner)).map_or_else(|| format!("user {owner}"), |name| format!("user {name}"));
            format!("it belongs to {name}, not to root or SlurmUser")
        }
        Distrust::Mode(mode) => format!("others than its owner may write it (mode {mode:03o})"),
    })
}

/// Checks that nobody but root and Slurm's user may write a plugin's file, or put another one in
/// its place. `consequence` says what else they could.
pub(super) fn check_plugin(checks: &mut Checks, path: &Path, slurm_user: Option<&SlurmUser>, consequence: &str) {
    const NAME: &str = "its permissions";
    for place in [Some(path), path.parent()].into_iter().flatten() {
        let distrust = match fs::metadata(place) {
            Ok(metadata) => distrust(&metadata, slurm_user),
            Err(error) => return checks.not_checked(NAME, format!("{}: {error}", place.display())),
        };
        if let Some(reason) = distrust {
            return checks.failed(NAME, format!("{}: {reason}; {consequence}", place.display()), repair(place, "root"));
        }
    }
    checks.ok(NAME, "only root and SlurmUser may write it");
}

/// The command that gives a file to an owner and takes write permission from others.
pub(super) fn repair(path: &Path, owner: &str) -> String {
    let path = path.display();
    format!("`chown {owner} {path} && chmod go-w {path}`")
}

/// The directories above a path, from the root.
pub(super) fn ancestors(path: &Path) -> impl Iterator<Item = PathBuf> {
    let above: Vec<PathBuf> = path.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty()).map(Path::to_owned).collect();
    above.into_iter().rev()
}

/// A directory above a path in which everybody may put something else in the place of what is
/// there.
pub(super) fn open_ancestor(path: &Path) -> Option<PathBuf> {
    const STICKY: u32 = 0o1000;
    ancestors(path)
        .find(|directory| fs::metadata(directory).is_ok_and(|metadata| metadata.mode() & 0o002 != 0 && metadata.mode() & STICKY == 0))
}
