//! Which cluster is meant, where several are known by name.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{anyhow, bail};
use clap::Args;
use command_parts::failure::Failure;
use job_types::cluster_name::is_cluster_name;
use job_types::joint::MOST_JOINT_JOBS;
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

/// One of several clusters, and where its state directory is.
#[derive(Debug, Clone)]
pub(crate) struct ClusterArgument {
    pub(crate) name: String,
    pub(crate) directory: Option<PathBuf>,
}

impl FromStr for ClusterArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, directory) = text.split_once('=').map_or((text, None), |(name, directory)| (name, Some(PathBuf::from(directory))));
        let is_empty = directory.as_ref().is_some_and(|directory| directory.as_os_str().is_empty());
        if !is_cluster_name(name) || is_empty {
            return Err("use the name of a cluster, or NAME=DIR with its state directory".to_owned());
        }
        Ok(Self { name: name.to_owned(), directory })
    }
}

impl ClusterArgument {
    /// Refuses clusters of which one is named twice, and too many.
    ///
    /// # Errors
    /// Which, and how many may be named.
    pub(crate) fn check(clusters: &[Self]) -> anyhow::Result<()> {
        let names: Vec<&str> = clusters.iter().map(|cluster| cluster.name.as_str()).collect();
        if let Some(twice) = names.iter().enumerate().find_map(|(place, name)| names[..place].contains(name).then_some(name)) {
            bail!("--clusters: {twice} is named twice");
        }
        if names.len() > MOST_JOINT_JOBS {
            bail!("--clusters: {} are named, and at most {MOST_JOINT_JOBS} are looked at", names.len());
        }
        Ok(())
    }
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
        let installation = match installation.clusters.get(&named.name).and_then(|cluster| cluster.state_directory.clone()) {
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
