//! The firm slots that there are, in a file that outlives the daemon.

use std::io;
use std::path::{Path, PathBuf};

use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};
use slurm_conf::state_directory::FIRM_SLOTS;
use slurm_conf::trusted::{self, Lasting, read_owned};
use upkeep::FirmSlot;

use crate::known::damaged::keep_aside;

/// The version of the file.
const VERSION: u32 = 1;
/// The name of the file while it is being written. It begins as those of unfinished snapshots do,
/// which the daemon removes at its start.
const UNFINISHED: &str = "snapshot.new-firm-slots";
/// The most bytes of the file that are read.
const MOST_BYTES: usize = 64 << 20;
/// For whom the file is: its owner.
const FOR_OWNER: u32 = 0o600;
/// How long a slot that is over is kept: as long as an account is charged for it.
const KEPT_FOR: Seconds = Seconds(7 * 86_400);
/// How many slots that are over are kept at the most; the oldest are forgotten first.
const MOST_OVER: usize = 10_000;

/// The slots, the oldest first.
#[derive(Debug)]
pub(crate) struct Ledger {
    path: PathBuf,
    unfinished: PathBuf,
    kept: Kept,
    /// Whether something is not on the disk yet.
    is_changed: bool,
    /// Whether the log says that it can't be kept.
    is_told: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    version: u32,
    /// The number of the next slot.
    next_id: u64,
    slots: Vec<FirmSlot>,
}

impl Ledger {
    /// The slots of an earlier daemon with this state directory. Where its file can't be used,
    /// numbers go on from the seconds of `now`, so that none is given twice.
    pub(crate) fn load(directory: &Path, now: UnixTime) -> Self {
        let path = directory.join(FIRM_SLOTS);
        let begun = |next_id| Kept { version: VERSION, next_id, slots: Vec::new() };
        let kept = match read_owned(&path, MOST_BYTES).map(|bytes| serde_json::from_slice::<Kept>(&bytes)) {
            Ok(Ok(kept)) if kept.version == VERSION => kept,
            Err(error) if error.kind() == io::ErrorKind::NotFound => begun(1),
            broken => {
                let reason = match broken {
                    Ok(Ok(kept)) => format!("it is of version {}", kept.version),
                    Ok(Err(error)) => error.to_string(),
                    Err(error) => error.to_string(),
                };
                keep_aside(&path, &reason);
                begun(now.0.unsigned_abs())
            }
        };
        Self { path, unfinished: directory.join(UNFINISHED), kept, is_changed: false, is_told: false }
    }

    /// The slots.
    pub(crate) fn slots(&self) -> &[FirmSlot] {
        &self.kept.slots
    }

    /// The slot at a place, to be changed.
    pub(crate) fn change(&mut self, place: usize) -> Option<&mut FirmSlot> {
        self.is_changed = true;
        self.kept.slots.get_mut(place)
    }

    /// Adds a slot, which gets its number from here, and returns its place.
    pub(crate) fn add(&mut self, slot: FirmSlot) -> usize {
        let id = self.kept.next_id;
        self.kept.next_id = id.saturating_add(1);
        self.kept.slots.push(FirmSlot { id, ..slot });
        self.is_changed = true;
        self.kept.slots.len() - 1
    }

    /// Takes a slot out of which nothing is left.
    pub(crate) fn remove(&mut self, place: usize) -> Option<FirmSlot> {
        self.is_changed = true;
        (place < self.kept.slots.len()).then(|| self.kept.slots.remove(place))
    }

    /// Forgets slots that have been over for long.
    pub(crate) fn forget(&mut self, now: UnixTime) {
        let before = self.kept.slots.len();
        let is_kept = |slot: &FirmSlot| slot.is_left || slot.over_at.is_none_or(|over_at| now - over_at < KEPT_FOR);
        self.kept.slots.retain(is_kept);
        let over = self.kept.slots.iter().filter(|slot| slot.state.is_over() && !slot.is_left).count();
        let mut surplus = over.saturating_sub(MOST_OVER);
        self.kept.slots.retain(|slot| {
            let goes = surplus > 0 && slot.state.is_over() && !slot.is_left;
            surplus -= usize::from(goes);
            !goes
        });
        self.is_changed |= self.kept.slots.len() != before;
    }

    /// Writes what has changed to the disk. Returns whether all is there.
    pub(crate) fn keep(&mut self) -> bool {
        if !self.is_changed {
            return true;
        }
        let bytes = serde_json::to_vec(&self.kept).map_err(io::Error::other);
        let outcome = bytes.and_then(|bytes| trusted::put(&self.path, &self.unfinished, &bytes, FOR_OWNER, Lasting::OnDisk));
        match outcome {
            Ok(()) => (self.is_changed, self.is_told) = (false, false),
            Err(error) if !self.is_told => {
                self.is_told = true;
                tracing::error!(%error, path = %self.path.display(), "firm slots can't be kept: none is made or moved until they can");
            }
            Err(_) => {}
        }
        !self.is_changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::firm::made_up::slot;
    use job_types::slot::SlotState;
    use std::fs;

    const NOW: UnixTime = UnixTime(1_774_618_200);

    #[test]
    fn slots_outlive_the_daemon_and_no_number_is_given_twice() {
        let directory = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::load(directory.path(), NOW);
        let places = [ledger.add(slot()), ledger.add(slot())];
        ledger.remove(places[1]);
        assert!(ledger.keep());
        let mut again = Ledger::load(directory.path(), NOW);
        assert_eq!(again.slots(), ledger.slots());
        again.add(slot());
        let ids: Vec<u64> = again.slots().iter().map(|slot| slot.id).collect();
        assert_eq!(ids, [1, 3]);
    }

    #[test]
    fn a_file_that_is_damaged_or_of_another_version_is_kept_aside_and_numbers_go_on_elsewhere() {
        for content in ["{", r#"{"version":2,"next_id":9,"slots":[]}"#] {
            let directory = tempfile::tempdir().unwrap();
            fs::write(directory.path().join(FIRM_SLOTS), content).unwrap();
            let mut ledger = Ledger::load(directory.path(), NOW);
            let place = ledger.add(slot());
            assert_eq!(ledger.slots()[place].id, NOW.0.unsigned_abs());
            assert!(ledger.keep());
            assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "the file, and what was kept aside");
        }
    }

    #[test]
    fn a_slot_is_forgotten_a_week_after_it_was_over_unless_something_of_it_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::load(directory.path(), NOW);
        for (is_over, is_left) in [(false, false), (true, false), (true, true)] {
            let place = ledger.add(slot());
            let slot = ledger.change(place).unwrap();
            if is_over {
                slot.end(SlotState::Used, None, NOW);
            }
            slot.is_left = is_left;
        }
        ledger.forget(NOW + KEPT_FOR - Seconds(1));
        assert_eq!(ledger.slots().len(), 3);
        ledger.forget(NOW + KEPT_FOR);
        let left: Vec<u64> = ledger.slots().iter().map(|slot| slot.id).collect();
        assert_eq!(left, [1, 3]);
    }
}
