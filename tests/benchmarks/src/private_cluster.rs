//! A private cluster on which a benchmark measures.

use std::process::{self, Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use end_to_end::{Cluster, Daemon, Options, install_plugins};
use nix::unistd::{User, geteuid};
use serde_json::Value;

use crate::signals::Signals;

/// How long it is until a condition is looked at again. No figure depends on it: what is measured
/// says itself when it happened.
const INTERVAL: Duration = Duration::from_millis(100);

/// A cluster that is stopped when it is dropped, also when a signal ends the benchmark.
#[derive(Debug)]
pub(crate) struct PrivateCluster {
    pub(crate) cluster: Cluster,
    signals: Signals,
}

impl PrivateCluster {
    /// Brings up a cluster, with the plugins of this build beside it and not in use.
    ///
    /// # Errors
    ///
    /// Where the plugins are not there, or a signal has come.
    pub(crate) fn up(options: &Options) -> anyhow::Result<PrivateCluster> {
        let signals = Signals::catch()?;
        let site = PrivateCluster { cluster: Cluster::up(options), signals };
        site.run(&mut install_plugins(&site.cluster.path("plugins")))?;
        Ok(site)
    }

    /// Runs a command to its end.
    ///
    /// # Errors
    ///
    /// Where it fails, with what it prints on standard error; or where a signal has come.
    pub(crate) fn run(&self, command: &mut Command) -> anyhow::Result<Output> {
        let program = command.get_program().to_string_lossy().into_owned();
        let output = command.output().with_context(|| program.clone())?;
        // A signal that the terminal sends ends the command as well.
        self.signals.check()?;
        // A command of queuecast that answers no says why on its standard output.
        let said = if output.stderr.is_empty() { &output.stdout } else { &output.stderr };
        ensure!(output.status.success(), "{program} failed: {}", String::from_utf8_lossy(said).trim_end());
        Ok(output)
    }

    /// What a command prints on standard output.
    ///
    /// # Errors
    ///
    /// Where it fails, or where a signal has come.
    pub(crate) fn printed(&self, command: &mut Command) -> anyhow::Result<String> {
        Ok(String::from_utf8_lossy(&self.run(command)?.stdout).into_owned())
    }

    /// What a command of Slurm's or ours prints on standard output.
    ///
    /// # Errors
    ///
    /// Where it fails, or where a signal has come.
    pub(crate) fn ask(&self, program: &str, arguments: &[&str]) -> anyhow::Result<String> {
        self.printed(self.cluster.prepare(program).args(arguments))
    }

    /// What a command of queuecast reports as JSON.
    ///
    /// # Errors
    ///
    /// Where it fails, as it may while queuecastd has not caught up; or where a signal has come.
    pub(crate) fn report(&self, command: &str) -> anyhow::Result<Value> {
        let printed = self.ask("queuecast", &[command, "--format", "json"])?;
        serde_json::from_str(&printed).with_context(|| format!("queuecast {command}"))
    }

    /// Looks again and again until `condition` gives a value, and returns it; `None` where that
    /// takes longer than `timeout`.
    ///
    /// # Errors
    ///
    /// Where `condition` fails, or where a signal has come.
    pub(crate) fn wait<T>(&self, timeout: Duration, mut condition: impl FnMut() -> anyhow::Result<Option<T>>) -> anyhow::Result<Option<T>> {
        let begin = Instant::now();
        loop {
            self.signals.check()?;
            if let Some(value) = condition()? {
                return Ok(Some(value));
            }
            if begin.elapsed() > timeout {
                return Ok(None);
            }
            thread::sleep(INTERVAL);
        }
    }

    /// Fails where queuecastd has ended.
    pub(crate) fn require(&self, queuecastd: &mut Daemon) -> anyhow::Result<()> {
        if queuecastd.has_ended() {
            bail!("queuecastd ended; {}", self.log_end("queuecastd", 15));
        }
        Ok(())
    }

    /// The last lines of a daemon's log.
    pub(crate) fn log_end(&self, name: &str, lines: usize) -> String {
        let log = self.cluster.log(name);
        let log: Vec<&str> = log.lines().collect();
        format!("end of {name}.log:\n{}", log[log.len().saturating_sub(lines)..].join("\n"))
    }
}

/// Lets this process and all that it starts from now on run before ordinary processes, so that what
/// else the machine does has little part in the figures. It does nothing where the kernel refuses
/// that to the user, as it does to others than root.
pub(crate) fn take_precedence() {
    let _ = Command::new("chrt").args(["--rr", "--pid", "1", &process::id().to_string()]).output();
}

/// The name of the user who runs the benchmark.
///
/// # Errors
///
/// Where the user's number has no name.
pub(crate) fn own_name() -> anyhow::Result<String> {
    Ok(User::from_uid(geteuid())?.context("the user who runs this has no name")?.name)
}
