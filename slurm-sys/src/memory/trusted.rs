//! Files that only root or this process's user can have written, opened without waiting for
//! anything.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Opens a regular file to read it, without following a link in its last place.
///
/// The file is looked at before it is opened: to open a FIFO can block, and to open a device can do
/// something.
///
/// # Errors
/// Where it can't be opened, is no regular file, or its owner or mode let others than root and this
/// process's user write it.
pub fn open_trusted(path: &Path) -> io::Result<(File, Metadata)> {
    let place = OpenOptions::new().read(true).custom_flags(libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC).open(path)?;
    let metadata = place.metadata()?;
    check(&metadata)?;
    let path = format!("/proc/self/fd/{}", place.as_raw_fd());
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC).open(path)?;
    Ok((file, metadata))
}

/// Takes hold of a directory to look at it later, which costs less than finding it by its path.
///
/// It is not opened for reading, so that nothing that lies there in its place can block.
///
/// # Errors
/// Where it can't be had, or is no directory.
pub fn hold_directory(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC).open(path)
}

/// What lets others than root and one user decide what is in a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distrust {
    /// It belongs to the user of this number.
    Owner(u32),
    /// Its permissions, such as 0o666, let others than its owner write it.
    Mode(u32),
}

/// Whether others than root and `user` may write a file or directory; where no user is named, its
/// owner may be anybody.
#[must_use]
pub fn distrust(metadata: &Metadata, user: Option<u32>) -> Option<Distrust> {
    let owner = metadata.uid();
    if owner != 0 && user.is_some_and(|user| user != owner) {
        return Some(Distrust::Owner(owner));
    }
    let mode = metadata.mode() & 0o777;
    (mode & 0o022 != 0).then_some(Distrust::Mode(mode))
}

/// Refuses what is no regular file, or what others could have written.
pub(super) fn check(metadata: &Metadata) -> io::Result<()> {
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    // SAFETY: geteuid reads a number of this process and can't fail.
    let user = unsafe { libc::geteuid() };
    if distrust(metadata, Some(user)).is_some() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "others than root and this user could have written it"));
    }
    Ok(())
}

/// Reads the first bytes of a file, fewer where it is shorter.
///
/// # Errors
/// Where it can't be read, or there is no memory.
pub fn read_start(file: &File, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_on(file, &mut bytes, most)?;
    Ok(bytes)
}

/// Reads on behind what was read already, until there are `length` bytes or the file ends.
///
/// # Errors
/// Where it can't be read, or there is no memory.
pub fn read_whole(file: &File, mut start: Vec<u8>, length: usize) -> io::Result<Vec<u8>> {
    read_on(file, &mut start, length)?;
    Ok(start)
}

fn read_on(file: &File, bytes: &mut Vec<u8>, length: usize) -> io::Result<()> {
    let missing = length.saturating_sub(bytes.len());
    bytes.try_reserve_exact(missing).map_err(|_| io::ErrorKind::OutOfMemory)?;
    file.take(missing as u64).read_to_end(bytes).map(drop)
}
