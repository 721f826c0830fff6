//! What users who are not root do with jobs that were deferred or reserved for them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use end_to_end::{Cluster, Job, Options, now, wait_for};
use job_types::record::Record;
use made_up_site::enforcing;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(120);
const USER: &str = "games";

/// The number of [`USER`].
fn user_number(cluster: &Cluster) -> u32 {
    cluster.output("id", &["-u", USER]).parse().unwrap()
}

fn changed(cluster: &Cluster, job: &Job<'_>, change: &str) {
    let output = cluster.prepare_for(USER, "scontrol").args(["update", &format!("JobId={}", job.id), change]).output().unwrap();
    assert!(output.status.success(), "{change}: {}", String::from_utf8_lossy(&output.stderr));
}

fn run_for(cluster: &Cluster, program: &str, arguments: &[&str]) {
    let output = cluster.prepare_for(USER, program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Slurm lets a requeued job wait for two minutes, and kills one that starts again in the second in
/// which it was requeued.
fn starts_again_soon(cluster: &Cluster, job: &Job<'_>) {
    changed(cluster, job, "StartTime=now+5");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_user_changes_requeues_and_cancels_what_was_deferred() {
    let cluster = Cluster::up(&Options::with_plugins(""));
    cluster.publish_pressed_for(user_number(&cluster), enforcing(), 600);
    // It runs until it is requeued, and then not for long.
    let work = "[ \"${SLURM_RESTART_COUNT:-0}\" -gt 0 ] || sleep 280; sleep 2; date +%s";
    let deferred = || {
        let job = cluster.submit_for(USER, &["-N2", "-t10", "--exclusive", "--auto-defer"], work).job();
        assert!(job.said.contains("queuecast: begin deferred by"), "{}", job.said);
        assert_eq!(job.field("Reason"), "BeginTime");
        job
    };
    let cancelled = deferred();
    run_for(&cluster, "scancel", &[&cancelled.id]);
    assert_eq!(cancelled.end(SOON), "CANCELLED");

    // What its user wants now stands: it begins at once, and with the limit that they set.
    let job = deferred();
    let record = job.field("AdminComment");
    changed(&cluster, &job, "TimeLimit=5");
    changed(&cluster, &job, "StartTime=now");
    assert_eq!(job.wait(&["RUNNING"], SOON), "RUNNING");
    assert_eq!((job.field("TimeLimit").as_str(), job.field("AdminComment") == record), ("00:05:00", true));
    run_for(&cluster, "scontrol", &["requeue", &job.id]);
    wait_for("the job to be requeued", SOON, || (job.field("Restarts") == "1").then_some(()));
    starts_again_soon(&cluster, &job);
    assert_eq!(job.end(Duration::from_secs(400)), "COMPLETED", "{}", job.printed());
    assert_eq!((job.field("NumNodes").as_str(), job.field("TimeLimit").as_str()), ("2", "00:05:00"));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_user_changes_requeues_and_cancels_what_was_reserved() {
    let cluster = Cluster::up(&Options::with_plugins(""));
    // Waits of up to 99 s in even steps.
    let past = [end_to_end::Past { nodes: 2, wait_s: 0, more_wait_s: 1, run_s: 100 }];
    cluster.publish_for(user_number(&cluster), enforcing(), &past, &[]);
    let reserved_in = |seconds: i64| {
        let at = now() + seconds;
        let option = format!("--reserve-at=uts{at}");
        let job = cluster
            .submit_for(USER, &["-N2", "-t1", "--exclusive", &option, "--success-probability=0.5"], "echo began at $(date +%s)")
            .job();
        let written = Record::parse(&job.field("AdminComment")).unwrap().written.unwrap();
        assert_eq!((written.reserved_at, written.hold_until), (Some(at), Some(at)), "{}", job.said);
        (job, at)
    };
    let (pending, _) = reserved_in(3_600);
    assert_eq!(pending.field("JobState"), "PENDING");
    changed(&cluster, &pending, "TimeLimit=2");
    assert_eq!(pending.field("TimeLimit"), "00:02:00");
    run_for(&cluster, "scancel", &[&pending.id]);
    assert_eq!(pending.end(SOON), "CANCELLED");

    // One that waits on its nodes is requeued, and keeps to its time.
    let (job, at) = reserved_in(75);
    assert_eq!(job.wait(&["RUNNING"], SOON), "RUNNING");
    run_for(&cluster, "scontrol", &["requeue", &job.id]);
    wait_for("the job to be requeued", SOON, || (job.field("Restarts") == "1").then_some(()));
    starts_again_soon(&cluster, &job);
    assert_eq!(job.end(Duration::from_secs(400)), "COMPLETED", "{}", job.printed());
    let printed = job.printed();
    let began: Vec<i64> = printed.lines().filter_map(|line| line.strip_prefix("began at ")?.parse().ok()).collect();
    assert!(began.len() == 1 && began[0] >= at, "reserved for {at}: {printed}");
}
