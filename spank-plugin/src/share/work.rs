//! How much of a job is done on this node, kept over its steps.
//!
//! Several steps of a job may run at once, and one after the other. One of them renews the job's
//! share: whichever holds the lock on the job's file, which the kernel gives back however the
//! process ends. The file has what is done, from which the next goes on.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Where the files are: gone after the node was started anew, as its jobs are.
pub(crate) const DIRECTORY: &str = "/run/queuecast";

/// A file that was not renewed for so long is that of a job which has ended.
const ABANDONED: Duration = Duration::from_secs(3_600);

/// The right to renew a job's share, and what is done of the job.
#[derive(Debug)]
pub(crate) struct Work {
    file: File,
    /// Seconds of its run time that the job has done on this node.
    pub(crate) done_s: f64,
}

impl Work {
    /// Takes the job's file; `None` while another step of the job has it, or where there can't be
    /// one. A job of which nothing is known yet has done `otherwise_s`.
    pub(crate) fn take(directory: &Path, name: &str, otherwise_s: f64) -> Option<Work> {
        fs::create_dir_all(directory).ok()?;
        let mut file = File::options().read(true).write(true).create(true).truncate(false).open(directory.join(name)).ok()?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return None,
        }
        let done_s = read(&mut file).unwrap_or(otherwise_s.max(0.0));
        Some(Work { file, done_s })
    }

    /// Adds what was done since.
    pub(crate) fn add(&mut self, seconds: f64) {
        self.done_s += seconds.max(0.0);
        // In one write, so that another step never reads half of the number. What can't be kept is
        // estimated anew by the next step.
        let text = format!("{:<20.3}", self.done_s);
        let _ = self.file.seek(SeekFrom::Start(0)).and_then(|_| self.file.write_all(text.as_bytes()));
    }
}

/// What is done of a job by its file, whoever writes it.
pub(crate) fn done(directory: &Path, name: &str) -> Option<f64> {
    read(&mut File::open(directory.join(name)).ok()?)
}

fn read(file: &mut File) -> Option<f64> {
    let mut text = String::new();
    file.take(64).read_to_string(&mut text).ok()?;
    text.trim().parse().ok().filter(|done: &f64| done.is_finite() && *done >= 0.0)
}

/// Removes the files of jobs that have ended.
pub(crate) fn remove_abandoned(directory: &Path, now: SystemTime) {
    let files = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let is_abandoned = |path: &PathBuf| {
        let changed = fs::metadata(path).and_then(|file| file.modified()).ok();
        let is_old = changed.is_some_and(|changed| now.duration_since(changed).is_ok_and(|age| age > ABANDONED));
        is_old && File::open(path).is_ok_and(|file| file.try_lock().is_ok())
    };
    for path in files.filter(is_abandoned) {
        let _ = fs::remove_file(path);
    }
}
