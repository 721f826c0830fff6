//! `queuecastd` beside a cluster.

use crate::{Cluster, Options, wait_for};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use predictor_core::snapshot::Snapshot;
use std::fs::File;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::time::Duration;

/// A configuration that publishes every second, and serves no metrics, because several clusters run
/// at once.
pub const QUICK: &str = "[snapshot]\ninterval = \"1s\"\n[metrics]\nlisten = \"off\"\n[log]\nlevel = \"debug\"\n";

/// The cluster of slurmdbd that holds imported jobs, and that `queuecastd` reads beside its own.
pub const IMPORTED: &str = "past";

/// How long a snapshot is waited for. Everything but the outage of slurmctld's own connection to
/// slurmdbd, which it tries again every now and then, is much faster.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// A running `queuecastd`, or a slurmd, killed when dropped.
#[derive(Debug)]
pub struct Daemon {
    child: Child,
}

impl Cluster {
    /// Brings up a cluster without the plugins, with this configuration for `queuecastd`.
    ///
    /// # Panics
    /// Where it can't be started.
    #[must_use]
    pub fn up_for_queuecastd(configuration: &str) -> Cluster {
        let cluster = Cluster::up(&Options::plain());
        cluster.configure(configuration);
        cluster
    }

    /// Puts the jobs of the model's month into slurmdbd, before `queuecastd` reads them.
    ///
    /// # Panics
    /// Where `queuecast import-swf` fails.
    pub fn import_model(&self, users: u32, jobs: u32, time_scale: f64) {
        let [users, jobs, time_scale] = [users.to_string(), jobs.to_string(), time_scale.to_string()];
        let _ = self.import(&["--embedded", "--model-users", &users, "--model-jobs", &jobs, "--time-scale", &time_scale]);
    }

    /// Puts jobs into slurmdbd by `queuecast import-swf` with these arguments, under the name
    /// [`IMPORTED`], and has `queuecastd` read them when it starts. Returns what the command said.
    ///
    /// # Panics
    /// Where it fails.
    pub fn import(&self, arguments: &[&str]) -> String {
        let _ = self.output("sacctmgr", &["--immediate", "add", "cluster", IMPORTED]);
        let said = self.output("queuecast", &[&["import-swf", "--into", "slurmdbd", "--cluster", IMPORTED], arguments].concat());
        let path = self.path("etc/queuecast.toml");
        let written = std::fs::read_to_string(&path).expect("the configuration");
        std::fs::write(&path, with_imported(&written)).expect("the directory is ours");
        said
    }

    /// Runs so many short jobs to their end, one after the other.
    ///
    /// # Panics
    /// Where one fails.
    pub fn run_jobs(&self, count: usize) {
        for _job in 0..count {
            let output = self.run("sbatch", &["--wait", "-t1", "-o/dev/null", "--wrap=true"]);
            assert!(output.status.success(), "{output:?}");
        }
    }

    /// Starts `queuecastd` on the cluster; its log is `queuecastd.log`.
    ///
    /// # Panics
    /// Where it can't be started.
    #[must_use]
    pub fn start_queuecastd(&self) -> Daemon {
        self.start_queuecastd_with(&[])
    }

    /// Starts `queuecastd` with these variables in its environment.
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

    /// Starts the slurmd of a node, in the place of the one that runs, with these variables in its
    /// environment, and waits until it takes jobs.
    ///
    /// # Panics
    /// Where it can't be started.
    #[must_use]
    pub fn restart_node_with(&self, name: &str, variables: &[(&str, &Path)]) -> Daemon {
        self.daemon("stop", name);
        let log = File::options().create(true).append(true).open(self.path("log").join(format!("{name}.out"))).expect("a log");
        let mut command = self.prepare("/usr/sbin/slurmd");
        command.args(["-D", "-N", name]).envs(variables.iter().copied());
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("a log")).stderr(log);
        let slurmd = Daemon { child: command.spawn().expect("slurmd is installed") };
        wait_for(&format!("{name} to take jobs"), PATIENCE, || self.run("srun", &["-w", name, "true"]).status.success().then_some(()));
        slurmd
    }

    /// The snapshot that is published now; `None` where there is none.
    ///
    /// # Panics
    /// Where it is damaged: it has to be whole whenever it is read.
    #[must_use]
    pub fn snapshot(&self) -> Option<Snapshot<Vec<u8>>> {
        let bytes = std::fs::read(self.state_directory().join("snapshot")).ok()?;
        Some(Snapshot::open(bytes).expect("a snapshot is whole whenever it is read"))
    }

    /// The first snapshot from now on that is as wished.
    ///
    /// # Panics
    /// Where that takes longer than [`PATIENCE`], or one is damaged.
    pub fn snapshot_with(&self, what: &str, wish: impl Fn(&Snapshot<Vec<u8>>) -> bool) -> Snapshot<Vec<u8>> {
        wait_for(what, PATIENCE, || self.snapshot().filter(|snapshot| wish(snapshot)))
    }

    /// Waits until there is a snapshot.
    pub fn wait_for_snapshot(&self) {
        wait_for("the first snapshot", PATIENCE, || self.state_directory().join("snapshot").exists().then_some(()));
    }
}

/// A configuration of `queuecastd` by which the jobs of [`IMPORTED`] are read as well.
#[must_use]
pub fn with_imported(configuration: &str) -> String {
    let table = "[history]\n";
    let setting = format!("{table}earlier_clusters = [\"{IMPORTED}\"]\n");
    if configuration.contains(table) { configuration.replacen(table, &setting, 1) } else { format!("{configuration}{setting}") }
}

impl Daemon {
    /// Sends it a signal by name, such as `HUP`.
    ///
    /// # Panics
    /// Where there is no such signal, or no such process any more.
    pub fn signal(&self, name: &str) {
        let signal: Signal = format!("SIG{name}").parse().expect("the name of a signal");
        let process = Pid::from_raw(self.child.id().cast_signed());
        kill(process, signal).expect("a process of ours");
    }

    /// Returns the process id of the daemon.
    #[must_use]
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has ended by itself.
    ///
    /// # Panics
    /// Where that can't be asked.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a process of ours").is_some()
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
