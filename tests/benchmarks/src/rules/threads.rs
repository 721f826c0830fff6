//! How many jobs a second a plugin lets through that several threads call at once.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, ensure};

use super::{Benchmark, Extent, LUA, SCRIPT, USER};
use crate::private_cluster::PrivateCluster;
use crate::submissions::QUEUECAST;

impl Benchmark<'_> {
    /// Has threads within slurmctld call both plugins. Returns the most jobs a second of each
    /// plugin.
    pub(super) fn measure_threads(&mut self) -> anyhow::Result<BTreeMap<&'static str, u64>> {
        let Extent { threads, turns, .. } = self.extent;
        self.site.use_plugins("threads,lua,queuecast")?;
        self.forecaster.go_on();
        let mut most = BTreeMap::new();
        for turn in 1..=turns {
            for plugin in [LUA, QUEUECAST] {
                let per_second = self.measure_plugin(plugin)?;
                eprintln!("{SCRIPT}: turn {turn} of {turns}, jobs a second from {threads} threads through {plugin}: {per_second}");
                let best = most.entry(plugin).or_insert(per_second);
                *best = per_second.max(*best);
            }
        }
        self.forecaster.require()?;
        Ok(most)
    }

    /// How many jobs a second go through a plugin from all threads.
    fn measure_plugin(&self, plugin: &str) -> anyhow::Result<u64> {
        let Extent { threads, jobs, .. } = self.extent;
        let mut sbatch = self.site.cluster.prepare_for(USER, "sbatch");
        sbatch.arg("--hold").arg(format!("--job-name=threads:{}:{threads}:{jobs}", plugin_file(self.site, plugin)?));
        // The submission is refused with what was measured.
        let refused = sbatch.arg(self.site.jobs().join("job.sh")).output().context("sbatch")?;
        ensure!(!refused.status.success(), "slurmctld took a job that is a question to ci/lib/threads.c");
        let said = String::from_utf8_lossy(&refused.stderr);
        jobs_per_second(&said).with_context(|| format!("{plugin} from {threads} threads: {}", said.trim_end()))
    }
}

/// The file of a plugin that slurmctld has loaded.
fn plugin_file(site: &PrivateCluster, plugin: &str) -> anyhow::Result<String> {
    let directories = site.setting("PluginDir")?;
    let mut files = directories.split(':').map(|directory| format!("{directory}/job_submit_{plugin}.so"));
    files.find(|file| Path::new(file).exists()).with_context(|| format!("there is no job_submit_{plugin}.so in {directories}"))
}

/// The jobs a second of what ci/lib/threads.c says, where no job was refused and all came out as
/// the rules have it.
fn jobs_per_second(said: &str) -> Option<u64> {
    let (_, measured) = said.split_once("measured ")?;
    let number = |name: &str| measured.split_whitespace().find_map(|field| field.strip_prefix(name)?.parse::<u64>().ok());
    let (jobs, as_named, refused, ns) = (number("jobs=")?, number("as_named=")?, number("refused=")?, number("ns=")?);
    (jobs == as_named && refused == 0 && ns > 0).then(|| (jobs as f64 / ns as f64 * 1e9).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_a_second_count_where_all_jobs_came_out_as_the_rules_have_it() {
        let said = |as_named, refused| {
            let measured = format!("measured jobs=400 as_named={as_named} refused={refused} ns=8000000");
            format!("sbatch: error: {measured}\nsbatch: error: Batch job submission failed: Unspecified error\n")
        };
        assert_eq!(jobs_per_second(&said(400, 0)), Some(50_000));
        assert_eq!(jobs_per_second(&said(399, 0)), None);
        assert_eq!(jobs_per_second(&said(400, 1)), None);
        assert_eq!(jobs_per_second("sbatch: error: slurmctld has not loaded job_submit_lua.so"), None);
    }
}
