//! Keeps whose submissions were refused for their deadlines, as far as filters have shown it.

use job_types::time::UnixTime;
use predictor_core::decisions::refusals::Refusals;
use slurm_conf::state_directory::REFUSALS_ENVELOPE;
use slurm_conf::trusted::{is_damage, present};

use crate::clock::now;
use crate::known::cluster::Cluster;
use crate::known::damaged::keep_aside;
use crate::publish::state_directory::StateDirectory;

/// The refusals, and whether their file has them.
///
/// They are taken each second, because the filter has room for as many as come in some, and written
/// with each snapshot. A daemon that is killed in between takes those of the last snapshot's time
/// again, as the file says itself how many it has.
#[derive(Debug)]
pub(crate) struct KeptRefusals {
    refusals: Refusals,
    is_stored: bool,
    /// Whether the log says that the file can't be written.
    is_told: bool,
}

impl KeptRefusals {
    /// Goes on where the file ends; from none where there is none, or another one, which is kept
    /// aside.
    pub(crate) fn load(directory: &StateDirectory) -> Self {
        let path = directory.refusals();
        let stored = match present(REFUSALS_ENVELOPE.read(&path)) {
            Ok(None) => None,
            Ok(Some(content)) => {
                let stored = content.and_then(|content| Refusals::from_bytes(&content));
                if stored.is_none() {
                    keep_aside(&path, &"it holds no refusals of this release");
                }
                stored
            }
            Err(error) if is_damage(&error) => {
                keep_aside(&path, &error);
                None
            }
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "whose deadlines were refused can't be read, and is noted anew");
                None
            }
        };
        let is_stored = stored.is_some();
        Self { refusals: stored.unwrap_or_else(|| Refusals::begun(UnixTime(now()))), is_stored, is_told: false }
    }

    /// Takes what a filter shows, and tells the partition of each refusal that is new. As long as
    /// nobody knows the cluster's partitions, the filter keeps them.
    pub(crate) fn take(&mut self, shown: Option<&(u64, Vec<u64>)>, cluster: Option<&Cluster>, tell: impl FnMut(&str, u64)) {
        let (Some((owner, shown)), Some(cluster)) = (shown, cluster) else { return };
        let before = self.refusals.taken();
        let partitions = cluster.partitions.iter().map(|partition| &*partition.name);
        self.refusals.take(*owner, shown, partitions, UnixTime(now()), tell);
        self.is_stored &= self.refusals.taken() == before;
    }

    /// Writes the file, if anything has changed.
    pub(crate) fn store(&mut self, directory: &StateDirectory) {
        if self.is_stored {
            return;
        }
        match directory.keep_refusals(&self.refusals.to_bytes()) {
            Ok(()) => (self.is_stored, self.is_told) = (true, false),
            Err(error) if !self.is_told => {
                self.is_told = true;
                tracing::warn!(%error, "whose deadlines were refused is not written; it is kept in memory");
            }
            Err(_) => {}
        }
    }
}
