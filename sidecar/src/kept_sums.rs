//! Sums in a file of the state directory, which go on over the ends of slurmctld and of this
//! process: what the filters have counted, and what was counted of each rule.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use job_types::time::UnixTime;
use slurm_sys::memory::{open_trusted, read_start};

use crate::accounting::now;

/// Sums that can be kept.
pub(crate) trait Sums: Clone + PartialEq {
    /// More than the file of this release has, in bytes.
    const LARGEST: usize;
    /// What the log says where the file can't be written.
    const NOT_WRITTEN: &'static str;

    /// Nothing, counted from now on.
    fn begun(now: UnixTime) -> Self;

    /// Reads the file by `look`, which is taken again where it came in between a writing; `None`
    /// where the file is not of this release.
    ///
    /// # Errors
    /// The errors of `look`.
    fn read(look: impl Fn() -> io::Result<Vec<u8>>) -> io::Result<Option<Self>>;

    /// The content of the file.
    fn to_bytes(&self) -> Vec<u8>;
}

/// Sums, and their file.
#[derive(Debug)]
pub(crate) struct KeptSums<S> {
    path: PathBuf,
    sums: S,
    /// What the file holds; `None` where that is not known.
    stored: Option<S>,
    /// Whether the log says that the file can't be written.
    is_told: bool,
}

impl<S: Sums> KeptSums<S> {
    /// Goes on where the file ends; from 0 where there is none, or another one.
    pub(crate) fn load(path: PathBuf) -> Self {
        let stored = read(&path);
        let sums = stored.clone().unwrap_or_else(|| S::begun(UnixTime(now())));
        Self { path, sums, stored, is_told: false }
    }

    /// Takes what `take` adds, and writes the file if it does not hold that yet.
    pub(crate) fn refresh(&mut self, take: impl FnOnce(&mut S)) {
        take(&mut self.sums);
        if self.stored.as_ref() == Some(&self.sums) {
            return;
        }
        match store(&self.path, &self.sums.to_bytes()) {
            Ok(()) => {
                self.stored = Some(self.sums.clone());
                self.is_told = false;
            }
            Err(error) if !self.is_told => {
                self.is_told = true;
                tracing::warn!(path = %self.path.display(), %error, "{}", S::NOT_WRITTEN);
            }
            Err(_) => {}
        }
    }

    /// Looks whether the file is still what was written, so that it is written again if not.
    pub(crate) fn check(&mut self) {
        self.stored = read(&self.path);
    }
}

/// What a file holds; `None` where that is not known.
pub(crate) fn read<S: Sums>(path: &Path) -> Option<S> {
    S::read(|| read_start(&open_trusted(path)?.0, S::LARGEST)).ok().flatten()
}

/// Writes over a file of the same length, or puts a new one in its place.
///
/// A rename each second would change the directory, at which the filter looks to see whether there
/// is anything new. Readers check the checksum, and look again where it is wrong.
fn store(path: &Path, bytes: &[u8]) -> io::Result<()> {
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
    use predictor_core::counters::{Counted, Counter};
    use std::time::Duration;

    fn sum(path: &Path) -> Option<u64> {
        read::<Counted>(path).map(|counted| counted.sum(Counter::Submissions))
    }

    #[test]
    fn a_file_that_is_truncated_replaced_or_something_else_is_made_anew() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("filter-counters");
        let mut kept = KeptSums::<Counted>::load(path.clone());
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
        let count = |kept: &mut KeptSums<Counted>, number| {
            kept.refresh(|sums| {
                sums.take(1, &[number]);
            });
        };
        count(&mut kept, 1);
        for ((spoil, how), number) in spoils.into_iter().zip(2..) {
            how(&path);
            kept.check();
            count(&mut kept, number);
            assert_eq!(sum(&path), Some(number), "{spoil}");
        }
    }

    #[test]
    fn the_directory_does_not_change_with_each_count() {
        use std::os::unix::fs::MetadataExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("filter-counters");
        let mut kept = KeptSums::<Counted>::load(path.clone());
        let mut count = |number| {
            kept.refresh(|sums| {
                sums.take(1, &[number]);
            });
        };
        count(1);
        let state = || fs::metadata(directory.path()).map(|metadata| (metadata.ctime(), metadata.ctime_nsec())).unwrap();
        let before = state();
        std::thread::sleep(Duration::from_millis(20));
        count(2);
        assert_eq!((sum(&path), state()), (Some(2), before));
    }
}
