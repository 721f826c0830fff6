//! What jobs are promised before Slurm has taken them, through the C entry points of the built
//! plugin.
#![allow(unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::running::Running;
use common::{Description, now, publish};
use job_types::number::UserId;
use job_types::policy::{Admission, Policy};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use made_up_site::enforcing;
use parking_lot::MutexGuard;
use predictor_core::snapshot::SeenSubmission;
use snapshot_writer::SeenSubmissions;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const HOUR: i64 = 3_600;

/// Somebody whose jobs come to nothing.
const HOSTILE: u32 = 2_000;

fn policy(admission: Admission) -> Policy {
    Policy { admission, ..enforcing() }
}

/// Publishes a queue of an empty partition of 64 nodes with 4 CPUs, read so many seconds ago, that
/// shows all jobs that were submitted since a minute.
fn publish_read(running: &Running, admission: Admission, seconds: i64, jobs: Vec<SeenSubmission>) {
    static GENERATION: AtomicU64 = AtomicU64::new(100);
    let past = (0..200).map(|n| common::past_job(now(), n, 4, HOUR, n * 37 % 100, 1_000));
    let site = common::site(policy(admission), now(), GENERATION.fetch_add(1, Ordering::Relaxed));
    let submissions = SeenSubmissions { since: Some(now() - Seconds(60)), jobs };
    let read_at = Some(now() - Seconds(seconds));
    let site = site.ended_jobs(past).origin(|origin| (origin.controller_read_at, origin.submissions) = (read_at, submissions.into()));
    publish(running.site.path(), &site.bytes());
}

/// The plugin over a queue that was read just now, with nothing that was promised before.
fn running(admission: Admission) -> (MutexGuard<'static, ()>, &'static Running) {
    let (turn, running) = Running::turn();
    publish_read(running, Admission::Probability, -10, Vec::new());
    // Takes it up; the deadline is too near for any job.
    assert_ne!(running.plugin.submit(&mut due_in(60, 1)).0, 0);
    publish_read(running, admission, 0, Vec::new());
    (turn, running)
}

/// A job of an hour on 16 of 256 CPUs.
fn job(user: u32) -> Description {
    Description::batch(4, 16).of_user(user)
}

fn due_in(seconds: i64, user: u32) -> Description {
    let mut job = job(user);
    job.0.deadline = now().0 + seconds;
    job
}

fn reserved(user: u32) -> Description {
    job(user).with_control(&[&format!("QUEUECAST_RESERVE_AT={}", now().0 + 20_000), "QUEUECAST_SUCCESS_PROBABILITY=0.5"])
}

/// The answers to a thousand submissions of one user, every second of which looks as if it only
/// tested: how many were promised something.
fn flood(running: &Running, user: u32, job: impl Fn(u32) -> Description) -> usize {
    let submit = |n: usize| {
        let job = job(user);
        let mut job = if n.is_multiple_of(2) { job.only_tested() } else { job };
        running.plugin.submit(&mut job).0 == 0
    };
    (0..1_000).filter(|n| submit(*n)).count()
}

/// Waits until a reading of the queue has to show what was let through.
fn wait_until_shown() {
    std::thread::sleep(Duration::from_secs(3));
}

#[test]
fn a_thousand_submissions_that_come_to_nothing_have_nobody_refused() {
    for (admission, ask) in [
        (Admission::Probability, (|user| due_in(2 * HOUR, user)) as fn(u32) -> Description),
        (Admission::Off, reserved as fn(u32) -> Description),
    ] {
        let (_turn, running) = running(admission);
        let user = HOSTILE + admission as u32;
        let answer = |other: u32| running.plugin.submit(&mut ask(other));
        let first = flood(running, user, ask);
        assert!((4..=16).contains(&first), "{admission:?}: {first}");
        // As long as nobody knows whether the jobs are there, the answer is put off.
        let (number, told) = answer(3_000);
        assert_eq!(number, libc::EAGAIN, "{admission:?}: {told:?}");
        wait_until_shown();
        publish_read(running, admission, 0, Vec::new());
        assert_eq!(answer(3_000).0, 0, "{admission:?}");
        // The next time, whose jobs come to nothing is promised little, and others have their
        // answer at once.
        let second = flood(running, user, ask);
        assert!(second <= first / 2, "{admission:?}: {second} after {first}");
        let (number, told) = answer(3_001);
        assert_eq!(number, 0, "{admission:?}: {told:?}");
    }
}

#[test]
fn whose_jobs_came_to_be_may_be_promised_as_much_again() {
    let (_turn, running) = running(Admission::Probability);
    let user = HOSTILE + 50;
    let ask = |user| due_in(2 * HOUR, user);
    let first = flood(running, user, ask);
    assert!((12..=16).contains(&first), "{first}");
    let submitted_at: UnixTime = now();
    wait_until_shown();
    let seen = SeenSubmission { user: UserId(user), submitted_at, size: Size { nodes: 4, cpus: 16 } };
    publish_read(running, Admission::Probability, 0, vec![seen; first]);
    assert_eq!(flood(running, user, ask), first);
    wait_until_shown();
    publish_read(running, Admission::Probability, 0, Vec::new());

    // Small jobs do not stand for large ones.
    let other = user + 1;
    let promised = flood(running, other, ask);
    let submitted_at: UnixTime = now();
    wait_until_shown();
    let small = SeenSubmission { user: UserId(other), size: Size { nodes: 1, cpus: 1 }, submitted_at };
    publish_read(running, Admission::Probability, 0, vec![small; promised]);
    let after = flood(running, other, ask);
    assert!(after <= promised / 2, "{after} after {promised}");
}

#[test]
fn what_is_admitted_in_the_order_of_deadlines_counts_as_far_as_its_user_may_be_promised_it() {
    let (_turn, running) = running(Admission::Edf);
    let user = HOSTILE + 60;
    // All are let in, and 16 of these jobs are what a user may be promised of the partition.
    let large = |user: u32| {
        let mut job = Description::batch(16, 64).of_user(user);
        job.0.deadline = now().0 + 2 * HOUR;
        job
    };
    assert_eq!(flood(running, user, large), 1_000);
    wait_until_shown();
    publish_read(running, Admission::Probability, 0, Vec::new());
    // Of 1,000 that did not come to be there would be nothing left.
    let (number, told) = running.plugin.submit(&mut due_in(2 * HOUR, user));
    assert_eq!(number, 0, "{told:?}");
}

#[test]
fn a_burst_is_not_promised_the_same_room_twice_whoever_submits_it_and_whatever_is_promised() {
    let granted = |running: &Running, first: u32, ask: &dyn Fn(u32) -> Description| {
        (0..100).filter(|user| running.plugin.submit(&mut ask(first + user).only_tested()).0 == 0).count()
    };
    // 16 such jobs are the whole partition.
    let (turn, running_off) = running(Admission::Off);
    let reservations = granted(running_off, 4_000, &reserved);
    assert!((2..=16).contains(&reservations), "{reservations}");
    drop(turn);
    // What was admitted in the order of deadlines takes room as well.
    let (_turn, running) = running(Admission::Edf);
    assert_eq!(granted(running, 5_000, &|user| due_in(2 * HOUR, user)), 100);
    publish_read(running, Admission::Probability, 0, Vec::new());
    assert_eq!(granted(running, 6_000, &|user| due_in(2 * HOUR, user)), 0);
}
