//! The file in the state directory that holds the key of records' seals.
//!
//! The daemon makes it, or the submit filter where there was no daemon yet: whoever is first, for
//! the file is put in place whole and never over another one. Only its owner can read it, and the
//! owner is that of the directory, Slurm's user. Without the file nobody can tell a record of
//! queuecast's from a forged one; a new key makes all earlier records unbelievable.

use job_types::record::{KEY_BYTES, SealKey};
use slurm_conf::trusted::{create_new, open_owned, read_start};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Reads the key.
///
/// # Errors
/// Where there is none, others than its owner may read it or could have written it, or it is none.
pub fn read(path: &Path) -> io::Result<SealKey> {
    // Root reads it as well, to whom it does not belong.
    let (file, metadata) = open_owned(path)?;
    if metadata.mode() & 0o077 != 0 {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "others than its owner may use it; chmod 600 it or remove it"));
    }
    let bytes = read_start(&file, KEY_BYTES + 1)?;
    let bytes: [u8; KEY_BYTES] = bytes
        .try_into()
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is no key of records; remove it, and a new one is made"))?;
    Ok(SealKey::new(bytes))
}

/// Reads the key, or makes one where there is no file.
///
/// # Errors
/// As [`read`], or where the file can't be made.
pub fn read_or_make(path: &Path) -> io::Result<SealKey> {
    match read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make(path)?;
            read(path)
        }
        read => read,
    }
}

/// Puts a new key in place, unless another one was put there in the meantime.
fn make(path: &Path) -> io::Result<()> {
    // Several threads of slurmctld may want the first key at once: each has a file of its own.
    static MADE: AtomicU64 = AtomicU64::new(0);
    let unfinished = path.with_extension(format!("new-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed)));
    // The filter reads it as Slurm's user, also where root's daemon has made it.
    let mut file = create_new(&unfinished, 0o600)?;
    let put = fill(&mut file).and_then(|()| match fs::hard_link(&unfinished, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    });
    let _ = fs::remove_file(&unfinished);
    put
}

fn fill(file: &mut File) -> io::Result<()> {
    let mut key = [0; KEY_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut key)?;
    file.write_all(&key)?;
    // An empty file in its place would never be made anew.
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use std::sync::Barrier;

    #[test]
    fn a_key_is_made_once_for_its_owner_alone_and_is_then_the_key() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("record-key");
        let key = read_or_make(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(read_or_make(&path).unwrap(), key);
        make(&path).unwrap();
        assert_eq!(read(&path).unwrap(), key, "a second one is not put over it");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is left beside it");
        fs::remove_file(&path).unwrap();
        assert_ne!(read_or_make(&path).unwrap(), key);
    }

    #[test]
    fn threads_that_want_the_first_key_at_once_all_get_the_same() {
        for _ in 0..50 {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("record-key");
            let start = Barrier::new(4);
            let keys: Vec<SealKey> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4)
                    .map(|_| {
                        scope.spawn(|| {
                            start.wait();
                            read_or_make(&path).unwrap()
                        })
                    })
                    .collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert!(keys.iter().all(|key| *key == read(&path).unwrap()));
            assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is left beside it");
        }
    }

    #[test]
    fn root_makes_the_key_for_the_directorys_owner_and_reads_it_all_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let owner = fs::metadata(directory.path()).unwrap().uid();
        if owner != 0 {
            println!("skipped: only root can give a directory to another user");
            return;
        }
        chown(directory.path(), Some(5), Some(60)).unwrap();
        let path = directory.path().join("record-key");
        let key = read_or_make(&path).unwrap();
        let metadata = fs::metadata(&path).unwrap();
        assert_eq!((metadata.uid(), metadata.mode() & 0o777), (5, 0o600));
        assert_eq!(read(&path).unwrap(), key);
        chown(&path, Some(6), None).unwrap();
        assert_eq!(read(&path).unwrap_err().kind(), io::ErrorKind::PermissionDenied, "it is a third user's");
    }

    #[test]
    fn what_others_may_read_a_link_and_what_is_no_key_are_refused_and_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("record-key");
        let _ = read_or_make(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(read_or_make(&path).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let link = directory.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(read_or_make(&link).is_err());
        for damaged in [&b""[..], &[1; KEY_BYTES - 1], &[1; KEY_BYTES + 1]] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(read_or_make(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
    }
}
