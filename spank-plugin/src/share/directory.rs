//! The directory in which root keeps what is done of the jobs of a node.
//!
//! slurmstepd has the umask of the job when it comes here, and the job's user may have planted
//! anything wherever a directory was open to it. So modes are set by descriptor, links are not
//! followed, nothing that is opened can block, and what is not a regular file of root's is refused.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::{Mode, fchmod, fstat};
use nix::unistd::{UnlinkatFlags, geteuid, mkdir, unlinkat};

/// Bits of a mode that are not those of the file's type.
const PERMISSIONS: u32 = 0o7777;

/// The mode bits that give a right to users other than the owner.
const RIGHTS_OF_OTHERS: u32 = 0o077;

/// How files and directories are opened: without following a link, without waiting for whoever is
/// at the other end of a FIFO, and not for the tasks that slurmstepd forks.
const CAREFULLY: OFlag = OFlag::O_NOFOLLOW.union(OFlag::O_CLOEXEC).union(OFlag::O_NONBLOCK);

/// A directory that belongs to this process's user, and to which nobody else has access.
#[derive(Debug)]
pub(crate) struct Directory {
    descriptor: OwnedFd,
}

impl Directory {
    /// Opens the directory, which it makes where there is none.
    ///
    /// A directory of the right owner to which others had access is closed to them. Whatever is in
    /// it may be theirs, or held open by them, so that it is removed.
    ///
    /// # Errors
    /// What the kernel says, also where there is something else than a directory; and where the
    /// directory belongs to another user.
    pub(crate) fn open(path: &Path) -> io::Result<Directory> {
        match mkdir(path, Mode::S_IRWXU) {
            Ok(()) | Err(Errno::EEXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let descriptor = open(path, OFlag::O_RDONLY | OFlag::O_DIRECTORY | CAREFULLY, Mode::empty())?;
        let found = fstat(&descriptor)?;
        if found.st_uid != geteuid().as_raw() {
            return Err(io::Error::other(format!("it belongs to user {}", found.st_uid)));
        }
        let directory = Directory { descriptor };
        let permissions = found.st_mode & PERMISSIONS;
        if permissions != Mode::S_IRWXU.bits() {
            fchmod(&directory.descriptor, Mode::S_IRWXU)?;
            if permissions & RIGHTS_OF_OTHERS != 0 {
                for name in directory.names()? {
                    directory.remove(&name);
                }
            }
        }
        Ok(directory)
    }

    /// Opens a file for reading and writing, which it makes where there is none.
    ///
    /// # Errors
    /// What the kernel says, and where there is something else than a regular file of this user's.
    pub(crate) fn file(&self, name: &str) -> io::Result<File> {
        let mode = Mode::S_IRUSR | Mode::S_IWUSR;
        let descriptor = openat(&self.descriptor, name, OFlag::O_RDWR | OFlag::O_CREAT | CAREFULLY, mode)?;
        let file = checked(File::from(descriptor))?;
        fchmod(&file, mode)?;
        Ok(file)
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// As [`Directory::file`], and where there is none.
    pub(crate) fn existing_file(&self, name: &str) -> io::Result<File> {
        checked(File::from(openat(&self.descriptor, name, OFlag::O_RDONLY | CAREFULLY, Mode::empty())?))
    }

    /// The names of what is in the directory; names that are not UTF-8 are left out, as they are
    /// none of ours.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut listing = Dir::openat(&self.descriptor, ".", OFlag::O_RDONLY | OFlag::O_DIRECTORY | CAREFULLY, Mode::empty())?;
        let entries = listing.iter().filter_map(Result::ok);
        let names = entries.filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
        Ok(names.filter(|name| name != "." && name != "..").collect())
    }

    /// Removes a file or an empty directory; what can't be removed stays.
    pub(crate) fn remove(&self, name: &str) {
        if unlinkat(&self.descriptor, name, UnlinkatFlags::NoRemoveDir).is_err() {
            let _ = unlinkat(&self.descriptor, name, UnlinkatFlags::RemoveDir);
        }
    }
}

/// Passes on a regular file of this user's that has no name elsewhere.
fn checked(file: File) -> io::Result<File> {
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("there is something else than a regular file"));
    }
    if found.uid() != geteuid().as_raw() || found.nlink() > 1 {
        return Err(io::Error::other("the file is another user's, or has a second name"));
    }
    Ok(file)
}
