//! `[clusters]`: other clusters, and how they are asked from here.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use job_types::cluster_name::is_cluster_name;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use super::api::Words;
use super::value::AbsolutePath;

/// What is known here of another cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterSettings {
    /// `state_directory`, or the value in the place of a table: where its state directory is seen
    /// from here.
    pub state_directory: Option<PathBuf>,
    /// `command`: the words of the command that runs `queuecast` on that cluster, where its daemon
    /// is asked; empty where there is none.
    pub command: Vec<String>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ClusterTable {
    state_directory: Option<AbsolutePath>,
    command: Option<Words>,
}

/// A table, or the state directory alone.
struct Cluster(ClusterSettings);

impl<'de> Deserialize<'de> for Cluster {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Cluster;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a state directory, or a table with state_directory and command")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Cluster, E> {
                let AbsolutePath(path) = AbsolutePath::deserialize(StrDeserializer::new(text))?;
                Ok(Cluster(ClusterSettings { state_directory: Some(path), command: Vec::new() }))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Cluster, A::Error> {
                let table = ClusterTable::deserialize(MapAccessDeserializer::new(map))?;
                let command = table.command.map(|Words(words)| words).unwrap_or_default();
                Ok(Cluster(ClusterSettings { state_directory: table.state_directory.map(|AbsolutePath(path)| path), command }))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// Other clusters, under names that clusters can have.
pub(super) fn clusters<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, ClusterSettings>, D::Error> {
    let clusters = BTreeMap::<String, Cluster>::deserialize(deserializer)?;
    match clusters.keys().find(|name| !is_cluster_name(name)) {
        Some(name) => Err(D::Error::custom(format_args!("clusters.{name:?} is not allowed: use the name of a cluster"))),
        None => Ok(clusters.into_iter().map(|(name, Cluster(settings))| (name, settings)).collect()),
    }
}
