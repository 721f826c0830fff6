//! Files that only root, this process's user or the owner of their directory can have written,
//! opened without following a link and without waiting for anything, and written whole.
//!
//! Whatever lies in the state directory, or in the place of a file there, is opened by these
//! functions: by the plugin, which trusts root and slurmctld's own user ([`open_trusted`]), and by
//! the daemon and the command line, which trust the directory's owner as well ([`open_owned`]):
//! they may run as somebody else, and the directory's owner can put anything there anyway.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

/// Opens a regular file to read it, without following a link in its last place.
///
/// The file is looked at before it is opened: to open a FIFO can block, and to open a device can do
/// something.
///
/// # Errors
/// Where it can't be opened, is no regular file, or its owner or mode let others than root and this
/// process's user write it.
pub fn open_trusted(path: &Path) -> io::Result<(File, Metadata)> {
    open(path, None, Access::Read)
}

/// Opens a regular file as [`open_trusted`] does; it may belong to the owner of its directory as
/// well.
///
/// # Errors
/// As [`open_trusted`].
pub fn open_owned(path: &Path) -> io::Result<(File, Metadata)> {
    open(path, Some(owner_of_directory(path)?), Access::Read)
}

/// Reads a file that [`open_owned`] opens, of at most `most` bytes.
///
/// # Errors
/// As [`open_owned`]; [`io::ErrorKind::FileTooLarge`] before anything is read where it has more
/// bytes; where it can't be read, or there is no memory.
pub fn read_owned(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let (file, metadata) = open_owned(path)?;
    let length = usize::try_from(metadata.len()).ok().filter(|length| *length <= most);
    let length = length.ok_or_else(|| {
        let reason = format!("it has {} bytes, which is more than {most}", metadata.len());
        io::Error::new(io::ErrorKind::FileTooLarge, reason)
    })?;
    read_start(&file, length)
}

/// Opens a file of the state directory to write into it where it lies; one that is absent is made
/// with these permissions.
///
/// # Errors
/// As [`open_owned`], and where it has a second name, which could be anybody's file.
pub fn open_to_write(path: &Path, mode: u32) -> io::Result<File> {
    let owner = owner_of_directory(path)?;
    match open(path, Some(owner), Access::Write) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        outcome => return outcome.map(|(file, _)| file),
    }
    let made = OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(path)?;
    made.set_permissions(Permissions::from_mode(mode))?;
    hand_to_owner(&made, path)?;
    Ok(made)
}

/// How long what was written is to stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// It outlasts a crash of the machine.
    OnDisk,
    /// It stays for as long as the machine runs.
    InMemory,
}

/// A file that is written whole beside the one whose place it then takes, in the same directory.
/// Until it is in place it is removed when it is dropped: a full disk would only become fuller.
#[derive(Debug)]
pub struct Replacement {
    /// What is written.
    pub file: File,
    unfinished: PathBuf,
    path: PathBuf,
    is_placed: bool,
}

impl Replacement {
    /// Begins to write, as `unfinished`, what is to lie at `path`. At no time may more people read
    /// it than `mode` lets. Where root writes it, it belongs to the owner and the group of its
    /// directory, for whom it may be meant alone.
    ///
    /// # Errors
    /// Where it can't be made.
    pub fn begin(path: PathBuf, unfinished: PathBuf, mode: u32) -> io::Result<Replacement> {
        let file = create_new(&unfinished, mode).inspect_err(|_| {
            let _ = fs::remove_file(&unfinished);
        })?;
        Ok(Replacement { file, unfinished, path, is_placed: false })
    }

    /// Puts the file in place. A reader sees the one before or this one.
    ///
    /// # Errors
    /// Where it can't be; the one before stays.
    pub fn place(mut self, lasting: Lasting) -> io::Result<()> {
        if lasting == Lasting::OnDisk {
            self.file.sync_all()?;
        }
        fs::rename(&self.unfinished, &self.path)?;
        self.is_placed = true;
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.is_placed {
            let _ = fs::remove_file(&self.unfinished);
        }
    }
}

/// Puts a file with this content in place, as a [`Replacement`].
///
/// # Errors
/// Where it can't be written; the one before stays.
pub fn put(path: &Path, unfinished: &Path, bytes: &[u8], mode: u32, lasting: Lasting) -> io::Result<()> {
    let mut replacement = Replacement::begin(path.to_owned(), unfinished.to_owned(), mode)?;
    replacement.file.write_all(bytes)?;
    replacement.place(lasting)
}

/// Makes a file, in the place of one that somebody may have left there.
///
/// # Errors
/// Where it can't be made.
pub fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    hand_to_owner(&file, path)?;
    file.set_permissions(Permissions::from_mode(mode))?;
    Ok(file)
}

/// Sets who may read a file that [`open_owned`] would open. That there is none is no error.
///
/// # Errors
/// Where it can't be looked at, or its permissions can't be set.
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    match look(path, Some(owner_of_directory(path)?)) {
        Ok((_, metadata)) if metadata.mode() & 0o777 == mode => Ok(()),
        Ok((place, _)) => fs::set_permissions(path_of(&place), Permissions::from_mode(mode)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Whether something lies at a path, of which only [`io::ErrorKind::NotFound`] says that it does
/// not. No link is followed.
///
/// # Errors
/// Any other error: of what is there nothing is known.
pub fn is_there(path: &Path) -> io::Result<bool> {
    present(path.symlink_metadata()).map(|metadata| metadata.is_some())
}

/// What was looked at; `None` where it is not there, which only [`io::ErrorKind::NotFound`] says.
///
/// # Errors
/// Any other error, such as a refusal, a fault of the disk, or a stale handle of a network's file
/// system: of what is there nothing is known.
pub fn present<T>(looked: io::Result<T>) -> io::Result<Option<T>> {
    match looked {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether an error of these functions says that something else lies in the place of the file, and
/// not that the system could not look: what lies there is of no use to anybody.
#[must_use]
pub fn is_damage(error: &io::Error) -> bool {
    error.raw_os_error().is_none() && error.kind() != io::ErrorKind::OutOfMemory
}

/// Renames what lies at a path, whatever it is, so that somebody can look at it. Returns its new
/// name: the old one with `.damaged` behind it.
///
/// # Errors
/// Where it can't be renamed.
pub fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".damaged");
    let aside = PathBuf::from(aside);
    fs::rename(path, &aside)?;
    Ok(aside)
}

/// Takes hold of a directory to look at it later, which costs less than finding it by its path.
///
/// It is not opened for reading, so that nothing that lies there in its place can block.
///
/// # Errors
/// Where it can't be had, or is no directory.
pub fn hold_directory(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags((OFlag::O_PATH | OFlag::O_DIRECTORY).bits()).open(path)
}

/// What lets others than root and one user decide what is in a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distrust {
    /// The file or directory belongs to the user of this number.
    Owner(u32),
    /// The permissions of the file or directory, such as 0o666, let others than its owner write it.
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

/// Refuses what is no regular file, or what others than root and this process's user could have
/// written.
///
/// # Errors
/// The refusal.
pub fn check(metadata: &Metadata) -> io::Result<()> {
    check_for(metadata, None)
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

/// What a file is opened for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

fn open(path: &Path, also: Option<u32>, access: Access) -> io::Result<(File, Metadata)> {
    let (place, metadata) = look(path, also)?;
    let writes = access == Access::Write;
    if writes && metadata.nlink() != 1 {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it has more than one name"));
    }
    let flags = (OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits();
    let file = OpenOptions::new().read(true).write(writes).custom_flags(flags).open(path_of(&place))?;
    Ok((file, metadata))
}

/// Takes hold of what lies at a path without opening it, and refuses what is not to be trusted.
fn look(path: &Path, also: Option<u32>) -> io::Result<(File, Metadata)> {
    let place = OpenOptions::new().read(true).custom_flags((OFlag::O_PATH | OFlag::O_NOFOLLOW).bits()).open(path)?;
    let metadata = place.metadata()?;
    check_for(&metadata, also)?;
    Ok((place, metadata))
}

/// The path of what is held.
fn path_of(place: &File) -> String {
    format!("/proc/self/fd/{}", place.as_raw_fd())
}

fn check_for(metadata: &Metadata, also: Option<u32>) -> io::Result<()> {
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let own = nix::unistd::geteuid().as_raw();
    if distrust(metadata, Some(own)).is_some() && (also.is_none() || distrust(metadata, also).is_some()) {
        let who = if also.is_some() { "root, this user and the directory's owner" } else { "root and this user" };
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("others than {who} could have written it")));
    }
    Ok(())
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn owner_of_directory(path: &Path) -> io::Result<u32> {
    fs::metadata(directory_of(path)).map(|metadata| metadata.uid())
}

/// Gives a file that root has made to whom its directory belongs.
fn hand_to_owner(file: &File, path: &Path) -> io::Result<()> {
    if !nix::unistd::geteuid().is_root() {
        return Ok(());
    }
    let directory = fs::metadata(directory_of(path))?;
    let metadata = file.metadata()?;
    if (metadata.uid(), metadata.gid()) == (directory.uid(), directory.gid()) {
        return Ok(());
    }
    chown(path_of(file), Some(directory.uid()), Some(directory.gid()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use nix::errno::Errno;
    use std::os::unix::fs::symlink;

    fn directory() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn only_not_found_says_that_a_file_is_absent() {
        let looked = |errno: Errno| present::<()>(Err(io::Error::from_raw_os_error(errno as i32)));
        assert_eq!(looked(Errno::ENOENT).unwrap(), None);
        for errno in [Errno::EACCES, Errno::EIO, Errno::ESTALE, Errno::ENOTDIR, Errno::ELOOP, Errno::EINTR, Errno::ETIMEDOUT] {
            let error = looked(errno).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(errno as i32), "{errno}");
            assert!(!is_damage(&error), "{errno} says nothing about the file");
        }
        let directory = directory();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(is_there(&file).unwrap() && !is_there(&directory.path().join("none")).unwrap());
        assert!(is_there(&file.join("below")).is_err(), "what lies above it is no directory");
    }

    #[test]
    fn links_fifos_directories_and_open_files_are_not_opened_and_absent_ones_are_not_damaged() {
        let directory = directory();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("file"), "content").unwrap();
        assert_eq!(read_owned(&at("file"), 7).unwrap(), b"content");
        symlink(at("file"), at("link")).unwrap();
        nix::unistd::mkfifo(&at("fifo"), nix::sys::stat::Mode::S_IRUSR).unwrap();
        fs::create_dir(at("directory")).unwrap();
        fs::write(at("open"), "").unwrap();
        fs::set_permissions(at("open"), Permissions::from_mode(0o666)).unwrap();
        for name in ["link", "fifo", "directory", "open"] {
            let error = read_owned(&at(name), 7).unwrap_err();
            assert!(is_damage(&error), "{name}: {error}");
            assert!(is_damage(&open_to_write(&at(name), 0o600).unwrap_err()), "{name}");
            assert!(is_damage(&set_mode(&at(name), 0o600).unwrap_err()), "{name}");
        }
        let absent = read_owned(&at("none"), 7).unwrap_err();
        assert!(!is_damage(&absent) && absent.kind() == io::ErrorKind::NotFound);
        assert_eq!(fs::metadata(at("file")).unwrap().len(), 7);
    }

    #[test]
    fn a_file_that_is_too_large_is_not_read_however_little_of_it_lies_on_the_disk() {
        let directory = directory();
        let path = directory.path().join("sparse");
        File::create(&path).unwrap().set_len(3 << 30).unwrap();
        let error = read_owned(&path, 1 << 20).unwrap_err();
        assert_eq!((error.kind(), is_damage(&error)), (io::ErrorKind::FileTooLarge, true));
        assert!(error.to_string().contains("3221225472 bytes"), "{error}");
    }

    #[test]
    fn a_file_with_a_second_name_is_not_written_where_it_lies() {
        let directory = directory();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("other"), "content").unwrap();
        fs::hard_link(at("other"), at("lock")).unwrap();
        assert!(open_to_write(&at("lock"), 0o644).is_err());
        assert_eq!(fs::read(at("other")).unwrap(), b"content");
    }

    #[test]
    fn what_is_put_in_place_follows_no_link_that_lies_in_its_way() {
        let directory = directory();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("other"), "content").unwrap();
        for name in ["file", "file.new"] {
            let _ = fs::remove_file(at(name));
            symlink(at("other"), at(name)).unwrap();
        }
        put(&at("file"), &at("file.new"), b"new", 0o640, Lasting::OnDisk).unwrap();
        assert_eq!((fs::read(at("other")).unwrap(), fs::read(at("file")).unwrap()), (b"content".to_vec(), b"new".to_vec()));
        assert!(fs::symlink_metadata(at("file")).unwrap().is_file() && !is_there(&at("file.new")).unwrap());
        assert_eq!(fs::metadata(at("file")).unwrap().mode() & 0o777, 0o640);
        set_mode(&at("file"), 0o644).unwrap();
        assert_eq!(fs::metadata(at("file")).unwrap().mode() & 0o777, 0o644);
        assert_eq!(set_aside(&at("file")).unwrap(), at("file.damaged"));
    }

    #[test]
    fn a_file_of_the_directory_s_owner_is_trusted_and_one_of_somebody_else_is_not() {
        if !nix::unistd::geteuid().is_root() {
            return;
        }
        let directory = directory();
        let at = |name: &str| directory.path().join(name);
        for (name, owner) in [("own", 7), ("root", 0), ("other", 8)] {
            fs::write(at(name), name).unwrap();
            chown(at(name), Some(owner), None).unwrap();
        }
        chown(directory.path(), Some(7), Some(7)).unwrap();
        let is_read = |name: &str| read_owned(&at(name), 9).is_ok();
        assert!(is_read("own") && is_read("root") && !is_read("other"));
        assert!(open_trusted(&at("own")).is_err(), "the plugin trusts its own user alone");
        // What root puts there is the owner's.
        put(&at("put"), &at("put.new"), b"", 0o640, Lasting::InMemory).unwrap();
        let metadata = fs::metadata(at("put")).unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (7, 7));
    }
}
