//! How much of a job is done on this node, kept over its steps.
//!
//! Several steps of a job may run at once, and one after the other. One of them renews the job's
//! share: whichever holds the lock on the job's file, which the kernel gives back however the
//! process ends. The file has what is done, from which the next goes on.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::directory::Directory;

/// The directory of the files. It is gone after the node was started anew, as the node's jobs are.
pub(crate) const DIRECTORY: &str = "/run/queuecast";

/// The age from which a file that was not renewed belongs to a job that has ended.
const ABANDONED: Duration = Duration::from_secs(3_600);

/// How often a file is opened anew that was removed meanwhile, which can't happen to a new one.
const TRIES_TO_TAKE: usize = 3;

/// The right to renew a job's share, and what is done of the job.
#[derive(Debug)]
pub(crate) struct Work {
    file: File,
    /// Seconds of its run time that the job has done on this node.
    pub(crate) done_s: f64,
}

impl Work {
    /// Takes the job's file; `None` while another step of the job has it. A job of which nothing is
    /// known yet has done `otherwise_s`.
    ///
    /// # Errors
    /// Why there can't be such a file: directory or file are not root's alone, or what the kernel
    /// says.
    pub(crate) fn take(directory: &Path, name: &str, otherwise_s: f64) -> io::Result<Option<Work>> {
        let directory = Directory::open(directory)?;
        for _ in 0..TRIES_TO_TAKE {
            let mut file = directory.file(name)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // Another step may have removed an abandoned file after it was opened here.
            if file.metadata()?.nlink() > 0 {
                let done_s = read(&mut file).unwrap_or(otherwise_s.max(0.0));
                return Ok(Some(Work { file, done_s }));
            }
        }
        Ok(None)
    }

    /// Adds what was done since.
    pub(crate) fn add(&mut self, seconds: f64) {
        self.done_s += seconds.max(0.0);
        // The number is written at once, so that another step never reads half of it. What can't be
        // kept is estimated anew by the next step.
        let text = format!("{:<20.3}", self.done_s);
        let _ = self.file.seek(SeekFrom::Start(0)).and_then(|_| self.file.write_all(text.as_bytes()));
    }
}

/// What is done of a job by its file, whoever writes it.
pub(crate) fn done(directory: &Path, name: &str) -> Option<f64> {
    read(&mut Directory::open(directory).ok()?.existing_file(name).ok()?)
}

fn read(file: &mut File) -> Option<f64> {
    let mut text = String::new();
    file.take(64).read_to_string(&mut text).ok()?;
    text.trim().parse().ok().filter(|done: &f64| done.is_finite() && *done >= 0.0)
}

/// Removes the files of jobs that have ended. What is not a file of ours stays.
pub(crate) fn remove_abandoned(directory: &Path, now: SystemTime) {
    let Ok(directory) = Directory::open(directory) else { return };
    for name in directory.names().unwrap_or_default() {
        let Ok(file) = directory.existing_file(&name) else { continue };
        let changed = file.metadata().and_then(|file| file.modified()).ok();
        let is_old = changed.is_some_and(|changed| now.duration_since(changed).is_ok_and(|age| age > ABANDONED));
        if is_old && file.try_lock().is_ok() {
            directory.remove(&name);
        }
    }
}
