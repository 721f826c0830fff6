//! `queuecastd` beside a cluster.

use crate::{Cluster, wait_for};
use std::fs::File;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::time::Duration;

/// A running `queuecastd`, killed when dropped.
#[derive(Debug)]
pub struct Daemon {
    child: Child,
}

impl Cluster {
    /// Starts `queuecastd` on the cluster; its log is `queuecastd.log`.
    ///
    /// # Panics
    /// Where it can't be started.
    #[must_use]
    pub fn start_queuecastd(&self) -> Daemon {
        self.start_queuecastd_with(&[])
    }

    /// The same with these variables in its environment.
    ///
    /// # Panics
    /// Where it can't be started.
    #[must_use]
    pub fn start_queuecastd_with(&self, variables: &[(&str, &Path)]) -> Daemon {
        let log = File::options().create(true).append(true).open(self.path("log/queuecastd.log")).expect("a log");
        let mut command = self.prepare("queuecastd");
        command.envs(variables.iter().copied());
        command.stdout(log.try_clone().expect("a log")).stderr(log);
        Daemon { child: command.spawn().expect("queuecastd is built") }
    }

    /// Waits until there is a snapshot.
    pub fn wait_for_snapshot(&self) {
        wait_for("the first snapshot", Duration::from_secs(60), || self.state_directory().join("snapshot").exists().then_some(()));
    }
}

impl Daemon {
    /// Sends it a signal by name, such as `HUP`.
    ///
    /// # Panics
    /// Where `kill` fails.
    pub fn signal(&self, name: &str) {
        let kill = format!("kill -s {name} {}", self.child.id());
        let status = std::process::Command::new("sh").args(["-c", &kill]).status();
        assert!(status.is_ok_and(|status| status.success()), "kill -s {name}");
    }

    /// Its process id.
    #[must_use]
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it has ended.
    ///
    /// # Panics
    /// Where that takes longer than `timeout`.
    pub fn end(&mut self, timeout: Duration) -> ExitStatus {
        wait_for("queuecastd to end", timeout, || self.child.try_wait().ok().flatten())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
