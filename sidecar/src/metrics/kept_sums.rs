//! Sums in a file of the state directory, which go on over the ends of slurmctld and of this
//! process: what the filters have counted, and what was counted of each rule.

use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use job_types::time::UnixTime;
use rules_compiler::in_force::FOR_ALL;
use slurm_conf::envelope::Envelope;
use slurm_conf::trusted::{self, Lasting, is_damage, is_there, open_to_write};

use crate::clock::now;
use crate::known::damaged::keep_aside;

/// Sums that can be kept.
pub(crate) trait Sums: Clone + PartialEq {
    /// The envelope of the file.
    const ENVELOPE: Envelope;
    /// What the log says where the file can't be written.
    const NOT_WRITTEN: &'static str;

    /// Returns empty sums, counted from now on.
    fn begun(now: UnixTime) -> Self;

    /// Reads the content of the file; `None` where it is not of this release.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;

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
    /// Goes on where the file ends; from 0 where there is none, or another one, which is kept
    /// aside.
    pub(crate) fn load(path: PathBuf) -> Self {
        let stored = look(&path).unwrap_or_else(|error| {
            match error.kind() {
                io::ErrorKind::NotFound => {}
                _ if is_damage(&error) => keep_aside(&path, &error),
                _ => tracing::warn!(path = %path.display(), %error, "what was counted before can't be read, and is counted anew"),
            }
            None
        });
        let sums = stored.clone().unwrap_or_else(|| S::begun(UnixTime(now())));
        Self { path, sums, stored, is_told: false }
    }

    /// Takes what `take` adds, and writes the file if it does not hold that yet.
    pub(crate) fn refresh(&mut self, take: impl FnOnce(&mut S)) {
        take(&mut self.sums);
        if self.stored.as_ref() == Some(&self.sums) {
            return;
        }
        match store::<S>(&self.path, &self.sums.to_bytes()) {
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
    look(path).ok().flatten()
}

/// Reads the sums and says what is wrong with a file that can't be used.
fn look<S: Sums>(path: &Path) -> io::Result<Option<S>> {
    let sums = S::ENVELOPE.read(path)?.and_then(|content| S::from_bytes(&content));
    sums.map(Some).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "it holds no sums of this release"))
}

/// Writes over a file of the same length, or puts a new one in its place.
///
/// A rename each second would change the directory, at which the filter looks to see whether there
/// is anything new. Readers check the checksum, and look again where it is wrong.
fn store<S: Sums>(path: &Path, content: &[u8]) -> io::Result<()> {
    let bytes = S::ENVELOPE.sealed(content).map_err(io::Error::other)?;
    if is_there(path).unwrap_or(false)
        && let Ok(file) = open_to_write(path, FOR_ALL)
        && file.metadata()?.len() == bytes.len() as u64
    {
        return file.write_all_at(&bytes, 0);
    }
    trusted::put(path, &path.with_extension("new"), &bytes, FOR_ALL, Lasting::InMemory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use predictor_core::decisions::counters::{Counted, Counter};
    use std::fs::{self, File};
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
    fn what_a_daemon_finds_damaged_at_its_start_is_kept_aside() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("filter-counters");
        let mut kept = KeptSums::<Counted>::load(path.clone());
        kept.refresh(|sums| {
            sums.take(1, &[7]);
        });
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let mut kept = KeptSums::<Counted>::load(path.clone());
        assert_eq!(fs::read(directory.path().join("filter-counters.damaged")).unwrap(), bytes);
        kept.refresh(|sums| {
            sums.take(1, &[2]);
        });
        assert_eq!(sum(&path), Some(2));
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
