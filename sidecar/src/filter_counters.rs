//! Keeps what the filters have counted, over the ends of theirs and of this process.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use job_types::time::UnixTime;
use predictor_core::counters::Counted;
use slurm_sys::memory::{open_trusted, read_start};

use crate::accounting::now;

/// How often the filter's page is looked at: who asks for the counters after a submission finds it
/// in them.
const INTERVAL: Duration = Duration::from_secs(1);
/// More than the file of this release has, in bytes.
const MOST_BYTES: usize = 65_536;

/// The sums, and their file.
#[derive(Debug)]
pub(crate) struct FilterCounters {
    path: PathBuf,
    counted: Counted,
    /// What the file holds; `None` where that is not known.
    stored: Option<Counted>,
    due: Instant,
    /// Whether the log says that the file can't be written.
    is_told: bool,
}

impl FilterCounters {
    /// Goes on where the file ends; from 0 where there is none, or another one.
    pub(crate) fn load(path: PathBuf) -> Self {
        let stored = read(&path);
        let counted = stored.clone().unwrap_or_else(|| Counted::begun(UnixTime(now())));
        Self { path, counted, stored, due: Instant::now(), is_told: false }
    }

    /// When the page is to be looked at next.
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    /// Adds what the page tells, and writes the file if anything has changed.
    pub(crate) fn refresh(&mut self, page: Option<(u64, Vec<u64>)>) {
        self.due = Instant::now() + INTERVAL;
        if let Some((owner, numbers)) = page {
            self.counted.take(owner, &numbers);
        }
        // Also before a filter has counted anything: it shows itself with its first submission
        // after a hand-over.
        if self.stored.as_ref() == Some(&self.counted) {
            return;
        }
        match store(&self.path, &self.counted.to_bytes()) {
            Ok(()) => {
                self.stored = Some(self.counted.clone());
                self.is_told = false;
            }
            Err(error) if !self.is_told => {
                self.is_told = true;
                tracing::warn!(path = %self.path.display(), %error, "the filter's counters are not written; they are kept in memory");
            }
            Err(_) => {}
        }
    }

    /// Looks whether the file is still what was written, so that it is written again if not.
    pub(crate) fn check(&mut self) {
        self.stored = read(&self.path);
    }
}

/// What the file holds; `None` where that is not known.
pub(crate) fn read(path: &Path) -> Option<Counted> {
    Counted::read(|| read_start(&open_trusted(path)?.0, MOST_BYTES)).ok().flatten()
}

/// Writes over a file of the same length, or puts a new one in its place.
///
/// A rename each second would change the directory, at which the filter looks to see whether there
/// is anything new. Readers check the checksum, and look again where it is wrong.
pub(crate) fn store(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Ok((file, metadata)) = open_trusted(path)
        && metadata.len() == bytes.len() as u64
        && let Ok(file) = reopen(&file)
    {
        return file.write_all_at(bytes, 0);
    }
    let unfinished = path.with_extension("new");
    let put = fs::write(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, path));
    if put.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    put
}

/// The same file, to write.
fn reopen(file: &File) -> io::Result<File> {
    OpenOptions::new().write(true).open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use predictor_core::counters::Counter;

    fn sum(path: &Path) -> Option<u64> {
        read(path).map(|counted| counted.sum(Counter::Submissions))
    }

    #[test]
    fn sums_go_on_over_restarts_of_the_filter_and_of_the_daemon() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("filter-counters");
        let mut counters = FilterCounters::load(path.clone());
        counters.refresh(None);
        assert_eq!(sum(&path), Some(0), "no filter has been here");
        counters.refresh(Some((1, vec![5])));
        counters.refresh(Some((2, vec![3])));
        assert_eq!(sum(&path), Some(8));
        // The filter has counted on while no daemon was there.
        let mut counters = FilterCounters::load(path.clone());
        counters.refresh(Some((2, vec![10])));
        assert_eq!(sum(&path), Some(15));
    }

    #[test]
    fn a_file_that_is_truncated_replaced_or_something_else_is_made_anew() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("filter-counters");
        let mut counters = FilterCounters::load(path.clone());
        type Spoil = fn(&Path);
        let spoils: [(&str, Spoil); 4] = [
            ("truncated", |path| File::create(path).map(drop).unwrap()),
            ("replaced", |path| fs::write(path, "x".repeat(3_000)).unwrap()),
            ("a fifo", |path| {
                fs::remove_file(path).unwrap();
                let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
                assert!(made.success());
            }),
            ("a link", |path| {
                fs::remove_file(path).unwrap();
                std::os::unix::fs::symlink("/dev/zero", path).unwrap();
            }),
        ];
        counters.refresh(Some((1, vec![1])));
        for ((spoil, how), count) in spoils.into_iter().zip(2..) {
            how(&path);
            counters.check();
            counters.refresh(Some((1, vec![count])));
            assert_eq!(sum(&path), Some(count), "{spoil}");
        }
    }

    #[test]
    fn the_directory_does_not_change_with_each_count() {
        use std::os::unix::fs::MetadataExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("filter-counters");
        let mut counters = FilterCounters::load(path.clone());
        counters.refresh(Some((1, vec![1])));
        let state = || fs::metadata(directory.path()).map(|metadata| (metadata.ctime(), metadata.ctime_nsec())).unwrap();
        let before = state();
        std::thread::sleep(Duration::from_millis(20));
        counters.refresh(Some((1, vec![2])));
        assert_eq!((sum(&path), state()), (Some(2), before));
    }
}
