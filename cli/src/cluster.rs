//! Which cluster is meant, where several are known by name.

use anyhow::anyhow;
use clap::Args;
use command_parts::failure::Failure;
use slurm_sys::client::site;

use crate::installation::Installation;

/// Slurm's variable for the same.
const VARIABLE: &str = "SLURM_CLUSTERS";

/// Says which cluster is meant.
#[derive(Debug, Args)]
pub(crate) struct ClusterArguments {
    /// Tell of this cluster; it is this one, or one whose state directory [clusters] in
    /// queuecast.toml names, where Slurm is not asked [default: SLURM_CLUSTERS, else this one].
    #[arg(short = 'M', long, alias = "cluster", value_name = "CLUSTER")]
    clusters: Option<String>,
}

/// The name of a cluster, and where it was given.
#[derive(Debug)]
struct Named {
    name: String,
    by: &'static str,
}

impl Named {
    fn refused(&self, why: &str) -> Failure {
        Failure::Input(anyhow!("{} {}: {why}", self.by, self.name))
    }
}

impl ClusterArguments {
    /// The cluster that is named, if one is.
    fn named(&self) -> Result<Option<Named>, Failure> {
        let from_environment = || std::env::var(VARIABLE).ok().map(|name| Named { name, by: VARIABLE });
        let given = self.clusters.clone().map(|name| Named { name, by: "--clusters" }).or_else(from_environment);
        // An empty name stands for this cluster, as in Slurm.
        let Some(named) = given.filter(|named| !named.name.is_empty()) else { return Ok(None) };
        if named.name.contains(',') || named.name.eq_ignore_ascii_case("all") {
            return Err(named.refused("one cluster at a time; ask for each by its name"));
        }
        Ok(Some(named))
    }

    /// The installation of the cluster that is meant.
    ///
    /// # Errors
    /// A cluster of which nothing is known here.
    pub(crate) fn installation(&self, installation: Installation) -> Result<Installation, Failure> {
        let Some(named) = self.named()? else { return Ok(installation) };
        let installation = match installation.clusters.get(&named.name).cloned() {
            Some(directory) => installation.with_directory(directory),
            None => installation,
        };
        // Without a snapshot there is nothing that could belong to another cluster.
        let Ok(snapshot) = installation.snapshot() else { return Ok(installation) };
        let found = snapshot.provenance().cluster.to_owned();
        if found == named.name {
            return Ok(installation);
        }
        Err(named.refused(&format!(
            "the snapshot in {} is of cluster {found}; ask on a host of {}, or set its state directory under [clusters] of queuecast.toml",
            installation.directory.display(),
            named.name
        )))
    }

    /// Whether the cluster that is meant is the one that Slurm here belongs to, for what only Slurm
    /// can tell.
    ///
    /// # Errors
    /// Another cluster, and no Slurm.
    pub(crate) fn is_of_slurm_here(&self) -> Result<(), Failure> {
        let Some(named) = self.named()? else { return Ok(()) };
        let here = site().map_err(|error| Failure::Input(error.into()))?.cluster;
        if here == named.name {
            return Ok(());
        }
        Err(named.refused(&format!("Slurm is asked here, which is of cluster {here}; ask on a host of {}", named.name)))
    }
}
