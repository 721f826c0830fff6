//! Whether anything in the state directory has changed, by one look at the directory itself.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Name of the kill switch.
const OFF_FILE: &str = "off";

/// For how long after a change of the directory another one may bear the same time: file systems
/// keep times by the tick of the system's clock, some of them by the second.
const UNSETTLED_NS: i128 = 2_000_000_000;

/// What was seen of the directory last.
#[derive(Debug)]
pub(crate) struct Watch {
    directory: PathBuf,
    off: PathBuf,
    /// The state of the directory that was looked through last, and in the lowest bit whether the
    /// kill switch was on in it; 0 for none. They are one number so that no thread pairs the one
    /// with another's other.
    seen: AtomicU64,
}

/// A state of the directory, as far as its time of change tells it from others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirectoryState {
    number: u64,
    is_settled: bool,
}

impl Watch {
    pub(crate) fn new(directory: &Path) -> Watch {
        Watch { directory: directory.to_owned(), off: directory.join(OFF_FILE), seen: AtomicU64::new(0) }
    }

    /// The present state; `None` where the directory can't be looked at.
    pub(crate) fn state(&self) -> Option<DirectoryState> {
        let metadata = self.directory.metadata().ok()?;
        let changed = i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_nanos() as i128;
        // Fibonacci hashing keeps the directory that may have come into the place of another apart
        // from it.
        let number = (changed as u64).rotate_left(20) ^ metadata.ino().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Some(DirectoryState { number: (number | 2) & !1, is_settled: now - changed >= UNSETTLED_NS })
    }

    /// Whether the kill switch is on, if the directory is as it was when it was looked through.
    pub(crate) fn known(&self, state: Option<DirectoryState>) -> Option<bool> {
        let state = state.filter(|state| state.is_settled)?;
        let seen = self.seen.load(Ordering::Acquire);
        (seen & !1 == state.number).then_some(seen & 1 == 1)
    }

    /// Takes the directory for one that was never looked through.
    pub(crate) fn forget(&self) {
        self.seen.store(0, Ordering::Release);
    }

    /// Looks at the kill switch itself.
    pub(crate) fn is_off(&self) -> bool {
        self.off.symlink_metadata().is_ok()
    }

    /// Notes that everything in the directory has been looked at since it was in this state.
    pub(crate) fn looked_through(&self, state: Option<DirectoryState>, is_off: bool) {
        if let Some(state) = state {
            self.seen.store(state.number | u64::from(is_off), Ordering::Release);
        }
    }
}
