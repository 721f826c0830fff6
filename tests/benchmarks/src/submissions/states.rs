//! The states of slurmctld that rounds begin from, and the jobs that wait in them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::ensure;

use crate::private_cluster::PrivateCluster;

impl PrivateCluster {
    /// Stops slurmctld, and keeps what it has saved as the state with so many held jobs.
    ///
    /// # Errors
    ///
    /// Where that can't be copied.
    pub(crate) fn save_state(&self, queued: usize) -> anyhow::Result<()> {
        self.cluster.daemon("stop", "slurmctld");
        self.run(Command::new("cp").arg("-a").arg(self.cluster.path("state")).arg(self.kept_state(queued)))?;
        Ok(())
    }

    /// Starts slurmctld afresh from the state with so many held jobs, without a plugin.
    ///
    /// # Errors
    ///
    /// Where the state can't be copied.
    pub(crate) fn start_from_state(&self, queued: usize) -> anyhow::Result<()> {
        let state = self.cluster.path("state");
        self.cluster.daemon("stop", "slurmctld");
        fs::remove_dir_all(&state)?;
        self.run(Command::new("cp").arg("-a").arg(self.kept_state(queued)).arg(state))?;
        self.cluster.reconfigure(&["--job-submit-plugin", "none"]);
        self.cluster.daemon("start", "slurmctld");
        Ok(())
    }

    fn kept_state(&self, queued: usize) -> PathBuf {
        self.cluster.path(&format!("state-{queued}"))
    }

    /// Fails unless so many jobs wait.
    pub(crate) fn require_waiting(&self, queued: usize) -> anyhow::Result<()> {
        let waiting = self.ask("squeue", &["--noheader", "--states=PENDING"])?.lines().count();
        ensure!(waiting == queued, "slurmctld has {waiting} waiting jobs instead of {queued}");
        Ok(())
    }

    /// Cancels the waiting jobs of a user that have this name.
    pub(crate) fn cancel(&self, user: &str, name: &str) -> anyhow::Result<()> {
        self.ask("scancel", &["--state=PENDING", "--user", user, "--name", name])?;
        Ok(())
    }
}
