//! `--parts`: how many nodes on which cluster.

use std::str::FromStr;

use anyhow::ensure;
use job_types::cluster_name::is_cluster_name;

use crate::cluster::ClusterArgument;

/// So many nodes on a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::reserve) struct PartArgument {
    cluster: String,
    nodes: u32,
}

impl FromStr for PartArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let part = text.rsplit_once(':').and_then(|(cluster, nodes)| Some((cluster, nodes.parse::<u32>().ok()?)));
        match part {
            Some((cluster, nodes)) if is_cluster_name(cluster) && nodes > 0 => Ok(Self { cluster: cluster.to_owned(), nodes }),
            _ => Err("use the name of a cluster and how many nodes there, as east:16".to_owned()),
        }
    }
}

impl PartArgument {
    /// Refuses what is not several parts.
    pub(super) fn check(parts: &[Self]) -> anyhow::Result<()> {
        ensure!(parts.len() > 1, "--parts: one part alone is a slot; name its cluster with --clusters");
        Ok(())
    }

    /// The clusters, and how many nodes are wanted on each.
    pub(super) fn split(parts: &[Self]) -> (Vec<ClusterArgument>, Vec<u32>) {
        parts.iter().map(|part| (ClusterArgument { name: part.cluster.clone(), directory: None }, part.nodes)).unzip()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_a_cluster_and_a_number_of_nodes() {
        assert_eq!("east:16".parse(), Ok(PartArgument { cluster: "east".to_owned(), nodes: 16 }));
        for wrong in ["east", "east:", "east:0", ":16", "east:-1", "a b:1", "east:16:x", "east=16", "east:4294967296"] {
            assert!(wrong.parse::<PartArgument>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_single_part_is_refused_with_what_to_use() {
        let one = ["east:16".parse().unwrap()];
        assert!(PartArgument::check(&one).unwrap_err().to_string().contains("--clusters"));
    }
}
