//! The files in which root keeps what is done of the jobs of a node, whatever umask slurmstepd has
//! from the job and whatever its user has planted.
#![allow(clippy::unwrap_used, reason = "a test ends there")]

#[path = "../src/share/directory.rs"]
#[allow(dead_code, unreachable_pub)]
mod directory;
#[path = "../src/share/work.rs"]
#[allow(dead_code, unreachable_pub)]
mod work;

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, mpsc};
use std::thread;
use std::time::{Duration, SystemTime};

use nix::sys::stat::{Mode, umask};
use nix::unistd::{geteuid, mkfifo};
use tempfile::TempDir;
use work::Work;

/// What does not end within this has blocked.
const BLOCKED: Duration = Duration::from_secs(60);

/// Longer than a file stays that nobody renews.
const LONG: Duration = Duration::from_secs(2 * 3_600);

/// A user who is not root, and not the one who runs the tests.
const OTHER_USER: u32 = 65_534;

/// A umask of the whole process, until it is dropped: the tests of this file wait for each other.
struct Umask {
    before: Mode,
    _turn: MutexGuard<'static, ()>,
}

impl Umask {
    fn set(bits: u32) -> Umask {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Umask { before: umask(Mode::from_bits_truncate(bits)), _turn: turn }
    }
}

impl Drop for Umask {
    fn drop(&mut self) {
        umask(self.before);
    }
}

/// A directory that everybody may enter, and the path in it where the files are to be.
fn place() -> (TempDir, PathBuf) {
    let above = tempfile::tempdir().unwrap();
    fs::set_permissions(above.path(), Permissions::from_mode(0o755)).unwrap();
    let path = above.path().join("queuecast");
    (above, path)
}

fn permissions(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

/// What `action` returns; it must not block.
fn in_time<Output: Send + 'static>(action: impl FnOnce() -> Output + Send + 'static) -> Output {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(action()));
    receiver.recv_timeout(BLOCKED).unwrap()
}

#[test]
fn whatever_umask_the_job_has_directory_and_files_are_their_owners_alone() {
    for bits in [0, 0o022, 0o777] {
        let _umask = Umask::set(0o022);
        let (_above, path) = place();
        umask(Mode::from_bits_truncate(bits));
        if bits == 0o777 && !geteuid().is_root() {
            println!("left out: only root can open a directory that its umask has closed");
            continue;
        }
        let work = Work::take(&path, "job", 0.0).unwrap().unwrap();
        assert_eq!((permissions(&path), permissions(&path.join("job"))), (0o700, 0o600), "umask {bits:o}");
        drop(work);
        assert!(Work::take(&path, "job", 0.0).unwrap().is_some(), "umask {bits:o}");
    }
}

#[test]
fn a_link_in_the_place_of_the_directory_is_not_followed() {
    let _umask = Umask::set(0);
    let (above, path) = place();
    let target = above.path().join("target");
    fs::create_dir(&target).unwrap();
    symlink(&target, &path).unwrap();
    assert!(Work::take(&path, "job", 0.0).is_err());
    work::remove_abandoned(&path, SystemTime::now() + LONG);
    assert_eq!(permissions(&target), 0o777, "what it points to keeps its mode");
    assert_eq!(fs::read_dir(&target).unwrap().count(), 0, "and nothing is made there");
}

#[test]
fn a_link_in_the_place_of_a_file_is_not_followed() {
    let _umask = Umask::set(0);
    let (above, path) = place();
    drop(Work::take(&path, "own", 0.0).unwrap());
    let secret = above.path().join("secret");
    fs::write(&secret, "a line of root's own").unwrap();
    symlink(&secret, path.join("soft")).unwrap();
    symlink(above.path().join("made"), path.join("dangling")).unwrap();
    fs::hard_link(&secret, path.join("hard")).unwrap();
    for name in ["soft", "dangling", "hard"] {
        assert!(Work::take(&path, name, 0.0).is_err(), "{name}");
        assert_eq!(work::done(&path, name), None, "{name}");
    }
    work::remove_abandoned(&path, SystemTime::now() + LONG);
    assert_eq!(fs::read_to_string(&secret).unwrap(), "a line of root's own");
    assert!(!above.path().join("made").exists());
    assert!(!path.join("own").exists(), "the sweep goes on behind what it does not touch");
}

#[test]
fn what_is_no_regular_file_blocks_neither_the_sweep_nor_a_job() {
    let _umask = Umask::set(0);
    let (_above, path) = place();
    drop(Work::take(&path, "ended", 0.0).unwrap());
    mkfifo(&path.join("a-fifo"), Mode::S_IRWXU).unwrap();
    fs::create_dir(path.join("a-directory")).unwrap();
    in_time({
        let path = path.clone();
        move || work::remove_abandoned(&path, SystemTime::now() + LONG)
    });
    assert!(!path.join("ended").exists());
    for name in ["a-fifo", "a-directory"] {
        let path = path.clone();
        in_time(move || {
            assert!(Work::take(&path, name, 0.0).is_err(), "{name}");
            assert_eq!(work::done(&path, name), None, "{name}");
        });
    }
    assert!(Work::take(&path, "job", 0.0).unwrap().is_some());
}

#[test]
fn a_directory_of_another_user_is_not_used() {
    let _umask = Umask::set(0o022);
    let (_above, path) = place();
    fs::create_dir(&path).unwrap();
    fs::write(path.join("job"), "5").unwrap();
    let path = if geteuid().is_root() {
        chown(&path, Some(OTHER_USER), None).unwrap();
        path
    } else {
        PathBuf::from("/")
    };
    let error = Work::take(&path, "job", 0.0).unwrap_err().to_string();
    assert!(error.contains("belongs to user"), "{error}");
    assert_eq!(work::done(&path, "job"), None);
}

#[test]
fn a_directory_that_others_could_write_is_closed_and_emptied() {
    let _umask = Umask::set(0);
    let (above, path) = place();
    let secret = above.path().join("secret");
    fs::write(&secret, "a line of root's own").unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(permissions(&path), 0o777);
    fs::write(path.join("job"), "99").unwrap();
    symlink(&secret, path.join("link")).unwrap();
    mkfifo(&path.join("fifo"), Mode::S_IRWXU).unwrap();
    fs::create_dir(path.join("directory")).unwrap();
    let work = Work::take(&path, "job", 3.0).unwrap().unwrap();
    assert!((work.done_s - 3.0).abs() < 1e-9, "what another could have written counts for nothing");
    assert_eq!(permissions(&path), 0o700);
    let names: Vec<_> = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["job"]);
    assert_eq!(fs::read_to_string(&secret).unwrap(), "a line of root's own");
}

#[test]
fn another_user_can_hold_no_lock_on_a_jobs_file() {
    let _umask = Umask::set(0);
    if !geteuid().is_root() {
        println!("left out: only root can become another user");
        return;
    }
    let (_above, path) = place();
    drop(Work::take(&path, "job", 0.0).unwrap());
    let other = OTHER_USER.to_string();
    let mut locks = Command::new("setpriv");
    locks.args(["--reuid", &other, "--regid", &other, "--clear-groups", "--", "flock", "--shared", "--nonblock"]);
    let locked = locks.arg(path.join("job")).arg("true").output().unwrap();
    let said = String::from_utf8_lossy(&locked.stderr);
    assert!(!locked.status.success() && said.contains("Permission denied"), "{said}");
    assert!(Work::take(&path, "job", 0.0).unwrap().is_some());
}
