//! The clusters whose ended jobs count as this cluster's past beside its own
//! (`[history] earlier_clusters`): the one that it was called before, or one that `queuecast
//! import-swf` has filled.

use std::ops::Range;

use slurm_sys::client::{AccountingConnection, ClientError, EndedJobRecord};

/// The earlier clusters.
pub(crate) struct EarlierClusters(Vec<EarlierCluster>);

struct EarlierCluster {
    name: String,
    /// Whether slurmdbd knew it when it was asked last.
    is_known: bool,
    /// Whether the log says already that slurmdbd does not know it.
    is_told: bool,
}

/// Which stretch of time is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stretch {
    /// A stretch that is read once: an empty answer has to be confirmed.
    Past,
    /// A stretch that is read again later.
    Recent,
}

impl EarlierClusters {
    /// The clusters by these names, of which none is known until [`EarlierClusters::renew`]. The
    /// cluster itself, by the name `own`, is none of them: it is read anyway, and its jobs of long
    /// ago would be learnt twice.
    pub(crate) fn new(names: &[String], own: &str) -> Self {
        let earlier = names.iter().filter(|name| !name.eq_ignore_ascii_case(own));
        Self(earlier.map(|name| EarlierCluster { name: name.clone(), is_known: false, is_told: false }).collect())
    }

    /// Asks slurmdbd which of them it knows. The log says once of each that it does not: what this
    /// cluster itself has done is learnt all the same.
    ///
    /// # Errors
    /// Where slurmdbd does not answer.
    pub(crate) fn renew(&mut self, connection: &mut AccountingConnection) -> Result<(), ClientError> {
        for cluster in &mut self.0 {
            cluster.is_known = match connection.check(&cluster.name) {
                Ok(()) => true,
                Err(ClientError::ClusterUnknown { .. }) => false,
                Err(error) => return Err(error),
            };
            if !cluster.is_known && !cluster.is_told {
                tracing::warn!(cluster = cluster.name, "slurmdbd does not know this cluster of [history] earlier_clusters");
            }
            cluster.is_told = !cluster.is_known;
        }
        Ok(())
    }

    /// Calls `tell` for each job of those that are known that ended in the window (Unix seconds,
    /// the end excluded). Returns how many records that were.
    ///
    /// # Errors
    /// Where slurmdbd or its database does not answer.
    pub(crate) fn read(
        &self,
        connection: &mut AccountingConnection,
        window: &Range<i64>,
        stretch: Stretch,
        tell: &mut dyn FnMut(EndedJobRecord<'_>),
    ) -> Result<usize, ClientError> {
        let mut records = 0;
        for cluster in self.0.iter().filter(|cluster| cluster.is_known) {
            records += match stretch {
                Stretch::Past => connection.ended_jobs(&cluster.name, window.clone(), &mut *tell)?,
                Stretch::Recent => connection.ended_jobs_at_once(&cluster.name, window.clone(), &mut *tell)?,
            };
        }
        Ok(records)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_not_earlier_than_itself() {
        let names = ["past", "Own", "old_name"].map(str::to_owned);
        let found = EarlierClusters::new(&names, "own");
        assert_eq!(found.0.iter().map(|cluster| cluster.name.as_str()).collect::<Vec<_>>(), ["past", "old_name"]);
    }
}
