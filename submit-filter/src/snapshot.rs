//! The current snapshot, taken up without a lock by the submissions that read it.

use crate::claims::ClaimTable;
use arc_swap::ArcSwapOption;
use parking_lot::Mutex;
use predictor_core::snapshot::{Snapshot, SnapshotError};
use slurm_sys::mapping::ReadOnlyMapping;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A snapshot with what was claimed since it was published.
#[derive(Debug)]
pub(crate) struct Current {
    pub(crate) snapshot: Snapshot<ReadOnlyMapping>,
    /// What jobs have claimed since. A new snapshot knows of those jobs by itself, so that its claims begin at 0.
    pub(crate) claims: ClaimTable,
}

/// Which file was taken up, or refused, last. Renaming a new one into place changes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Identity {
    inode: u64,
    modified_ns: i64,
    length: u64,
}

impl Identity {
    fn of(metadata: &Metadata) -> Identity {
        Identity {
            inode: metadata.ino(),
            modified_ns: metadata.mtime().wrapping_mul(1_000_000_000).wrapping_add(metadata.mtime_nsec()),
            length: metadata.len(),
        }
    }

    /// One number for it, never 0.
    fn number(self) -> u64 {
        let mixed =
            self.inode.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (self.modified_ns as u64).rotate_left(17) ^ self.length.rotate_left(40);
        mixed | 1
    }
}

/// What became of looking for a new snapshot.
#[derive(Debug)]
pub(crate) enum Uptake {
    /// The file is the one known already, or another thread is busy with it.
    AsBefore,
    /// A new one was taken up.
    Taken,
    /// There is no file.
    Absent,
    /// The file can't be used; the one before stays.
    Damaged(SnapshotError),
    /// The file can't be read; the one before stays.
    Unreadable(io::Error),
}

/// Takes up snapshots from a path.
#[derive(Debug)]
pub(crate) struct SnapshotStore {
    path: PathBuf,
    current: ArcSwapOption<Current>,
    /// Number of the identity seen last, 0 for none.
    seen: AtomicU64,
    transparent: AtomicBool,
    damaged: AtomicBool,
    uptake: Mutex<()>,
}

impl SnapshotStore {
    pub(crate) fn new(path: PathBuf) -> SnapshotStore {
        SnapshotStore {
            path,
            current: ArcSwapOption::empty(),
            seen: AtomicU64::new(0),
            transparent: AtomicBool::new(false),
            damaged: AtomicBool::new(false),
            uptake: Mutex::new(()),
        }
    }

    /// Looks whether there is a new snapshot, and takes it up. A file that is as it was costs one look at its name.
    pub(crate) fn refresh(&self) -> Uptake {
        let identity = match std::fs::metadata(&self.path) {
            Ok(metadata) => Identity::of(&metadata).number(),
            // A file that has gone leaves the last snapshot in force, until it is too old.
            Err(_) => return Uptake::Absent,
        };
        if identity == self.seen.load(Ordering::Acquire) {
            return Uptake::AsBefore;
        }
        // Whoever comes while another thread maps and checks the new snapshot decides from the one before, and does not wait.
        let Some(_busy) = self.uptake.try_lock() else { return Uptake::AsBefore };
        match open(&self.path) {
            Ok((identity, Ok(current))) => {
                self.transparent.store(current.snapshot.has_transparent_policy(), Ordering::Relaxed);
                self.current.store(Some(Arc::new(current)));
                self.damaged.store(false, Ordering::Relaxed);
                self.seen.store(identity, Ordering::Release);
                Uptake::Taken
            }
            Ok((identity, Err(error))) => {
                self.damaged.store(true, Ordering::Relaxed);
                self.seen.store(identity, Ordering::Release);
                Uptake::Damaged(error)
            }
            Err(error) => {
                self.damaged.store(true, Ordering::Relaxed);
                self.seen.store(identity, Ordering::Release);
                Uptake::Unreadable(error)
            }
        }
    }

    /// The snapshot in force.
    pub(crate) fn current(&self) -> Option<Arc<Current>> {
        self.current.load_full()
    }

    /// Whether the snapshot in force has a policy for jobs whose users asked for nothing.
    pub(crate) fn has_transparent_policy(&self) -> bool {
        self.transparent.load(Ordering::Relaxed)
    }

    /// Whether the file seen last could not be used.
    pub(crate) fn last_was_damaged(&self) -> bool {
        self.damaged.load(Ordering::Relaxed)
    }
}

fn open(path: &Path) -> io::Result<(u64, Result<Current, SnapshotError>)> {
    let file = File::open(path)?;
    let identity = Identity::of(&file.metadata()?).number();
    let snapshot = Snapshot::open(ReadOnlyMapping::of(&file)?);
    let current = snapshot.map(|snapshot| Current { snapshot, claims: ClaimTable::new() });
    Ok((identity, current))
}
