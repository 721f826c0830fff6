use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use job_types::number::{JobId, UserId};
use job_types::options::IfMissed;
use job_types::record::SealKey;
use job_types::time::{Seconds, UnixTime};
use made_up_site::{MadeUpSite, NOW, USER, batch, ended_job, enforcing, reserved_job};
use slurm_sys::client::JobState;
use upkeep::QueuedJob;

use super::issuer::{Change, Issuer};
use super::siblings::Siblings;
use super::{ChangesThread, Configured, Deadlines, Round, wanted};
use crate::known::cluster::Cluster;
use crate::known::made_up::{cluster, job};
use crate::known::promised_job::{PromisedJob, Seen};
use crate::metrics::changes::ChangeMetrics;

/// A site where jobs of a user on 4 nodes have waited from 0 to 99 times so many seconds.
fn site(more_wait: i64) -> MadeUpSite {
    let past = (0..400).map(|n| {
        let eligible = NOW - Seconds(40_000_000 - n * 90_000);
        ended_job(UserId(USER), eligible, 4, 3_600, n * 37 % 100 * more_wait, 600)
    });
    MadeUpSite::new(NOW).partition(batch(enforcing())).ended_jobs(past)
}

/// The job with that number, as it was reserved while waits were short.
fn reserved(number: u32, change: impl FnOnce(&mut QueuedJob)) -> PromisedJob {
    let mut reserved = QueuedJob { id: JobId(number), ..reserved_job(&site(40).state()) };
    change(&mut reserved);
    PromisedJob { job: reserved, seen: Seen::from(&job(number, JobState::Pending, 4)), rest: String::new(), joint: None }
}

/// A cluster that was read at a moment, with these jobs and no clock but this machine's.
fn read(read_at: UnixTime, reserved: Vec<PromisedJob>) -> Cluster {
    let mut cluster = cluster(&[], Vec::new());
    (cluster.read_at, cluster.reserved, cluster.record_key) = (read_at, reserved, Some(SealKey::new([7; 16])));
    cluster
}

/// What is wanted by a snapshot of a site where waits have become longer.
fn changes(cluster: Cluster, now: UnixTime) -> Vec<Change> {
    let round =
        Round { cluster: Arc::new(cluster), snapshot: site(100).bytes(), interval: Seconds(30), per_second: 1, clusters: BTreeSet::new() };
    wanted(&round, &Siblings::new("c".to_owned()), &mut Deadlines::default(), &ChangeMetrics::default(), now)
}

fn jobs(changes: &[Change]) -> Vec<u32> {
    changes.iter().map(|change| change.job().0).collect()
}

#[test]
fn the_most_urgent_change_comes_first() {
    // Somebody else has changed the second, which is noted without any haste.
    let jobs_with_reservations = || vec![reserved(2, |job| job.limit = Some(Seconds(7_200))), reserved(1, |_| ())];
    let found = changes(read(NOW, jobs_with_reservations()), NOW);
    assert_eq!(found.len(), 2);
    assert!(found.is_sorted_by_key(Change::due));
    let other_way = changes(read(NOW, jobs_with_reservations().into_iter().rev().collect()), NOW);
    assert_eq!(jobs(&found), jobs(&other_way));
}

#[test]
fn nothing_is_wanted_by_a_queue_that_is_too_old_or_dated_ahead() {
    let found = |read_at: UnixTime| changes(read(read_at, vec![reserved(1, |_| ())]), NOW).len();
    assert_eq!([found(NOW), found(NOW - Seconds(120)), found(NOW - Seconds(121)), found(NOW + Seconds(1))], [1, 1, 0, 0]);
}

#[test]
fn a_job_is_cancelled_only_where_the_clocks_agree() {
    let late = NOW + Seconds(5 * 3_600);
    let found = |controller_ahead| {
        let missed = reserved(1, |job| {
            let written = job.record.written.as_mut().unwrap();
            (written.if_missed, written.reserved_at) = (IfMissed::Cancel, Some(NOW.0 + 4 * 3_600));
        });
        let cluster = Cluster { controller_ahead, ..read(late, vec![missed]) };
        changes(cluster, late).len()
    };
    assert_eq!([found(Some(Seconds::ZERO)), found(Some(Seconds(3_600))), found(None)], [1, 0, 0]);
}

#[test]
fn a_snapshot_that_cant_be_read_back_changes_nothing() {
    let cluster = Arc::new(read(NOW, vec![reserved(1, |_| ())]));
    let round = Round { cluster, snapshot: b"damaged".to_vec(), interval: Seconds(30), per_second: 1, clusters: BTreeSet::new() };
    let found = wanted(&round, &Siblings::new("c".to_owned()), &mut Deadlines::default(), &ChangeMetrics::default(), NOW);
    assert!(found.is_empty());
}

#[test]
fn a_queue_is_looked_at_once_and_once_more_after_the_last_job_has_gone() {
    let (mut thread, rounds) = ChangesThread::new();
    let configured = || Configured { per_second: 1, clusters: BTreeSet::new() };
    let mut is_sent = |after: i64, reserved: Vec<PromisedJob>| {
        let cluster = Arc::new(read(NOW + Seconds(after), reserved));
        thread.ask(Some(cluster), Seconds(30), configured, Vec::new);
        rounds.try_recv().is_ok()
    };
    assert!(is_sent(0, Vec::new()), "the first is sent, so that the metrics have numbers");
    assert!(!is_sent(30, Vec::new()), "there was nothing, and there is nothing");
    assert!(is_sent(60, vec![reserved(1, |_| ())]));
    assert!(!is_sent(60, vec![reserved(1, |_| ())]), "it was looked at");
    assert!(is_sent(90, Vec::new()), "the metrics are to tell that it is gone");
    assert!(!is_sent(120, Vec::new()));
}

#[test]
fn the_kill_switch_and_what_cant_be_looked_up_end_all_changes() {
    let directory = tempfile::tempdir().unwrap();
    let found = changes(read(NOW, vec![reserved(1, |_| ())]), NOW);
    let off = directory.path().join("off");
    std::fs::write(&off, "").unwrap();
    assert!(!Issuer::new(off.clone(), ChangeMetrics::default()).issue(&found[0]));
    // Nobody can tell whether there is such a file.
    assert!(!Issuer::new(PathBuf::from(format!("{}/x", off.display())).join("a\0b"), ChangeMetrics::default()).issue(&found[0]));
}
