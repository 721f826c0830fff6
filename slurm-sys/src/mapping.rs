//! Files in shared memory: a snapshot to read, and numbers that several processes count in.

use memmap2::{Mmap, MmapRaw};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Largest snapshot that is mapped.
const MOST_SNAPSHOT_BYTES: u64 = 4 << 30;

/// A file that is read as it lies in memory.
#[derive(Debug)]
pub struct ReadOnlyMapping(Mmap);

impl ReadOnlyMapping {
    /// Maps a file that nobody but root or this process's user can have written.
    ///
    /// # Errors
    /// Where it can't be mapped, or its owner or mode let others write it.
    pub fn of(file: &File) -> io::Result<ReadOnlyMapping> {
        let metadata = file.metadata()?;
        // SAFETY: geteuid reads a number of this process and can't fail.
        let user = unsafe { libc::geteuid() };
        if !metadata.is_file() || (metadata.uid() != 0 && metadata.uid() != user && user != 0) || metadata.mode() & 0o022 != 0 {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "others than root and this user could have written the file"));
        }
        if metadata.len() > MOST_SNAPSHOT_BYTES {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the file is too large for a snapshot"));
        }
        // SAFETY: a snapshot is never changed or truncated once it has its name, and only those whom this process trusts could do so.
        unsafe { Mmap::map(file) }.map(ReadOnlyMapping)
    }
}

impl AsRef<[u8]> for ReadOnlyMapping {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Numbers in a file that several processes share, the first of them a magic one.
#[derive(Debug)]
pub struct SharedNumbers {
    memory: MmapRaw,
    length: usize,
}

impl SharedNumbers {
    /// Maps the file for counting, and makes or mends it first where it is not one of `length` numbers that begin with `magic`.
    ///
    /// # Errors
    /// Where the file can't be made or mapped.
    pub fn create(path: &Path, magic: u64, length: usize) -> io::Result<SharedNumbers> {
        let options = |options: &mut OpenOptions| options.read(true).write(true).mode(0o644).custom_flags(libc::O_NOFOLLOW).open(path);
        let file = options(OpenOptions::new().create(true).truncate(false))?;
        let bytes = (length * size_of::<u64>()) as u64;
        if file.metadata()?.len() != bytes {
            file.set_len(bytes)?;
        }
        let numbers = SharedNumbers { memory: MmapRaw::map_raw(&file)?, length };
        if numbers.get(0) != magic {
            (1..length).for_each(|index| numbers.store(index, 0));
            numbers.store(0, magic);
        }
        Ok(numbers)
    }

    /// Reads all numbers behind the magic one, without mapping; `None` where the file is not one of `length` numbers that begin with `magic`.
    ///
    /// # Errors
    /// Where the file can't be read.
    pub fn read(path: &Path, magic: u64, length: usize) -> io::Result<Option<Vec<u64>>> {
        let bytes = std::fs::read(path)?;
        let numbers: Vec<u64> = bytes.as_chunks().0.iter().map(|bytes| u64::from_ne_bytes(*bytes)).collect();
        Ok(match numbers.split_first() {
            Some((first, rest)) if *first == magic && numbers.len() == length => Some(rest.to_vec()),
            _ => None,
        })
    }

    /// Adds one to a number; an index outside does nothing.
    pub fn count(&self, index: usize) {
        if let Some(number) = self.number(index) {
            number.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A number; 0 for an index outside.
    #[must_use]
    pub fn get(&self, index: usize) -> u64 {
        self.number(index).map_or(0, |number| number.load(Ordering::Relaxed))
    }

    fn store(&self, index: usize, value: u64) {
        if let Some(number) = self.number(index) {
            number.store(value, Ordering::Relaxed);
        }
    }

    fn number(&self, index: usize) -> Option<&AtomicU64> {
        if index >= self.length {
            return None;
        }
        // SAFETY: the mapping begins at a page and holds `length` numbers of eight bytes, so the number is aligned and inside; it lives as
        // long as `self`; all access to it, here and in other processes, is atomic.
        Some(unsafe { AtomicU64::from_ptr(self.memory.as_mut_ptr().cast::<u64>().add(index)) })
    }
}
