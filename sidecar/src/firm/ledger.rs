//! The firm slots that there are, in a file that outlives the daemon.

use std::path::Path;

use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};
use slurm_conf::state_directory::FIRM_SLOTS;
use upkeep::FirmSlot;

use super::kept::{Kept, Place};

/// The version of the file.
const VERSION: u32 = 1;
/// The file, which is for its owner alone.
const PLACE: Place = Place { name: FIRM_SLOTS, mode: 0o600, most_bytes: 64 << 20 };
/// How long a slot that is over is kept: as long as an account is charged for it.
const KEPT_FOR: Seconds = Seconds(7 * 86_400);
/// How many slots that are over are kept at the most; the oldest are forgotten first.
const MOST_OVER: usize = 10_000;

/// The slots, the oldest first.
#[derive(Debug)]
pub(super) struct Ledger(Kept<Slots>);

#[derive(Debug, Serialize, Deserialize)]
struct Slots {
    version: u32,
    /// The number of the next slot.
    next_id: u64,
    slots: Vec<FirmSlot>,
}

impl Ledger {
    /// The slots of an earlier daemon with this state directory. Where its file can't be used,
    /// numbers go on from the seconds of `now`, so that none is given twice.
    pub(super) fn load(directory: &Path, now: UnixTime) -> Self {
        let other_version = |kept: &Slots| (kept.version != VERSION).then_some(kept.version);
        let begun = |is_lost| Slots { version: VERSION, next_id: if is_lost { now.0.unsigned_abs() } else { 1 }, slots: Vec::new() };
        Self(Kept::load(directory, PLACE, other_version, begun))
    }

    /// The slots.
    pub(super) fn slots(&self) -> &[FirmSlot] {
        &self.0.value().slots
    }

    /// The slot at a place, to be changed.
    pub(super) fn change(&mut self, place: usize) -> Option<&mut FirmSlot> {
        self.0.change().slots.get_mut(place)
    }

    /// Adds a slot, which gets its number from here, and returns its place.
    pub(super) fn add(&mut self, slot: FirmSlot) -> usize {
        let Slots { next_id, slots, .. } = self.0.change();
        slots.push(FirmSlot { id: *next_id, ..slot });
        *next_id = next_id.saturating_add(1);
        slots.len() - 1
    }

    /// Takes a slot out of which nothing is left.
    pub(super) fn remove(&mut self, place: usize) -> Option<FirmSlot> {
        let slots = &mut self.0.change().slots;
        (place < slots.len()).then(|| slots.remove(place))
    }

    /// Forgets slots that have been over for long.
    pub(super) fn forget(&mut self, now: UnixTime) {
        let is_kept = |slot: &FirmSlot| slot.is_left || slot.over_at.is_none_or(|over_at| now - over_at < KEPT_FOR);
        let is_over = |slot: &&FirmSlot| slot.state.is_over() && !slot.is_left;
        let mut surplus = self.slots().iter().filter(|slot| is_kept(slot)).filter(is_over).count().saturating_sub(MOST_OVER);
        if surplus == 0 && self.slots().iter().all(is_kept) {
            return;
        }
        let slots = &mut self.0.change().slots;
        slots.retain(is_kept);
        slots.retain(|slot| {
            let goes = surplus > 0 && is_over(&slot);
            surplus -= usize::from(goes);
            !goes
        });
    }

    /// Writes what has changed to the disk. Returns whether all is there.
    pub(super) fn keep(&mut self) -> bool {
        self.0.keep(|error, path| {
            tracing::error!(%error, path = %path.display(), "firm slots can't be kept: none is made or moved until they can");
        })
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
