//! Whether anything in the state directory has changed, by one look at the directory itself.

use job_types::time::UnixTime;
use parking_lot::RwLock;
use slurm_conf::trusted::{hold_directory, is_there, present};
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// How many nanoseconds after a change of the directory another change may bear the same time, if
/// the file system keeps times by the second.
const UNSETTLED_BY_SECONDS_NS: i128 = 2_000_000_000;
/// How many nanoseconds that is if the file system keeps times by the tick of the kernel's clock,
/// which has at least 100 ticks in a second (`CONFIG_HZ`).
const UNSETTLED_BY_TICKS_NS: i128 = 50_000_000;

/// The state directory, as one look at it tells whether anything there has changed.
#[derive(Debug)]
pub(crate) struct Watch {
    directory: PathBuf,
    /// The directory, open, so that looking at it does not begin at the root each time.
    open: RwLock<Option<OpenDirectory>>,
}

/// A kill switch in the directory: a file that switches something off for as long as it exists.
#[derive(Debug)]
pub(crate) struct Switch {
    path: PathBuf,
    seen: Seen,
}

/// What was found in the directory when it was looked through last.
///
/// The number tells the state that the directory was in then, and in its lowest bit what was found;
/// it is 0 where the directory was never looked through. Both are in one number so that no thread
/// pairs the state of one look with what another has found.
#[derive(Debug, Default)]
pub(crate) struct Seen(AtomicU64);

/// The directory that the path led to.
#[derive(Debug)]
struct OpenDirectory {
    file: File,
    inode: (u64, u64),
    /// The second in which the path led there. In each second it is followed anew, because another
    /// directory may have come into the place of this one.
    at: UnixTime,
}

/// A state of the directory, as far as its time of change tells it from others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirectoryState {
    number: u64,
    is_settled: bool,
}

/// The present time in nanoseconds since 1970, by the clock from which file systems take theirs.
fn now_ns() -> i128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i128)
}

impl Watch {
    pub(crate) fn new(directory: &Path) -> Watch {
        Watch { directory: directory.to_owned(), open: RwLock::new(None) }
    }

    /// The present state; `None` where the directory can't be looked at.
    pub(crate) fn state(&self, now: UnixTime) -> Option<DirectoryState> {
        let metadata = self.open_metadata(now).or_else(|| self.follow(now))?;
        let changed = i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec());
        // A time of whole seconds tells that no more is kept of it, but once in a thousand million.
        let by_seconds = metadata.ctime_nsec() == 0;
        let needed = if by_seconds { UNSETTLED_BY_SECONDS_NS } else { UNSETTLED_BY_TICKS_NS };
        let is_settled = now_ns() - changed >= needed;
        // Fibonacci hashing keeps the directory that may have come into the place of another apart
        // from it.
        let number = (changed as u64).rotate_left(20) ^ metadata.ino().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Some(DirectoryState { number: (number | 2) & !1, is_settled })
    }

    /// What is known of the open directory, if the path led there in this second and it was not
    /// removed since.
    fn open_metadata(&self, now: UnixTime) -> Option<Metadata> {
        let open = self.open.try_read()?;
        let metadata = open.as_ref().filter(|open| open.at == now)?.file.metadata().ok()?;
        (metadata.nlink() > 0).then_some(metadata)
    }

    /// Follows the path, and keeps open what it leads to.
    fn follow(&self, now: UnixTime) -> Option<Metadata> {
        let metadata = self.directory.metadata().ok()?;
        // Whoever comes while another thread does this follows the path as well, and goes on.
        if let Some(mut open) = self.open.try_write() {
            let inode = (metadata.dev(), metadata.ino());
            match open.as_mut() {
                Some(open) if open.inode == inode => open.at = now,
                _ => *open = self.open_anew(inode, now),
            }
        }
        Some(metadata)
    }

    /// The directory, opened; `None` where it can't be, or is another one again.
    fn open_anew(&self, inode: (u64, u64), at: UnixTime) -> Option<OpenDirectory> {
        let file = hold_directory(&self.directory).ok()?;
        let metadata = file.metadata().ok()?;
        ((metadata.dev(), metadata.ino()) == inode).then_some(OpenDirectory { file, inode, at })
    }

    /// Closes the directory.
    pub(crate) fn forget(&self) {
        *self.open.write() = None;
    }
}

impl Switch {
    /// The switch of that name in a directory.
    pub(crate) fn new(directory: &Path, name: &str) -> Switch {
        Switch { path: directory.join(name), seen: Seen::default() }
    }

    /// Whether it is on, if the directory is as it was when it was looked through.
    pub(crate) fn known(&self, state: Option<DirectoryState>) -> Option<bool> {
        self.seen.known(state)
    }

    /// Takes the directory for one that was never looked through.
    pub(crate) fn forget(&self) {
        self.seen.0.store(0, Ordering::Release);
    }

    /// Looks at the switch itself. Where it can't be looked at it is as it was known last.
    pub(crate) fn is_on(&self) -> bool {
        is_there(&self.path).unwrap_or_else(|_| self.seen.0.load(Ordering::Acquire) & 1 == 1)
    }

    /// Notes that everything in the directory has been looked at since it was in this state.
    pub(crate) fn looked_through(&self, state: Option<DirectoryState>, is_on: bool) {
        self.seen.looked_through(state, is_on);
    }
}

impl Seen {
    /// What was found, if the directory is as it was when it was looked through.
    pub(crate) fn known(&self, state: Option<DirectoryState>) -> Option<bool> {
        let state = state.filter(|state| state.is_settled)?;
        let seen = self.0.load(Ordering::Acquire);
        (seen & !1 == state.number).then_some(seen & 1 == 1)
    }

    /// Notes what was found since the directory was in this state.
    pub(crate) fn looked_through(&self, state: Option<DirectoryState>, is_found: bool) {
        if let Some(state) = state {
            self.0.store(state.number | u64::from(is_found), Ordering::Release);
        }
    }
}

/// Which file was looked at last. Renaming a new one into place changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    inode: u64,
    modified: (i64, i64),
    length: u64,
}

impl Identity {
    /// Returns the identity of what lies at a path, without opening it or following a link; `None`
    /// if nothing is there.
    ///
    /// # Errors
    /// It can't be looked at, which says nothing about what is there.
    pub(crate) fn of(path: &Path) -> io::Result<Option<Identity>> {
        let identity = |metadata: Metadata| Identity {
            inode: metadata.ino(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            length: metadata.len(),
        };
        Ok(present(path.symlink_metadata())?.map(identity))
    }
}
