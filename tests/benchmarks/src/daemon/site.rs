//! The private cluster that `queuecastd` runs beside.

use std::fs;
use std::path::Path;

use end_to_end::{IMPORTED, Options};

use super::size::{CPUS, MORE_JOBS, MOST_JOBS, REAL_NODES, Size};
use crate::private_cluster::PrivateCluster;

/// The partitions, each of which has all nodes. The first is the default.
pub(super) const PARTITIONS: [&str; 4] = ["short", "interactive", "medium", "long"];

/// Brings up the cluster, in a directory where it is kept or in one that goes away with it.
///
/// # Errors
///
/// Where the plugins are not there, or a signal has come.
pub(super) fn up(size: &Size, keep: Option<&Path>) -> anyhow::Result<PrivateCluster> {
    let mut options = Options::plain().any_caller().option("nodes", &REAL_NODES.to_string()).option("cpus", &CPUS.to_string());
    for partition in PARTITIONS {
        let attributes = if partition == PARTITIONS[0] { " Default=YES" } else { "" };
        options = options.option("partition", &format!("{partition}{attributes}"));
    }
    for line in lines_of_slurm_conf(size)? {
        options = options.option("conf-line", &line);
    }
    if let Some(directory) = keep {
        options = options.kept_in(directory);
    }
    let site = PrivateCluster::up(&options)?;
    site.configure(size, "");
    Ok(site)
}

impl PrivateCluster {
    /// Configures `queuecastd`, with these lines in the section `[snapshot]`.
    pub(super) fn configure(&self, size: &Size, snapshot: &str) {
        // Those that are added at the end are read as well, unless that is more than may be read.
        let most_jobs = MOST_JOBS.min(size.jobs + MORE_JOBS);
        self.cluster.configure(&format!(
            "[history]\nmaximum_jobs = {most_jobs}\nearlier_clusters = [\"{IMPORTED}\"]\n\
             [snapshot]\n{snapshot}\n\
             [metrics]\nlisten = \"127.0.0.1:0\"\n\
             [log]\nlevel = \"debug\"\nformat = \"json\"\n"
        ));
    }
}

fn lines_of_slurm_conf(size: &Size) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    if size.nodes > REAL_NODES {
        let count = size.nodes - REAL_NODES;
        let host = fs::read_to_string("/proc/sys/kernel/hostname")?;
        let host = host.trim().split('.').next().unwrap_or_default();
        lines
            .push(format!("NodeName=f[1-{count}] NodeHostname={host} NodeAddr=127.0.0.1 Port=9 CPUs={CPUS} RealMemory=1048576 State=IDLE"));
    }
    // Nodes without a slurmd stay idle as long as slurmctld does not ask them, which it does in a
    // third of the timeout; nothing is to start there.
    lines.extend(["SlurmdTimeout=65533", "SchedulerType=sched/builtin", "SchedulerParameters=defer,sched_interval=-1"].map(str::to_owned));
    lines.push(format!("MaxJobCount={}", size.pending + 10_000));
    lines.push("MaxArraySize=10001".to_owned());
    Ok(lines)
}
