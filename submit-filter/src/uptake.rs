//! Takes up snapshots: from the daemon's memory where that can be had, from the file otherwise.

use crate::counts::Counts;
use crate::snapshot::Current;
use crate::watch::Identity;
use job_types::time::UnixTime;
use parking_lot::{Mutex, RwLock};
use predictor_core::decisions::Timeliness;
use predictor_core::snapshot::{Announced, HEADER_LENGTH, Snapshot, SnapshotError};
use slurm_sys::memory::{HandOver, HandOverError, Memory, open_trusted, read_start, read_whole};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use thiserror::Error;

/// Largest snapshot that is taken up, in bytes; those of the largest clusters have some tens of MB.
const MOST_SNAPSHOT_BYTES: u64 = 512 << 20;

/// Why a snapshot is not taken up.
#[derive(Debug, Error)]
pub(crate) enum NotTaken {
    /// The snapshot can't be read.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// The daemon's memory can't be had.
    #[error("{0}")]
    NotHanded(#[from] HandOverError),
    /// It is not one, or damaged.
    #[error("{0}")]
    Damaged(#[from] SnapshotError),
    /// It is another one than was announced.
    #[error("the memory holds another snapshot than it was said to")]
    Other,
    /// It is dated ahead of the clock.
    #[error("it is dated {0} ahead of this machine's clock")]
    Ahead(job_types::time::Seconds),
}

/// What is wrong with the snapshot that was looked at last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Fault {
    /// Nothing is wrong with it.
    None,
    /// The snapshot is damaged or of another version.
    Damaged,
    /// The snapshot is dated later than now.
    Ahead,
}

/// What became of looking for a new snapshot.
#[derive(Debug)]
pub(crate) enum Uptake {
    /// There is none that was not looked at already.
    AsBefore,
    /// A new one was taken up.
    Taken,
    /// The new one can't be used; the one before stays.
    Refused(NotTaken),
}

/// What was looked at last.
#[derive(Debug, Default)]
struct Seen {
    hand_over: Option<Identity>,
    file: Option<Identity>,
    /// Whether that hand-over could be taken. The file says nothing new then.
    is_handed: bool,
    /// Whether the log says that it can't.
    is_told: bool,
}

/// Takes up snapshots from a hand-over or a file.
#[derive(Debug)]
pub(crate) struct SnapshotStore {
    hand_over: PathBuf,
    file: PathBuf,
    /// A lock that is held for as long as a pointer is copied. Pointers that are swapped without a
    /// lock keep state in each thread and end it with the thread, and slurmctld makes a thread for
    /// each submission: that costs more than the lock does.
    current: RwLock<Option<Arc<Current>>>,
    transparent: AtomicBool,
    fault: AtomicU8,
    seen: Mutex<Seen>,
}

impl SnapshotStore {
    pub(crate) fn new(hand_over: PathBuf, file: PathBuf) -> SnapshotStore {
        SnapshotStore {
            hand_over,
            file,
            current: RwLock::new(None),
            transparent: AtomicBool::new(false),
            fault: AtomicU8::new(Fault::None as u8),
            seen: Mutex::new(Seen::default()),
        }
    }

    /// Looks whether there is a new snapshot, and takes it up, with the page to count in that comes
    /// with it. `None` where another thread is doing so: whoever comes meanwhile decides from the
    /// snapshot before, and does not wait.
    pub(crate) fn refresh(&self, now: UnixTime, counts: &Counts) -> Option<Uptake> {
        let mut seen = self.seen.try_lock()?;
        // What can't be looked at is taken to be as it was.
        let hand_over = Identity::of(&self.hand_over).unwrap_or(seen.hand_over);
        if hand_over != seen.hand_over {
            seen.hand_over = hand_over;
            seen.is_handed = false;
            match hand_over.map(|_| self.take_handed(now, counts)) {
                Some(Ok(uptake)) => {
                    (seen.is_handed, seen.is_told) = (true, false);
                    return Some(uptake);
                }
                Some(Err(error)) if !seen.is_told => {
                    // Said once, because it may be so with each snapshot, as where the two run in
                    // containers of their own.
                    seen.is_told = true;
                    slurm_sys::log::info(&format!(
                        "job_submit/queuecast: snapshots are read from their file, as the memory of queuecastd can't be had: {error}"
                    ));
                }
                Some(Err(_)) | None => {}
            }
        }
        let file = Identity::of(&self.file).unwrap_or(seen.file);
        if seen.is_handed || file == seen.file {
            return Some(Uptake::AsBefore);
        }
        seen.file = file;
        // A file that has gone leaves the last snapshot in force, until it is too old.
        if file.is_none() {
            return Some(Uptake::AsBefore);
        }
        Some(self.take_file(now).unwrap_or_else(|error| {
            let fault = if matches!(error, NotTaken::Ahead(_)) { Fault::Ahead } else { Fault::Damaged };
            self.fault.store(fault as u8, Ordering::Relaxed);
            Uptake::Refused(error)
        }))
    }

    fn take_handed(&self, now: UnixTime, counts: &Counts) -> Result<Uptake, NotTaken> {
        let hand_over = HandOver::read(&self.hand_over)?;
        counts.take_page(&hand_over);
        let announced = hand_over.snapshot;
        if self.current().is_some_and(|current| current.is(announced.generation, announced.checksum)) {
            return Ok(Uptake::AsBefore);
        }
        if announced.length > MOST_SNAPSHOT_BYTES {
            return Err(too_large().into());
        }
        let snapshot = Snapshot::open(hand_over.open_snapshot()?)?;
        if snapshot.generation() != announced.generation || snapshot.checksum() != announced.checksum {
            return Err(NotTaken::Other);
        }
        self.take(snapshot, now)
    }

    fn take_file(&self, now: UnixTime) -> Result<Uptake, NotTaken> {
        let (file, metadata) = open_trusted(&self.file)?;
        // The header is looked at first, so that no memory is taken for a file that is something
        // else.
        let start = read_start(&file, HEADER_LENGTH)?;
        let length = Announced::of(&start)?.length;
        if length != metadata.len() {
            return Err(SnapshotError::Length.into());
        }
        let length = usize::try_from(length).ok().filter(|_| length <= MOST_SNAPSHOT_BYTES).ok_or_else(too_large)?;
        self.take(Snapshot::open(Memory::Own(read_whole(&file, start, length)?))?, now)
    }

    fn take(&self, snapshot: Snapshot<Memory>, now: UnixTime) -> Result<Uptake, NotTaken> {
        if snapshot.timeliness(now) == Timeliness::Ahead {
            return Err(NotTaken::Ahead(snapshot.published_at() - now));
        }
        self.fault.store(Fault::None as u8, Ordering::Relaxed);
        // The file of a daemon that has ended, for one. What was claimed since it was taken up
        // stays claimed.
        if self.current().is_some_and(|current| current.is(snapshot.generation(), snapshot.checksum())) {
            return Ok(Uptake::AsBefore);
        }
        self.transparent.store(snapshot.has_transparent_policy(), Ordering::Relaxed);
        let taken = Arc::new(Current::new(snapshot));
        // The one before is dropped, and its memory given back, after the lock.
        let before = self.current.write().replace(taken);
        drop(before);
        Ok(Uptake::Taken)
    }

    /// Gives the snapshot in force back, and forgets which files it was looked for in.
    pub(crate) fn let_go(&self) {
        *self.seen.lock() = Seen::default();
        *self.current.write() = None;
        self.transparent.store(false, Ordering::Relaxed);
        self.fault.store(Fault::None as u8, Ordering::Relaxed);
    }

    /// The snapshot in force.
    pub(crate) fn current(&self) -> Option<Arc<Current>> {
        self.current.read().clone()
    }

    /// Whether the snapshot in force has a policy for jobs whose users asked for nothing.
    pub(crate) fn has_transparent_policy(&self) -> bool {
        self.transparent.load(Ordering::Relaxed)
    }

    /// What is wrong with the snapshot that was looked at last.
    pub(crate) fn fault(&self) -> Fault {
        match self.fault.load(Ordering::Relaxed) {
            fault if fault == Fault::Damaged as u8 => Fault::Damaged,
            fault if fault == Fault::Ahead as u8 => Fault::Ahead,
            _ => Fault::None,
        }
    }
}

fn too_large() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, "it is too large for a snapshot")
}
