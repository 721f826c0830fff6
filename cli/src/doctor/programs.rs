//! The Slurm that is installed here, by its programs.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use slurm_sys::version::Version;

use elsewhere::process;

/// The directories of programs for system administrators, which the caller's PATH may lack.
const DIRECTORIES: [&str; 5] = ["/usr/local/sbin", "/usr/sbin", "/sbin", "/opt/slurm/sbin", "/opt/slurm/bin"];

/// How long a program may take to say its version.
const LIMIT: Duration = Duration::from_secs(5);

/// The programs that are asked, and the option at which each says its version. slurmctld and slurmd
/// read no configuration for it; scontrol of some releases does.
const ASKED: [(&str, &str); 3] = [("slurmctld", "-V"), ("slurmd", "-V"), ("scontrol", "--version")];

/// A program of Slurm's.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) path: PathBuf,
    /// The version of the program, or what it said instead.
    pub(super) version: Result<Version, String>,
}

/// The programs of Slurm's that are installed here.
#[derive(Debug, Default)]
pub(super) struct Programs(Vec<Program>);

impl Programs {
    /// Finds them and asks each for its version.
    pub(super) fn find() -> Self {
        let found = ASKED.iter().filter_map(|&(name, option)| {
            let path = find(name)?;
            Some(Program { name, version: version(&path, option), path })
        });
        Self(found.collect())
    }

    pub(super) fn all(&self) -> &[Program] {
        &self.0
    }

    /// Whether a program is installed.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|program| program.name == name)
    }

    /// The version of a program, where it is installed and says it.
    pub(super) fn version(&self, name: &str) -> Option<Version> {
        self.0.iter().find(|program| program.name == name)?.version.as_ref().ok().copied()
    }
}

/// Asks a program of Slurm's for its version.
pub(super) fn version(path: &Path, option: &str) -> Result<Version, String> {
    match process::run(Command::new(path).arg(option), LIMIT) {
        Ok(said) => Version::find(said.output.trim()).ok_or_else(|| said.last_words().to_owned()),
        Err(silence) => Err(silence.to_string()),
    }
}

/// The file of a program.
fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let directories = env::split_paths(&path).chain(DIRECTORIES.iter().map(PathBuf::from));
    directories.map(|directory| directory.join(name)).find(|file| file.is_file())
}
