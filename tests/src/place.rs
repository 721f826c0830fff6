//! The directory that a cluster lies in.

use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A directory that every user may pass through, as the jobs and the database do.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    /// Removes the directory of a cluster that is not kept.
    _scratch: Option<TempDir>,
}

impl Place {
    /// Makes a directory in `parent`, which is removed when it is dropped.
    pub(crate) fn scratch(parent: &Path) -> io::Result<Place> {
        let scratch = tempfile::Builder::new().prefix("queuecast-").tempdir_in(parent)?;
        open(scratch.path())?;
        Ok(Place { path: scratch.path().to_owned(), _scratch: Some(scratch) })
    }

    /// Makes a directory that stays. One that already holds a cluster is emptied of that cluster's
    /// jobs and of the daemon's state; any other has to be empty, because what lies there may be
    /// somebody's.
    pub(crate) fn kept(path: &Path) -> io::Result<Place> {
        std::fs::create_dir_all(path)?;
        let path = path.canonicalize()?;
        let holds_a_cluster = path.join("etc/ports").exists();
        if !holds_a_cluster && std::fs::read_dir(&path)?.next().is_some() {
            let found = format!("{} is not empty, and no cluster was made there", path.display());
            return Err(io::Error::new(ErrorKind::DirectoryNotEmpty, found));
        }
        for name in ["state", "queuecast", "spool"] {
            match std::fs::remove_dir_all(path.join(name)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        open(&path)?;
        Ok(Place { path, _scratch: None })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Lets every user pass through a directory.
fn open(path: &Path) -> io::Result<()> {
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_directory_loses_jobs_and_keeps_the_database() {
        let scratch = Place::scratch(&std::env::temp_dir()).unwrap();
        for name in ["state/job.1", "spool/n1", "mariadb/data", "etc/ports"] {
            std::fs::create_dir_all(scratch.path().join(name)).unwrap();
        }
        let kept = Place::kept(scratch.path()).unwrap();
        let is_there = ["state", "spool", "mariadb/data"].map(|name| kept.path().join(name).exists());
        assert_eq!(is_there, [false, false, true]);
        let path = kept.path().to_owned();
        drop(kept);
        assert!(path.exists());
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn what_lies_in_a_directory_without_a_cluster_stays_there() {
        let scratch = Place::scratch(&std::env::temp_dir()).unwrap();
        let somebodys = scratch.path().join("spool/mail");
        std::fs::create_dir_all(&somebodys).unwrap();
        assert_eq!(Place::kept(scratch.path()).unwrap_err().kind(), ErrorKind::DirectoryNotEmpty);
        assert!(somebodys.exists());
        assert!(Place::kept(&scratch.path().join("new")).is_ok());
    }
}
