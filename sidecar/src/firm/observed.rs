//! What would have been reserved in a mode that makes no slots, in a file that outlives the daemon.

use std::path::Path;

use job_types::number::JobId;
use job_types::time::UnixTime;
use slurm_conf::state_directory::OBSERVED_SLOTS;
use upkeep::{ObservedSlot, ObservedSlots};

use super::kept::{Kept, Place};

/// The file. It has numbers of jobs and times, and nothing of whose they are.
const PLACE: Place = Place { name: OBSERVED_SLOTS, mode: 0o644, most_bytes: ObservedSlots::MOST_BYTES };

/// What would have been reserved.
#[derive(Debug)]
pub(super) struct Observed(Kept<ObservedSlots>);

impl Observed {
    /// What an earlier daemon with this state directory has found.
    pub(super) fn load(directory: &Path) -> Self {
        Self(Kept::load(directory, PLACE, ObservedSlots::other_version, |_| ObservedSlots::default()))
    }

    /// Whether it is found already what would have been reserved for a job that was decided about
    /// at that moment.
    pub(super) fn has(&self, job: JobId, decided_at: UnixTime) -> bool {
        self.0.value().find(job, decided_at).is_some()
    }

    /// Adds what was found.
    pub(super) fn add(&mut self, slot: ObservedSlot) {
        self.0.change().add(slot);
    }

    /// Writes what is new to the disk.
    pub(super) fn keep(&mut self) {
        self.0.keep(|error, path| {
            tracing::warn!(%error, path = %path.display(), "what would have been reserved is not written; it is kept in memory");
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_have_been_reserved_outlives_the_daemon() {
        let directory = tempfile::tempdir().unwrap();
        let mut observed = Observed::load(directory.path());
        observed.add(ObservedSlot { job: JobId(41), decided_at: UnixTime(7), start: None });
        observed.keep();
        let again = Observed::load(directory.path());
        assert!(again.has(JobId(41), UnixTime(7)) && !again.has(JobId(41), UnixTime(8)));
    }
}
