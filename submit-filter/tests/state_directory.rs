//! What lies in the state directory can't block, kill or mislead the filter.
#![allow(unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Description, Site, announce, free, hand_over, handed, now, publish, read, snapshot_bytes};
use job_submit_queuecast::filter::{Answer, State, submission};
use job_types::number::UserId;
use job_types::time::Seconds;
use made_up_site::enforcing;
use predictor_core::decisions::counters::Counter;
use slurm_sys::job_description::{JobDescription, UserMessage};
use slurm_sys::memory::{CountsPage, HandOver, HandedCounts, HandedSnapshot, SealedMemory};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::ptr;
use std::time::{Duration, Instant};

/// Submits a job that would be molded from 16 nodes to 4. Returns its nodes, and what was said.
fn submit(state: &State) -> (u32, String) {
    let mut job = Description::batch(16, 64).with_control(&["QUEUECAST_AUTO_MOLD=1"]);
    let mut message = ptr::null_mut();
    let begin = Instant::now();
    // SAFETY: a description and a place for a message of our own.
    let answer = unsafe {
        let mut description = JobDescription::from_raw(&raw mut *job.0).unwrap();
        let mut place = UserMessage::from_raw(&raw mut message);
        submission(state, &mut description, &mut place, UserId(1))
    };
    assert!(begin.elapsed() < Duration::from_secs(5), "the submission took {:?}", begin.elapsed());
    assert_eq!(answer, Answer::Accepted);
    let said = read(message).unwrap_or_default();
    free(&mut message);
    (job.0.min_nodes, said)
}

/// A snapshot by which the job is molded.
fn good(generation: u64) -> Vec<u8> {
    snapshot_bytes(enforcing(), 400, now(), generation)
}

fn snapshots_taken(site: &Site) -> u64 {
    site.counter(Counter::SnapshotsTaken)
}

#[test]
fn a_snapshot_is_taken_from_the_memory_of_the_daemon_without_any_file() {
    let site = Site::new();
    let state = State::over(site.path());
    assert_eq!(submit(&state).0, 16);
    let _memory = site.hand_over(&good(1));
    assert_eq!(submit(&state).0, 4);
    assert_eq!((snapshots_taken(&site), site.counter(Counter::Molded)), (1, 1));
    // The file of the same snapshot is not taken up beside it, which would drop the claims.
    publish(site.path(), &good(1));
    assert_eq!(submit(&state).0, 4);
    assert_eq!(snapshots_taken(&site), 1);
}

#[test]
fn a_snapshot_in_memory_outlives_the_daemon_and_the_next_start_takes_the_file() {
    let site = Site::new();
    let bytes = good(1);
    let memory = site.hand_over(&bytes);
    publish(site.path(), &bytes);
    let state = State::over(site.path());
    assert_eq!(submit(&state).0, 4);
    // As if the daemon had ended: its descriptor is gone.
    drop(memory);
    assert_eq!(submit(&state).0, 4);
    assert_eq!(submit(&State::over(site.path())).0, 4);
}

/// Puts something else than a file into a place.
type Put = fn(&Path);

#[test]
fn what_is_no_regular_file_is_not_opened_and_jobs_pass() {
    let kinds: [(&str, Put); 6] = [
        ("fifo", |path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success())),
        ("directory", |path| fs::create_dir(path).unwrap()),
        ("link to itself", |path| std::os::unix::fs::symlink(path, path).unwrap()),
        ("link to a device", |path| std::os::unix::fs::symlink("/dev/zero", path).unwrap()),
        ("socket", |path| drop(std::os::unix::net::UnixListener::bind(path).unwrap())),
        ("sparse file of a terabyte", |path| File::create(path).unwrap().set_len(1 << 40).unwrap()),
    ];
    for name in ["snapshot", "snapshot-memory"] {
        for (kind, put) in kinds {
            let directory = tempfile::tempdir().unwrap();
            put(&directory.path().join(name));
            let state = State::over(directory.path());
            let (nodes, said) = submit(&state);
            assert_eq!(nodes, 16, "{kind} named {name}");
            assert!(said.contains("submitted as you wrote it"), "{kind} named {name}: {said}");
        }
    }
}

#[test]
fn a_device_is_not_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("snapshot");
    // The device of endless zeros.
    let made = Command::new("mknod").arg(&path).args(["c", "1", "5"]).status().unwrap();
    assert!(made.success(), "mknod needs root, which the tests run as");
    assert_eq!(submit(&State::over(directory.path())).0, 16);
}

#[test]
fn a_link_to_a_good_snapshot_is_not_followed() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("elsewhere"), good(1)).unwrap();
    std::os::unix::fs::symlink("elsewhere", directory.path().join("snapshot")).unwrap();
    assert_eq!(submit(&State::over(directory.path())).0, 16);
    fs::rename(directory.path().join("elsewhere"), directory.path().join("snapshot")).unwrap();
    assert_eq!(submit(&State::over(directory.path())).0, 4, "the same file in its place");
}

#[test]
fn a_forged_hand_over_is_refused_and_the_file_stays_in_force() {
    let site = Site::new();
    let bytes = good(7);
    let memory = SealedMemory::of(c"snapshot", &bytes).unwrap();
    let good_one = handed(&memory, &bytes);
    let counts = HandedCounts { descriptor: site.page().descriptor() };
    let by_this = |snapshot| HandOver::by_this_process(snapshot, counts).unwrap();
    // A process that ends at once, and one that holds a snapshot in a file on disk.
    let mut ended = Command::new("true").spawn().unwrap();
    let ended_process = ended.id();
    ended.wait().unwrap();
    let on_disk = site.path().join("on-disk");
    fs::write(&on_disk, &bytes).unwrap();
    let mut other = Command::new("sleep").arg("60").stdin(File::open(&on_disk).unwrap()).stdout(Stdio::piped()).spawn().unwrap();
    let other_began = began(other.id());
    let in_other = |descriptor| HandOver { process: other.id(), began: other_began, ..by_this(HandedSnapshot { descriptor, ..good_one }) };
    let unsealed = CountsPage::create(c"not sealed against writing", 511).unwrap();
    let of_page = HandedSnapshot { descriptor: unsealed.descriptor(), length: 4_096, ..good_one };
    let forged: [(&str, String); 14] = [
        ("no text", String::new()),
        ("other text", "queuecast".into()),
        ("long text", "queuecast-memory-1 ".repeat(100_000)),
        ("numbers missing", "queuecast-memory-1 process=1 began=2\n".into()),
        ("a negative descriptor", by_this(good_one).to_string().replace("snapshot=", "snapshot=-")),
        ("a process that has ended", HandOver { process: ended_process, ..by_this(good_one) }.to_string()),
        ("a process that began at another time", HandOver { began: 1, ..by_this(good_one) }.to_string()),
        ("a file of another process", in_other(0).to_string()),
        ("a pipe of another process", in_other(1).to_string()),
        ("a descriptor that is not open", by_this(HandedSnapshot { descriptor: 1_000_000, ..good_one }).to_string()),
        ("memory that is not sealed against writing", by_this(of_page).to_string()),
        ("a wrong length", by_this(HandedSnapshot { length: good_one.length - 1, ..good_one }).to_string()),
        ("another generation", by_this(HandedSnapshot { generation: 8, ..good_one }).to_string()),
        ("another checksum", by_this(HandedSnapshot { checksum: !good_one.checksum, ..good_one }).to_string()),
    ];
    for (what, text) in &forged {
        let _ = fs::remove_file(site.path().join("snapshot"));
        let state = State::over(site.path());
        announce(site.path(), text);
        assert_eq!(submit(&state).0, 16, "{what}");
        publish(site.path(), &good(9));
        assert_eq!(submit(&state).0, 4, "{what}: the file is taken then");
    }
    other.kill().unwrap();
    other.wait().unwrap();
    fs::remove_file(site.path().join("snapshot")).unwrap();
    hand_over(site.path(), good_one, site.page());
    assert_eq!(submit(&State::over(site.path())).0, 4, "the same, not forged");
}

/// When a process began: field 22 of its stat, see proc(5).
fn began(process: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().parse().unwrap()
}

/// Does something in a thread that has root's privileges over files no more, as Slurm's user has
/// none.
fn without_privileges(action: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let done = scope.spawn(|| {
            // SAFETY: it changes by which user this thread's looks at files are judged, and nothing
            // else; the thread ends here.
            unsafe { libc::setfsuid(65_534) };
            action();
        });
        done.join().unwrap();
    });
}

#[test]
fn rules_that_can_not_be_looked_at_for_want_of_permission_stay_in_force() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("state");
    fs::create_dir(&path).unwrap();
    let permit = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    permit(parent.path(), 0o755);
    common::put_rules(&path, "[[rule]]\nname = 'closed'\nreject = 'closed'\n");
    let state = State::over(&path);
    let is_refused = || {
        let mut job = Description::batch(1, 1);
        let mut message = ptr::null_mut();
        // SAFETY: a description and a place for a message of our own.
        let answer = unsafe {
            let mut description = JobDescription::from_raw(&raw mut *job.0).unwrap();
            let mut place = UserMessage::from_raw(&raw mut message);
            submission(&state, &mut description, &mut place, UserId(made_up_site::USER))
        };
        free(&mut message);
        matches!(answer, Answer::RefusedByRules(_))
    };
    assert!(is_refused());
    permit(&path, 0o700);
    without_privileges(|| {
        let looked = fs::symlink_metadata(path.join("rules")).unwrap_err();
        assert_eq!(looked.kind(), std::io::ErrorKind::PermissionDenied, "it is tried for real, which needs root to give up");
        (0..3).for_each(|_| assert!(is_refused(), "the rules in force stay"));
    });
    permit(&path, 0o755);
    assert!(is_refused() && path.join("rules-in-force").exists(), "the copy stays, too");
    // That they are gone is another thing, and is seen without a change of permissions before.
    fs::remove_file(path.join("rules")).unwrap();
    assert!(!is_refused());
}

#[test]
fn nothing_is_opened_while_the_kill_switch_is_on() {
    let site = Site::new();
    fs::write(site.path().join("off"), "").unwrap();
    let _memory = site.hand_over(&good(1));
    publish(site.path(), &good(1));
    let state = State::over(site.path());
    for _ in 0..3 {
        assert_eq!(submit(&state).0, 16);
    }
    // Whoever had read the hand-over would count in the page that it names.
    assert_eq!(site.page().read(), None);
    fs::remove_file(site.path().join("off")).unwrap();
    assert_eq!(submit(&state).0, 4);
    assert_eq!((snapshots_taken(&site), site.counter(Counter::Submissions)), (1, 4));
}

#[test]
fn the_kill_switch_works_at_the_very_next_submission_however_the_moments_fall() {
    let site = Site::new();
    let _memory = site.hand_over(&good(1));
    let state = State::over(site.path());
    let off = site.path().join("off");
    assert_eq!(submit(&state).0, 4);
    for round in 0..300 {
        fs::write(&off, "").unwrap();
        assert_eq!(submit(&state).0, 16, "round {round}");
        fs::remove_file(&off).unwrap();
        assert_eq!(submit(&state).0, 4, "round {round}");
    }
    // And once the directory has been at rest.
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(submit(&state).0, 4);
    fs::write(&off, "").unwrap();
    assert_eq!(submit(&state).0, 16);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(submit(&state).0, 16);
    fs::remove_file(&off).unwrap();
    assert_eq!(submit(&state).0, 4);
}

#[test]
fn another_directory_in_the_place_of_the_one_that_was_looked_at_is_found_within_a_second() {
    let place = tempfile::tempdir().unwrap();
    let (directory, before) = (place.path().join("state"), place.path().join("before"));
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("snapshot"), good(1)).unwrap();
    let state = State::over(&directory);
    // At rest, so that a look at the directory alone is enough.
    std::thread::sleep(Duration::from_millis(1_200));
    assert_eq!((submit(&state).0, submit(&state).0), (4, 4));

    fs::rename(&directory, &before).unwrap();
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("off"), "").unwrap();
    std::thread::sleep(Duration::from_millis(1_100));
    assert_eq!(submit(&state).0, 16, "the kill switch is on in the other directory");

    // One that was removed tells so itself.
    std::thread::sleep(Duration::from_millis(1_200));
    assert_eq!((submit(&state).0, submit(&state).0), (16, 16));
    fs::remove_dir_all(&directory).unwrap();
    fs::rename(&before, &directory).unwrap();
    assert_eq!(submit(&state).0, 4, "the first directory is back");
}

#[test]
fn a_snapshot_dated_ahead_is_refused_and_the_one_before_stays() {
    const DAY: i64 = 86_400;
    for ahead in [61, DAY, 2 * DAY, 366 * DAY] {
        let site = Site::new();
        let state = State::over(site.path());
        let dated = snapshot_bytes(enforcing(), 400, now() + Seconds(ahead + 10), 5);
        let memory = site.hand_over(&dated);
        publish(site.path(), &dated);
        let (nodes, said) = submit(&state);
        assert_eq!(nodes, 16, "{ahead} s ahead");
        assert!(said.contains("dated ahead of slurmctld's clock"), "{said}");
        assert_eq!(site.counter(Counter::SnapshotAhead), 1);
        let _good = site.hand_over(&good(6));
        assert_eq!(submit(&state).0, 4);
        drop(memory);
        let _ahead = site.hand_over(&dated);
        assert_eq!(submit(&state).0, 4, "the one before stays in force");
    }
    let site = Site::new();
    publish(site.path(), &snapshot_bytes(enforcing(), 400, now() + Seconds(50), 5));
    assert_eq!(submit(&State::over(site.path())).0, 4, "clocks differ by seconds");
}

#[test]
fn counts_go_on_over_restarts_of_slurmctld_and_of_the_daemon() {
    let site = Site::new();
    let bytes = good(1);
    let _memory = site.hand_over(&bytes);
    let first = State::over(site.path());
    (0..5).for_each(|_| drop(submit(&first)));
    assert_eq!(site.counter(Counter::Submissions), 5);
    // slurmctld is started again.
    let second = State::over(site.path());
    (0..2).for_each(|_| drop(submit(&second)));
    assert_eq!(site.counter(Counter::Submissions), 7);
    // The daemon is started again, with a page of its own; what was counted meanwhile is in it,
    // too.
    let (owner, _) = site.page().read().unwrap();
    fs::remove_file(site.path().join("snapshot-memory")).unwrap();
    submit(&second);
    let page = CountsPage::create(c"counts", predictor_core::decisions::refusals::SHOWN).unwrap();
    let memory = SealedMemory::of(c"snapshot", &bytes).unwrap();
    hand_over(site.path(), handed(&memory, &bytes), &page);
    submit(&second);
    let (same, numbers) = page.read().unwrap();
    assert_eq!((same, numbers[Counter::Submissions.index()]), (owner, 9));
}

#[test]
fn a_full_disk_hurts_neither_the_process_nor_the_jobs() {
    let mount = Mount::tmpfs("64k");
    let state = State::over(&mount.path);
    let full = File::create(mount.path.join("filler")).unwrap();
    let error = std::io::copy(&mut std::io::repeat(1), &mut &full).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    assert!(submit(&state).1.contains("there is no forecast yet"));
    // The hand-over is a few bytes that no longer fit, and half a snapshot lies there.
    let page = CountsPage::create(c"counts", predictor_core::decisions::refusals::SHOWN).unwrap();
    let bytes = good(1);
    let memory = SealedMemory::of(c"snapshot", &bytes).unwrap();
    let text = HandOver::by_this_process(handed(&memory, &bytes), HandedCounts { descriptor: page.descriptor() }).unwrap().to_string();
    assert!(fs::write(mount.path.join("snapshot-memory"), &text).is_err() && fs::write(mount.path.join("snapshot"), &bytes).is_err());
    (0..100).for_each(|_| assert_eq!(submit(&state).0, 16));
    drop(full);
    fs::remove_file(mount.path.join("filler")).unwrap();
    // On a busy machine the room comes back a moment after the file is gone.
    let room = mount.path.join("room");
    let patience = Instant::now() + Duration::from_secs(5);
    while fs::write(&room, [0; 4_096]).is_err() {
        assert!(Instant::now() < patience, "the room of the file that is gone did not come back");
        std::thread::sleep(Duration::from_millis(50));
    }
    fs::remove_file(room).unwrap();
    announce(&mount.path, &text);
    assert_eq!(submit(&state).0, 4);
    // What was counted while there was no room is shown as soon as there is some.
    assert_eq!(page.read().unwrap().1[Counter::Submissions.index()], 102);
}

/// A file system of its own, as long as this lives.
struct Mount {
    path: std::path::PathBuf,
    _directory: tempfile::TempDir,
}

impl Mount {
    fn tmpfs(size: &str) -> Mount {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state");
        fs::create_dir(&path).unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &format!("size={size},mode=755"), "tmpfs"]).arg(&path).status();
        assert!(mounted.unwrap().success(), "mounting needs root, which the tests run as");
        Mount { path, _directory: directory }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.path).status();
    }
}
