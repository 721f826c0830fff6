//! The job_submit plugins of slurmctld, and those beside them that take the time.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::Command;

use anyhow::{Context, ensure};
use end_to_end::project;

use crate::private_cluster::PrivateCluster;

/// The name by which slurmctld is told to load no plugin.
pub(crate) const NO_PLUGIN: &str = "none";

/// The name of queuecast's plugin.
pub(crate) const QUEUECAST: &str = "queuecast";

/// Where the file that the plugins of ci/lib/stamp.c write has the number of callbacks, and behind
/// it the time of each.
const COUNT_AT: u64 = 8;
const TIMES_AT: u64 = 16;

impl PrivateCluster {
    /// Has the running slurmctld load this job_submit plugin, or none ([`NO_PLUGIN`]), in the place
    /// of the one that it has. It stands between the two that take the time.
    ///
    /// # Errors
    ///
    /// Where slurmctld runs with other plugins afterwards.
    pub(crate) fn use_plugin(&self, plugin: &str) -> anyhow::Result<()> {
        self.use_plugins(&if plugin == NO_PLUGIN { "before,after".to_owned() } else { format!("before,{plugin},after") })
    }

    /// Has the running slurmctld load these job_submit plugins, a list with commas, in the place of
    /// those that it has.
    ///
    /// # Errors
    ///
    /// Where slurmctld runs with other plugins afterwards.
    pub(crate) fn use_plugins(&self, wanted: &str) -> anyhow::Result<()> {
        let reconfigured = self.cluster.control("reconfigure", &["--job-submit-plugin", wanted]);
        let said = String::from_utf8_lossy(&reconfigured.stderr);
        ensure!(reconfigured.status.success(), "ci/cluster reconfigure failed: {}", said.trim_end());
        let found = self.setting("JobSubmitPlugins")?;
        ensure!(found == wanted, "slurmctld runs with JobSubmitPlugins={found} instead of {wanted}");
        Ok(())
    }

    /// A setting of the running slurmctld.
    ///
    /// # Errors
    ///
    /// Where it tells none of this name.
    pub(crate) fn setting(&self, name: &str) -> anyhow::Result<String> {
        let settings = self.ask("scontrol", &["show", "config"])?;
        let mut lines = settings.lines().filter_map(|line| line.split_once('='));
        let (_, value) = lines.find(|(key, _)| key.trim() == name).with_context(|| format!("slurmctld tells no {name}"))?;
        Ok(value.trim().to_owned())
    }

    /// Compiles the two plugins that take the time.
    pub(super) fn make_stamps(&self) -> anyhow::Result<()> {
        let file = format!("-DSTAMP_FILE=\"{}\"", self.cluster.path("stamps").display());
        for name in ["before", "after"] {
            self.compile_plugin(name, "stamp.c", &[&format!("-DSTAMP_NAME=\"{name}\""), &file])?;
        }
        Ok(())
    }

    /// Compiles a source of ci/lib as the job_submit plugin of this name.
    ///
    /// # Errors
    ///
    /// Where gcc does not take it.
    pub(crate) fn compile_plugin(&self, name: &str, source: &str, definitions: &[&str]) -> anyhow::Result<()> {
        let include = std::env::var_os("SLURM_INCLUDE_DIR").unwrap_or_else(|| "/usr/include".into());
        let mut gcc = Command::new("gcc");
        gcc.args(["-O2", "-Wall", "-shared", "-fPIC", "-I"]).arg(include).args(definitions);
        gcc.arg("-o").arg(self.cluster.path(&format!("plugins/job_submit_{name}.so")));
        gcc.arg(project().join("ci/lib").join(source));
        self.run(&mut gcc).with_context(|| format!("ci/lib/{source} was not compiled"))?;
        Ok(())
    }

    /// The times of the last so many callbacks of the plugin in use, in nanoseconds.
    ///
    /// # Errors
    ///
    /// Where there were fewer.
    pub(crate) fn last_callbacks(&self, count: usize) -> anyhow::Result<Vec<u32>> {
        let stamps = File::open(self.cluster.path("stamps")).context("the times of callbacks")?;
        let mut all = [0; 8];
        stamps.read_exact_at(&mut all, COUNT_AT)?;
        let all = u64::from_ne_bytes(all);
        let first = all.checked_sub(count as u64).with_context(|| format!("there were {all} callbacks, not {count}"))?;
        let mut times = vec![0; 4 * count];
        stamps.read_exact_at(&mut times, TIMES_AT + 4 * first)?;
        Ok(times.chunks_exact(4).map(|time| u32::from_ne_bytes([time[0], time[1], time[2], time[3]])).collect())
    }
}
