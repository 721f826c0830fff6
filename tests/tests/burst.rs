//! What the daemon does about an ordinary user's reservation when many jobs come after it was
//! given.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use end_to_end::{Began, Cluster, Job, Options, PATIENCE, QUICK, TELLS_BEGIN, now, wait_for};
use job_types::record::{Changed, Record};
use std::time::Duration;

const USER: &str = "games";
const SOON: Duration = Duration::from_secs(90);

/// What every job here asks for: a quarter of the cluster for two minutes.
const SHAPE: [&str; 3] = ["-N2", "-t2", "--exclusive"];

/// A log of the user's jobs that never waited. They are too few for forecasts by the state of the
/// queue, so that only waits of the present can tell that jobs wait now.
fn past() -> String {
    let jobs = (1..=150).map(|number| format!("{number} {} 0 55 8 -1 -1 8 120 -1 1 1 1 -1 1 -1 -1 -1\n", number * 20_000));
    std::iter::once("; MaxProcs: 32\n; MaxNodes: 8\n".to_owned()).chain(jobs).collect()
}

fn changed(job: &Job<'_>) -> Changed {
    Record::parse(&job.field("AdminComment")).unwrap().changed.unwrap_or_default()
}

/// When a job becomes eligible, in Unix seconds.
fn eligible(cluster: &Cluster, job: &Job<'_>) -> i64 {
    cluster.output("date", &["-d", &job.field("EligibleTime"), "+%s"]).parse().unwrap()
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_burst_of_jobs_makes_a_deferred_job_eligible_earlier_and_its_promise_is_kept_over_restarts() {
    let cluster = Cluster::up(&Options::with_plugins(&format!("{QUICK}[policy]\nmode = \"enforce\"\n")));
    let path = cluster.path("past.swf");
    std::fs::write(&path, past()).unwrap();
    let map = format!("1:{USER}");
    let _ = cluster.import(&[path.to_str().unwrap(), "--map-user", &map, "--partition", "main"]);
    let mut daemon = cluster.start_queuecastd();
    cluster.snapshot_with("the past", |snapshot| snapshot.provenance().ended_jobs == 150);
    let at = now() + 180;
    let option = format!("--reserve-at=uts{at}");
    let job = cluster.submit_for(USER, &[&SHAPE[..], &[&option, "--success-probability=0.9"]].concat(), TELLS_BEGIN).job();
    // Looked at again it stays near its time for as long as nobody waits.
    let generation = cluster.snapshot().unwrap().generation();
    cluster.snapshot_with("more snapshots", |snapshot| snapshot.generation() >= generation + 3);
    let (quiet, count) = (eligible(&cluster, &job), changed(&job).count);
    assert!(at - quiet <= 31, "eligible {} s before its time while nobody waits: {}", at - quiet, job.said);

    // Four of them at a time find room, and the others wait for those.
    let burst: Vec<Job<'_>> = (0..24).map(|_| cluster.submit_for(USER, &SHAPE, "sleep 5").job()).collect();
    wait_for("the job to be moved", PATIENCE, || (eligible(&cluster, &job) < at - 31).then_some(()));
    let moved = changed(&job);
    assert!(moved.count > count && moved.begin.is_some_and(|begin| begin < at - 31) && !moved.stopped, "{moved:?}");
    assert_eq!(job.field("JobState"), "PENDING", "{} s before its time", at - now());

    daemon.signal("TERM");
    assert!(daemon.end(SOON).success());
    for name in ["slurmctld", "slurmd"] {
        cluster.daemon("restart", name);
    }
    let _daemon = cluster.start_queuecastd();

    assert_eq!(job.wait(&["RUNNING"], PATIENCE), "RUNNING");
    assert!(now() <= at, "it started {} s late", now() - at);
    let listed = cluster.prepare_for(USER, "queuecast").args(["reservations", "--format", "json"]).output().unwrap();
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    let reservation = &listed["reservations"][0];
    // It is kept once the nodes are there at its time, and not as soon as they are.
    let told = (&reservation["reserved_at"], &reservation["state"], &reservation["kept"]);
    assert_eq!(told, (&at.into(), &"early".into(), &serde_json::Value::Null), "{listed}");
    assert_eq!(job.end(PATIENCE), "COMPLETED", "{}", job.printed());
    let began = Began::of(&job.printed());
    assert!(began.is_at(at), "reserved for {at}: {began}");
    burst.iter().for_each(Job::cancel);
}
