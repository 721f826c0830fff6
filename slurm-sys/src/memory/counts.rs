//! Numbers that one process counts up and another reads, in memory of a fixed length.

use memmap2::MmapRaw;
use nix::fcntl::SealFlag;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicU64, Ordering};

use super::sealed::{SEALED_LENGTH, checked, create, seal};

/// A page of numbers behind the identity of who counts in it, 0 as long as nobody does.
///
/// The reader makes it, so that it can go on reading when the counting process has ended.
#[derive(Debug)]
pub struct CountsPage {
    file: File,
    memory: MmapRaw,
    counts: usize,
}

impl CountsPage {
    /// Makes a page of so many numbers, all 0, which root and this user may open.
    ///
    /// # Errors
    /// Where the kernel gives no such memory.
    pub fn create(name: &std::ffi::CStr, counts: usize) -> io::Result<CountsPage> {
        let mut file = create(name)?;
        // Written and not only lengthened: a page that is first touched by the counting process
        // would have to be found then.
        file.write_all(&vec![0; length(counts)])?;
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        seal(&file, SEALED_LENGTH | SealFlag::F_SEAL_SEAL)?;
        CountsPage::of(file, counts)
    }

    /// Maps a page that another process has made.
    ///
    /// # Errors
    /// Where it does not hold so many numbers, is not sealed, others could have made it, or it
    /// can't be mapped.
    pub fn of(file: File, counts: usize) -> io::Result<CountsPage> {
        checked(&file, length(counts) as u64, SEALED_LENGTH)?;
        let memory = MmapRaw::map_raw(&file)?;
        Ok(CountsPage { file, memory, counts })
    }

    /// The number of its descriptor in this process.
    #[must_use]
    pub fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// The process that counts in the page, and its counters; `None` where no process does, or
    /// another has just begun to.
    #[must_use]
    pub fn read(&self) -> Option<(u64, Vec<u64>)> {
        let owner = self.number(0).load(Ordering::Acquire);
        let counts = (1..=self.counts).map(|index| self.number(index).load(Ordering::Acquire)).collect();
        (owner != 0 && self.number(0).load(Ordering::Acquire) == owner).then_some((owner, counts))
    }

    /// Begins to count in it as `owner`, from these numbers on.
    pub fn begin(&self, owner: u64, counts: impl Iterator<Item = u64>) {
        self.number(0).store(0, Ordering::Release);
        for (index, count) in (1..=self.counts).zip(counts) {
            self.number(index).store(count, Ordering::Release);
        }
        self.number(0).store(owner, Ordering::Release);
    }

    /// Raises a number to a value, if `owner` is who counts here. An index outside does nothing.
    pub fn raise(&self, owner: u64, index: usize, value: u64) {
        if index < self.counts && self.number(0).load(Ordering::Acquire) == owner {
            self.number(index + 1).fetch_max(value, Ordering::AcqRel);
        }
    }

    /// Puts a value into a number, if `owner` is who counts here, where no other thread of this
    /// process does so at the same time. An index outside does nothing.
    pub fn put(&self, owner: u64, index: usize, value: u64) {
        if index < self.counts && self.number(0).load(Ordering::Acquire) == owner {
            self.number(index + 1).store(value, Ordering::Release);
        }
    }

    /// The identity, or one of the numbers behind it.
    fn number(&self, index: usize) -> &AtomicU64 {
        let index = index.min(self.counts);
        // SAFETY: the mapping begins at a page and holds one number of eight bytes more than
        // `counts`, so that the number is aligned and inside, and sealed memory stays so long; it
        // lives as long as `self`; all access to it, here and elsewhere, is atomic.
        unsafe { AtomicU64::from_ptr(self.memory.as_mut_ptr().cast::<u64>().add(index)) }
    }
}

/// Length in bytes of a page of so many numbers.
fn length(counts: usize) -> usize {
    (counts + 1) * size_of::<u64>()
}
