//! Several clusters that are asked about slots at once: the reservation service above the clusters'
//! own (Röblitz and Rzadca 2006, section 3: GRS and CRS).
//!
//! Each cluster is asked by its own `queuecast`, run by the command that `[clusters.NAME]` of
//! queuecast.toml names, with the arguments of the same command and `--json`. What comes back is
//! another site's text: it is bounded in size and time, and checked before it is used.

mod asking;
mod probing;
mod reserving;
mod slot;

use anyhow::{Context, ensure};
use job_types::window::Window;
use slurm_sys::client::site;
use thiserror::Error;

pub(crate) use self::asking::{Heard, Way};
pub(crate) use self::probing::{ClusterReport, LEAST_AHEAD, Probed, written};
pub(crate) use self::reserving::{Granted, Outcome};
pub(crate) use self::slot::{GridSlot, Order};
use crate::cluster::ClusterArgument;
use crate::installation::{Installation, InstallationArguments};

/// None of the clusters has answered.
#[derive(Debug, Error)]
#[error("none of the clusters answers: {0}")]
pub(crate) struct NoCluster(pub(crate) String);

/// A cluster, and how it is asked.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) name: String,
    pub(crate) way: Way,
    /// What describes the job there, in sbatch's words.
    job: Vec<String>,
}

/// The clusters, and what they are asked.
#[derive(Debug)]
pub(crate) struct Clusters {
    sites: Vec<Site>,
    window: Window,
}

impl Clusters {
    /// The clusters that are named.
    ///
    /// # Errors
    /// It is not known how one of them is asked.
    pub(crate) fn of(named: &[ClusterArgument], arguments: &InstallationArguments, job: &[String], window: Window) -> anyhow::Result<Self> {
        ClusterArgument::check(named)?;
        let installation = arguments.find();
        let sites = named.iter().map(|cluster| site_of(cluster, arguments, &installation, job.to_vec()));
        Ok(Self { sites: sites.collect::<anyhow::Result<_>>()?, window })
    }

    /// The same, each with so many nodes.
    pub(crate) fn with_nodes(mut self, nodes: &[u32]) -> Self {
        for (site, nodes) in self.sites.iter_mut().zip(nodes) {
            site.job.push(format!("--nodes={nodes}"));
        }
        self
    }

    /// The clusters, in the order in which they were named.
    pub(crate) fn sites(&self) -> &[Site] {
        &self.sites
    }
}

/// Finds out how a cluster is asked. This one is asked by this program.
fn site_of(
    cluster: &ClusterArgument,
    arguments: &InstallationArguments,
    installation: &Installation,
    job: Vec<String>,
) -> anyhow::Result<Site> {
    let name = cluster.name.clone();
    ensure!(
        cluster.directory.is_none(),
        "--clusters: {name} is asked by the command that [clusters.{name}] of queuecast.toml names; leave out its state directory"
    );
    let command = installation.clusters.get(&name).map(|settings| settings.command.clone()).unwrap_or_default();
    let way = if !command.is_empty() {
        Way::Command(command)
    } else {
        ensure!(
            own_name(installation).as_deref() == Some(&name),
            "--clusters: it is not known how {name} is asked; set command = \"ssh HOST queuecast\" under [clusters.{name}] of queuecast.toml"
        );
        let program = std::env::current_exe().context("the path of this program")?;
        let directory = arguments.state_directory().map(|directory| ["--state-directory".into(), directory.as_os_str().to_owned()]);
        Way::Here { program, more: directory.into_iter().flatten().collect() }
    };
    Ok(Site { name, way, job })
}

/// The name of this cluster, by its snapshot, or else by Slurm.
fn own_name(installation: &Installation) -> Option<String> {
    let by_snapshot = installation.snapshot().ok().map(|snapshot| snapshot.provenance().cluster.to_owned());
    by_snapshot.or_else(|| site().ok().map(|site| site.cluster))
}

#[cfg(test)]
pub(crate) use self::slot::tests::slot as made_up_slot;
