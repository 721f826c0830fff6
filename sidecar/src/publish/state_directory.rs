//! The state directory: who may write there, the lock, and how a snapshot gets there whole.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use predictor_core::snapshot::{Snapshot, SnapshotError};
use rules_compiler::in_force::{self, FOR_ALL, InForceError, LoadState};
use slurm_conf::state_directory::{
    API, COUNTERS, GUARD, HAND_OVER, KILL_SWITCH, LEARNT, LOCK, PUBLIC_SNAPSHOT, RECORD_KEY, REFUSALS, REFUSALS_ENVELOPE, RULE_COUNTERS,
    RULES, RULES_DATA, RULES_TABLES, SNAPSHOT,
};
use slurm_conf::trusted::{self, Lasting, is_damage, open_to_write, read_owned};
use slurm_sys::memory::{Distrust, HandOver, distrust};
use snapshot_writer::for_reader;

use crate::failure::Failure;
use crate::known::checkpoint;
use crate::known::damaged::keep_aside;
use crate::known::privacy::Privacy;

/// Names of snapshots that are being written begin so.
const UNFINISHED: &str = "snapshot.new";
/// The name of a hand-over that is being written. It begins with [`UNFINISHED`], too.
const UNFINISHED_HAND_OVER: &str = "snapshot.new-memory";
/// A number of bytes that no snapshot reaches.
const MOST_SNAPSHOT_BYTES: usize = 512 << 20;

/// The state directory, locked for this process.
#[derive(Debug)]
pub(crate) struct StateDirectory {
    path: PathBuf,
    /// What users are kept from seeing.
    privacy: Privacy,
    /// The state of `privacy` by which files may be read; `None` where they were not looked at yet.
    followed: Option<u8>,
    /// The lock ends with the file.
    _lock: File,
}

/// What a snapshot that is already there says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Previous {
    pub(crate) generation: u64,
    pub(crate) published_at: i64,
    /// Whether there are ended jobs in its history.
    pub(crate) has_history: bool,
}

impl StateDirectory {
    /// Makes the directory if it is absent, checks who may write there, and locks it.
    ///
    /// Only its owner may, and that is root, Slurm's user, or whoever runs the daemon: whoever can
    /// write there can make the filter decide from anything.
    pub(crate) fn open(path: &Path, slurm_user_id: u32, privacy: Privacy) -> Result<Self, Failure> {
        let fails = |reason: String| Failure::StateDirectory { path: path.to_owned(), reason };
        create(path, slurm_user_id).map_err(|error| fails(format!("cannot be made: {error}")))?;
        let metadata = fs::metadata(path).map_err(|error| fails(error.to_string()))?;
        if !metadata.is_dir() {
            return Err(fails("is not a directory".to_owned()));
        }
        match distrust(&metadata, Some(slurm_user_id)) {
            Some(Distrust::Owner(owner)) => {
                return Err(fails(format!("belongs to user {owner}; it must belong to root or to SlurmUser ({slurm_user_id})")));
            }
            Some(Distrust::Mode(mode)) => {
                return Err(fails(format!("others than its owner may write there (mode {mode:03o}); chmod go-w it")));
            }
            None => {}
        }
        let (owner, own) = (metadata.uid(), nix::unistd::geteuid().as_raw());
        if own != 0 && own != owner {
            return Err(fails(format!("belongs to user {owner}, and queuecastd was started as user {own}: run it as that user")));
        }
        let lock = lock(path)?;
        let mut directory = Self { path: path.to_owned(), privacy, followed: None, _lock: lock };
        directory.remove_unfinished().map_err(|error| fails(format!("cannot be cleaned up: {error}")))?;
        // A hand-over that is there is that of a daemon that has ended.
        let _ = directory.hand_over(None);
        directory.follow_privacy();
        Ok(directory)
    }

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Sets who may read the files that are there already, if what users are kept from seeing has
    /// changed. Returns whether it has.
    pub(crate) fn follow_privacy(&mut self) -> bool {
        let state = self.privacy.state();
        if self.followed.replace(state) == Some(state) {
            return false;
        }
        let modes = [
            (SNAPSHOT, self.privacy.mode_of_jobs()),
            (REFUSALS, self.privacy.mode_of_jobs()),
            (RULES, self.privacy.mode_of_people()),
            (RULES_TABLES, self.privacy.mode_of_people()),
            (RULES_DATA, self.privacy.mode_of_all()),
        ];
        for (name, mode) in modes {
            // What is damaged is found by whoever reads it.
            if let Err(error) = trusted::set_mode(&self.path.join(name), mode)
                && !is_damage(&error)
            {
                tracing::warn!(name, %error, "who may read a file can't be set by PrivateData");
            }
        }
        true
    }

    /// What users are kept from seeing.
    pub(crate) fn privacy(&self) -> &Privacy {
        &self.privacy
    }

    /// Says beside the rules why nothing becomes of their files.
    pub(crate) fn note_of_rules(&self, reason: &str) -> Result<(), InForceError> {
        let before = match in_force::state(&self.path) {
            Err(error) if error.damaged().is_some() => LoadState::default(),
            outcome => outcome?.unwrap_or_default(),
        };
        in_force::put_state(&self.path, &LoadState { errors: vec![format!("error: {reason}")], ..before })
    }

    /// Returns the path of the snapshot.
    pub(crate) fn snapshot(&self) -> PathBuf {
        self.path.join(SNAPSHOT)
    }

    /// Returns the path of the file in which what was learnt is kept.
    pub(crate) fn learnt(&self) -> PathBuf {
        self.path.join(LEARNT)
    }

    /// The kill switch: while this file exists, nothing is done to jobs.
    pub(crate) fn kill_switch(&self) -> PathBuf {
        self.path.join(KILL_SWITCH)
    }

    /// Returns the path of the key with which records are sealed.
    pub(crate) fn record_key(&self) -> PathBuf {
        self.path.join(RECORD_KEY)
    }

    /// Returns the path of the file that says what the guard has found.
    pub(crate) fn guard(&self) -> PathBuf {
        self.path.join(GUARD)
    }

    /// Keeps what the guard has found, for everybody: its figures are of partitions.
    pub(crate) fn keep_guard(&self, content: &[u8]) -> io::Result<()> {
        self.put(&self.guard(), content, FOR_ALL)
    }

    /// Returns the path of the filter's counters.
    pub(crate) fn counters(&self) -> PathBuf {
        self.path.join(COUNTERS)
    }

    /// Returns the path of the counts by rule.
    pub(crate) fn rule_counters(&self) -> PathBuf {
        self.path.join(RULE_COUNTERS)
    }

    /// Returns the path of the file that notes whose deadlines were refused.
    pub(crate) fn refusals(&self) -> PathBuf {
        self.path.join(REFUSALS)
    }

    /// Keeps whose deadlines were refused, for those who may see all jobs.
    pub(crate) fn keep_refusals(&self, content: &[u8]) -> io::Result<()> {
        let bytes = REFUSALS_ENVELOPE.sealed(content).map_err(io::Error::other)?;
        self.put(&self.refusals(), &bytes, self.privacy.mode_of_jobs())
    }

    /// Returns the path of the API's socket.
    pub(crate) fn api(&self) -> PathBuf {
        self.path.join(API)
    }

    /// The snapshot that is already there, if it can be read. One that is damaged is kept aside;
    /// one of another release stays for whoever reads it.
    pub(crate) fn previous(&self) -> Option<Previous> {
        let bytes = read_owned(&self.snapshot(), MOST_SNAPSHOT_BYTES)
            .inspect_err(|error| {
                if is_damage(error) {
                    keep_aside(&self.snapshot(), error);
                }
            })
            .ok()?;
        let snapshot = Snapshot::open(bytes)
            .inspect_err(|error| {
                if !matches!(error, SnapshotError::Version { .. }) {
                    keep_aside(&self.snapshot(), error);
                }
            })
            .ok()?;
        Some(Previous {
            generation: snapshot.generation(),
            published_at: snapshot.published_at().0,
            has_history: snapshot.provenance().ended_jobs > 0,
        })
    }

    /// Says where in memory the filter finds the snapshot; with nothing, it reads the file.
    pub(crate) fn hand_over(&self, hand_over: Option<&HandOver>) -> io::Result<()> {
        let path = self.path.join(HAND_OVER);
        let put = |text: String| {
            // A hand-over is of no use to anybody once this process has ended, so that it need not
            // reach the disk.
            trusted::put(&path, &self.path.join(UNFINISHED_HAND_OVER), text.as_bytes(), FOR_ALL, Lasting::InMemory)
        };
        let outcome = hand_over.map_or(Ok(()), |hand_over| put(hand_over.to_string()));
        if hand_over.is_none() || outcome.is_err() {
            // The one that is there would keep the filter from looking at the file.
            let _ = fs::remove_file(&path);
        }
        outcome
    }

    /// Puts a snapshot in place: written whole under another name, forced to the disk, renamed. A
    /// reader sees the one before or this one, also after a crash.
    pub(crate) fn publish(&self, bytes: &[u8]) -> io::Result<()> {
        self.put(&self.snapshot(), bytes, self.privacy.mode_of_jobs())?;
        let public = self.path.join(PUBLIC_SNAPSHOT);
        match Snapshot::open(bytes) {
            Ok(snapshot) if self.privacy.hides_jobs() => self.put(&public, &for_reader(&snapshot, None), 0o644)?,
            _ => {
                let _ = fs::remove_file(&public);
            }
        }
        File::open(&self.path)?.sync_all()
    }

    fn put(&self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
        trusted::put(path, &self.path.join(UNFINISHED), bytes, mode, Lasting::OnDisk)
    }

    /// Removes what a killed daemon left.
    fn remove_unfinished(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(UNFINISHED) || name.starts_with(in_force::UNFINISHED) || name == checkpoint::UNFINISHED {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

/// Makes the directory for Slurm's user: the filter, inside slurmctld, keeps its counters there.
fn create(path: &Path, slurm_user_id: u32) -> io::Result<()> {
    match DirBuilder::new().mode(0o755).create(path) {
        Ok(()) => {
            fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
            let owner = fs::metadata(path)?.uid();
            if owner == 0 && slurm_user_id != 0 {
                std::os::unix::fs::chown(path, Some(slurm_user_id), None)?;
            }
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Locks the directory for as long as the file lives; the system unlocks it also when the process
/// is killed.
fn lock(directory: &Path) -> Result<File, Failure> {
    let path = directory.join(LOCK);
    let fails = |what| move |source| Failure::System { what, source };
    let mut file = match open_to_write(&path, FOR_ALL) {
        // Another daemon's lock can only be a regular file.
        Err(error) if is_damage(&error) => {
            keep_aside(&path, &error);
            open_to_write(&path, FOR_ALL)
        }
        outcome => outcome,
    }
    .map_err(fails("open the lock file"))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let _ = file.take(32).read_to_string(&mut holder);
            let holder = holder.trim().parse::<u32>().map(|process| format!(" (process {process})")).unwrap_or_default();
            return Err(Failure::Locked { path: directory.to_owned(), holder });
        }
        Err(TryLockError::Error(source)) => return Err(Failure::System { what: "lock the state directory", source }),
    }
    // The number is for people only: the lock itself is what counts.
    let write_number = |file: &mut File| {
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())
    };
    write_number(&mut file).map_err(fails("write the lock file"))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use slurm_sys::client::PrivateData;

    /// Whoever runs the tests owns the directories that they make.
    fn own_user() -> u32 {
        fs::metadata("/proc/self").unwrap().uid()
    }

    fn open(path: &Path, hides_jobs: bool) -> Result<StateDirectory, Failure> {
        StateDirectory::open(path, own_user(), Privacy::new(PrivateData { jobs: hides_jobs, ..PrivateData::default() }))
    }

    fn directory() -> (tempfile::TempDir, PathBuf) {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("state");
        (parent, path)
    }

    #[test]
    fn an_absent_directory_is_made_for_its_owner_only() {
        let (_parent, path) = directory();
        open(&path, false).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o755);
    }

    #[test]
    fn a_directory_that_others_may_write_in_is_refused() {
        let (_parent, path) = directory();
        fs::create_dir(&path).unwrap();
        for mode in [0o775, 0o757, 0o777] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let refusal = open(&path, false).unwrap_err().to_string();
            assert!(refusal.contains(&format!("{mode:o}")), "{refusal}");
        }
    }

    #[test]
    fn a_file_in_its_place_or_a_missing_parent_is_refused() {
        let (parent, path) = directory();
        fs::write(&path, "").unwrap();
        assert!(open(&path, false).unwrap_err().to_string().contains("not a directory"));
        let deep = parent.path().join("a/b");
        assert!(open(&deep, false).unwrap_err().to_string().contains("cannot be made"));
    }

    #[test]
    fn a_second_daemon_is_refused_with_the_number_of_the_first() {
        let (_parent, path) = directory();
        let first = open(&path, false).unwrap();
        let refusal = open(&path, false).unwrap_err().to_string();
        assert!(refusal.contains(&format!("process {}", std::process::id())), "{refusal}");
        drop(first);
        open(&path, false).unwrap();
    }

    #[test]
    fn a_snapshot_is_readable_by_all_and_nothing_is_left_beside_it() {
        let (_parent, path) = directory();
        let directory = open(&path, false).unwrap();
        directory.publish(b"one").unwrap();
        directory.publish(b"two").unwrap();
        assert_eq!(fs::read(directory.snapshot()).unwrap(), b"two");
        assert_eq!(fs::metadata(directory.snapshot()).unwrap().mode() & 0o777, 0o644);
        let mut names: Vec<_> = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [LOCK, SNAPSHOT]);
        assert_eq!(directory.previous(), None, "what is not a snapshot says nothing");
    }

    #[test]
    fn a_private_snapshot_is_its_group_s_and_another_one_everybody_s() {
        let (_parent, path) = directory();
        let directory = open(&path, true).unwrap();
        let origin = snapshot_writer::Origin { cluster: "c".into(), generation: 3, ..Default::default() };
        let mut history = learning::history::History::new(Default::default());
        let bytes = snapshot_writer::write(&mut history, &[], &origin, None, None);
        directory.publish(&bytes).unwrap();
        let mode = |name: &str| fs::metadata(path.join(name)).map(|metadata| metadata.mode() & 0o777);
        assert_eq!((mode(SNAPSHOT).unwrap(), mode(PUBLIC_SNAPSHOT).unwrap()), (0o640, 0o644));
        assert_eq!(Snapshot::open(fs::read(path.join(PUBLIC_SNAPSHOT)).unwrap()).unwrap().generation(), 3);
        drop(directory);
        open(&path, false).unwrap().publish(&bytes).unwrap();
        assert_eq!((mode(SNAPSHOT).unwrap(), mode(PUBLIC_SNAPSHOT).is_err()), (0o644, true), "the site shows jobs again");
    }

    #[test]
    fn what_a_killed_daemon_left_is_removed_at_the_start() {
        let (_parent, path) = directory();
        fs::create_dir(&path).unwrap();
        fs::write(path.join("snapshot.new"), "half").unwrap();
        fs::write(path.join("off"), "").unwrap();
        open(&path, false).unwrap();
        assert!(!path.join("snapshot.new").exists());
        assert!(path.join("off").exists());
    }
}
