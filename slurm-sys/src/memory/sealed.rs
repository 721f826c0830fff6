//! Memory that nobody can change, shorten or lengthen any more.

use memmap2::{Mmap, MmapOptions};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use slurm_conf::trusted;

/// What keeps memory from faulting under whoever has mapped it.
pub(super) const SEALED_LENGTH: libc::c_int = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW;

/// Memory with a descriptor, of which the kernel keeps the length and the content as they are.
#[derive(Debug)]
pub struct SealedMemory(File);

impl SealedMemory {
    /// Copies bytes into memory of their own, which root and this user may read, and seals it.
    ///
    /// # Errors
    /// Where the kernel gives no such memory.
    pub fn of(name: &std::ffi::CStr, bytes: &[u8]) -> io::Result<SealedMemory> {
        let mut file = create(name)?;
        file.write_all(bytes)?;
        file.set_permissions(std::fs::Permissions::from_mode(0o400))?;
        seal(&file, SEALED_LENGTH | libc::F_SEAL_WRITE | libc::F_SEAL_SEAL)?;
        Ok(SealedMemory(file))
    }

    /// Its number in this process.
    #[must_use]
    pub fn descriptor(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Bytes of this process that stay as they are: sealed memory, or memory of its own.
#[derive(Debug)]
pub enum Memory {
    /// Sealed by the kernel and shared with whoever made it.
    Shared(Mmap),
    /// A copy that was read from a file.
    Own(Vec<u8>),
}

impl Memory {
    /// Maps sealed memory of root or this process's user, and touches each page of it, so that
    /// whoever reads it later meets no page fault.
    ///
    /// # Errors
    /// Where it is of another length, is not sealed, others could have made it, or it can't be
    /// mapped.
    pub fn shared(file: &File, length: u64) -> io::Result<Memory> {
        let length = checked(file, length, SEALED_LENGTH | libc::F_SEAL_WRITE)?;
        // SAFETY: the kernel has sealed the memory against writing and against a change of its
        // length, for good.
        unsafe { MmapOptions::new().len(length).populate().map(file) }.map(Memory::Shared)
    }
}

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        match self {
            Memory::Shared(memory) => memory,
            Memory::Own(memory) => memory,
        }
    }
}

/// Anonymous memory with a descriptor, which takes seals.
pub(super) fn create(name: &std::ffi::CStr) -> io::Result<File> {
    let flags = libc::MFD_ALLOW_SEALING | libc::MFD_CLOEXEC;
    // Kernels before 6.3 do not know the flag that later ones want to be given for memory that is
    // not to be executed.
    for flags in [flags | libc::MFD_NOEXEC_SEAL, flags] {
        // SAFETY: the name is a string that lives through the call.
        let descriptor = unsafe { libc::memfd_create(name.as_ptr(), flags) };
        if descriptor >= 0 {
            // SAFETY: the descriptor is new and nobody else's.
            return Ok(unsafe { File::from_raw_fd(descriptor) });
        }
        if io::Error::last_os_error().raw_os_error() != Some(libc::EINVAL) {
            break;
        }
    }
    Err(io::Error::last_os_error())
}

pub(super) fn seal(file: &File, seals: libc::c_int) -> io::Result<()> {
    // SAFETY: the descriptor is open, and the command takes a number.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Refuses memory that lacks a seal, has another length, or that others than root and this user
/// made; its length otherwise.
pub(super) fn checked(file: &File, length: u64, seals: libc::c_int) -> io::Result<usize> {
    let metadata = file.metadata()?;
    trusted::check(&metadata)?;
    // SAFETY: the descriptor is open, and the command takes nothing.
    let has = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
    if has < 0 || has & seals != seals {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not sealed memory"));
    }
    match usize::try_from(length) {
        Ok(checked) if metadata.size() == length && length > 0 => Ok(checked),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "the memory has another length than it should")),
    }
}
