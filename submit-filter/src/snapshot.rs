//! The snapshot in force, with what was claimed since it was published.

use crate::claims::ClaimTable;
use predictor_core::snapshot::Snapshot;
use slurm_sys::memory::Memory;

/// A snapshot with what was claimed since it was published.
#[derive(Debug)]
pub(crate) struct Current {
    pub(crate) snapshot: Snapshot<Memory>,
    /// What jobs have claimed since. A new snapshot knows of those jobs by itself, so that its
    /// claims begin at 0.
    pub(crate) claims: ClaimTable,
}

impl Current {
    /// A snapshot in which nothing is claimed yet.
    pub(crate) fn new(snapshot: Snapshot<Memory>) -> Current {
        Current { snapshot, claims: ClaimTable::new() }
    }

    /// Whether it is this snapshot.
    pub(crate) fn is(&self, generation: u64, checksum: u64) -> bool {
        self.snapshot.generation() == generation && self.snapshot.checksum() == checksum
    }
}
