//! What the benchmarks of submissions share: a private cluster whose slurmctld is measured, with
//! the states that it begins from and its job_submit plugins; queuecastd beside it; and the figures
//! of a row.

mod figures;
mod forecaster;
mod job;
mod plugins;
mod states;

pub(crate) use figures::{Series, Summary};
pub(crate) use forecaster::Forecaster;
pub(crate) use job::ShownJob;
pub(crate) use plugins::{NO_PLUGIN, QUEUECAST};

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use end_to_end::Options;
use nix::sys::statvfs::statvfs;
use nix::unistd::{AccessFlags, access};

use crate::private_cluster::{PrivateCluster, take_precedence};
use crate::signals::Interrupted;

/// The least free bytes of the directory of files in memory that a cluster is made in (1 GiB).
const LEAST_FREE_BYTES: u64 = 1 << 30;

/// The number of a row's submissions before those that count, of which the first takes up the
/// snapshot or the rules.
pub(crate) const WARM_UP: usize = 5;

/// Brings up a cluster whose slurmctld is measured, with the plugins of this build and those that
/// take the time beside it, none of them in use. All that this program starts from then on runs
/// before ordinary processes.
///
/// # Errors
///
/// Where a plugin can't be made.
pub(crate) fn up(options: Options) -> anyhow::Result<PrivateCluster> {
    take_precedence();
    let options = match directory_in_memory() {
        Some(directory) => options.directory_in(directory),
        None => options,
    };
    let site = PrivateCluster::up(&options)?;
    site.make_stamps()?;
    fs::create_dir_all(site.jobs())?;
    site.write_script("job.sh", "true")?;
    Ok(site)
}

/// The directory of files in memory, where no TMPDIR is set and the directory has room for a
/// cluster: the disk, whose time varies much more than what is measured, then has no part in the
/// figures.
fn directory_in_memory() -> Option<&'static Path> {
    let directory = Path::new("/dev/shm");
    if std::env::var_os("TMPDIR").is_some_and(|name| !name.is_empty()) || access(directory, AccessFlags::W_OK).is_err() {
        return None;
    }
    let usage = statvfs(directory).ok()?;
    (usage.blocks_available() * usage.fragment_size() >= LEAST_FREE_BYTES).then_some(directory)
}

impl PrivateCluster {
    /// The directory from which jobs are submitted.
    pub(crate) fn jobs(&self) -> PathBuf {
        self.cluster.path("jobs/bench")
    }

    /// Writes a script that jobs can run.
    pub(crate) fn write_script(&self, name: &str, command_line: &str) -> anyhow::Result<()> {
        Ok(fs::write(self.jobs().join(name), format!("#!/bin/sh\n{command_line}\n"))?)
    }

    /// Submits a job by a command that is complete, and returns what sbatch has said.
    ///
    /// # Errors
    ///
    /// Where the job is refused, with the end of slurmctld's log; or where a signal has come.
    pub(crate) fn submit(&self, sbatch: &mut Command) -> anyhow::Result<Output> {
        self.run(sbatch).map_err(|error| {
            if error.is::<Interrupted>() {
                return error;
            }
            error.context(format!("{}\na submission failed", self.log_end("slurmctld", 5)))
        })
    }
}
