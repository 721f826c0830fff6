//! Memory that nobody can change, shorten or lengthen any more.

use memmap2::{Mmap, MmapOptions};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use slurm_conf::trusted;

/// What keeps memory from faulting under whoever has mapped it.
pub(super) const SEALED_LENGTH: SealFlag = SealFlag::F_SEAL_SHRINK.union(SealFlag::F_SEAL_GROW);

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
        seal(&file, SEALED_LENGTH | SealFlag::F_SEAL_WRITE | SealFlag::F_SEAL_SEAL)?;
        Ok(SealedMemory(file))
    }

    /// The number of the memory's descriptor in this process.
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
        let length = checked(file, length, SEALED_LENGTH | SealFlag::F_SEAL_WRITE)?;
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
    let flags = MFdFlags::MFD_ALLOW_SEALING | MFdFlags::MFD_CLOEXEC;
    // Kernels before 6.3 do not know the flag that later ones want to be given for memory that is
    // not to be executed.
    let not_executed = flags | MFdFlags::from_bits_retain(libc::MFD_NOEXEC_SEAL);
    let descriptor = match memfd_create(name, not_executed) {
        Err(Errno::EINVAL) => memfd_create(name, flags)?,
        outcome => outcome?,
    };
    Ok(File::from(descriptor))
}

pub(super) fn seal(file: &File, seals: SealFlag) -> io::Result<()> {
    fcntl(file, FcntlArg::F_ADD_SEALS(seals))?;
    Ok(())
}

/// Refuses memory that lacks a seal, has another length, or that others than root and this user
/// made; its length otherwise.
pub(super) fn checked(file: &File, length: u64, seals: SealFlag) -> io::Result<usize> {
    let metadata = file.metadata()?;
    trusted::check(&metadata)?;
    let has = fcntl(file, FcntlArg::F_GET_SEALS).map(SealFlag::from_bits_retain);
    if !has.is_ok_and(|has| has.contains(seals)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not sealed memory"));
    }
    match usize::try_from(length) {
        Ok(checked) if metadata.size() == length && length > 0 => Ok(checked),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "the memory has another length than it should")),
    }
}
