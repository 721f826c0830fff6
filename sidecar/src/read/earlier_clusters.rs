//! The clusters whose ended jobs count as this cluster's past beside its own
//! (`[history] earlier_clusters`): the one that it was called before, or one that `queuecast
//! import-swf` has filled.

use std::ops::Range;

use slurm_sys::client::{AccountingConnection, ClientError, EndedJobRecord};

/// Those clusters, and of which of them the log says already that slurmdbd does not know it.
pub(crate) struct EarlierClusters(Vec<EarlierCluster>);

struct EarlierCluster {
    name: String,
    is_told: bool,
}

impl EarlierClusters {
    /// The clusters by these names.
    pub(crate) fn new(names: &[String]) -> Self {
        Self(names.iter().map(|name| EarlierCluster { name: name.clone(), is_told: false }).collect())
    }

    /// Calls `tell` for each of their jobs that ended in the window (Unix seconds, the end
    /// excluded). Returns how many records that were. A cluster that slurmdbd does not know is
    /// passed over, and the log says so once: what this cluster itself has done is learnt all the
    /// same.
    ///
    /// # Errors
    /// Where slurmdbd or its database does not answer.
    pub(crate) fn read(
        &mut self,
        connection: &mut AccountingConnection,
        window: &Range<i64>,
        tell: &mut dyn FnMut(EndedJobRecord<'_>),
    ) -> Result<usize, ClientError> {
        let mut records = 0;
        for cluster in &mut self.0 {
            match connection.ended_jobs(&cluster.name, window.clone(), &mut *tell) {
                Ok(count) => {
                    records += count;
                    cluster.is_told = false;
                }
                Err(ClientError::ClusterUnknown { .. }) => {
                    if !std::mem::replace(&mut cluster.is_told, true) {
                        tracing::warn!(cluster = cluster.name, "slurmdbd does not know this cluster of [history] earlier_clusters");
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(records)
    }
}
