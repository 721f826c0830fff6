//! Jobs of an ordinary user that were admitted with deadlines, and what goes wrong meanwhile:
//! daemons that are started again, a job that is suspended, requeued or changed, and a daemon whose
//! clock is not slurmctld's.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use end_to_end::{Cluster, Job, Options, PATIENCE, Past, QUICK, ShiftedClock, now, wait_for};
use job_types::policy::{Admission, Policy};
use job_types::record::{Changed, Record};
use made_up_site::enforcing;
use std::time::Duration;

const USER: &str = "games";
const SOON: Duration = Duration::from_secs(90);

/// A cluster with a job on six of its eight nodes for hours, on which jobs are admitted by their
/// time limits. The snapshot is one of another daemon's.
fn cluster() -> Cluster {
    let configuration = format!("{QUICK}[policy]\nmode = \"enforce\"\nadmission = \"edf\"\n");
    let options = Options::with_plugins(&configuration)
        .option("partition", "main PriorityJobFactor=1 MaxTime=7-00:00:00")
        .option("conf-line", "PriorityType=priority/multifactor")
        .option("conf-line", "PriorityWeightPartition=1000");
    let cluster = Cluster::up(&options);
    // A daemon without any past would leave a snapshot that has one in its place.
    cluster.run_jobs(1);
    let user = cluster.output("id", &["-u", USER]).parse().unwrap();
    let policy = Policy { admission: Admission::Edf, ..enforcing() };
    cluster.publish_for(user, policy, &[Past { nodes: 8, wait_s: 0, more_wait_s: 0, run_s: 2 }], &[]);
    let blocker = cluster.submit(&["-N6", "-t1000", "--exclusive"], "sleep 10000").job();
    assert_eq!(blocker.wait(&["RUNNING"], SOON), "RUNNING");
    cluster
}

/// An admitted job on so many nodes, of a minute and with a deadline in so many seconds.
fn admitted<'a>(cluster: &'a Cluster, nodes: u32, ahead: i64, options: &[&str], script: &str) -> Job<'a> {
    let deadline = cluster.output("date", &["-d", &format!("@{}", now() + ahead), "+--deadline=%Y-%m-%dT%H:%M:%S"]);
    let job = cluster.submit_for(USER, &[&[&format!("-N{nodes}"), "-t1", "--exclusive", &deadline], options].concat(), script).job();
    assert!(job.field("AdminComment").contains("\"admitted_by\":\"edf\""), "{}: {}", job.said, job.field("AdminComment"));
    assert_eq!(job.field("Deadline"), "N/A", "Slurm's own field is empty");
    job
}

fn changed(job: &Job<'_>) -> Changed {
    Record::parse(&job.field("AdminComment")).and_then(|record| record.changed).unwrap_or_default()
}

fn priority(job: &Job<'_>) -> i64 {
    job.field("Priority").parse().unwrap()
}

fn comment(cluster: &Cluster, job: &Job<'_>) -> String {
    let shown = cluster.output("scontrol", &["show", "job", "--oneliner", &job.id]);
    shown.split_once(" Comment=").map(|(_, rest)| rest.to_owned()).unwrap_or_default()
}

/// Waits until the daemon has looked at the queue several times more.
fn rounds(cluster: &Cluster) {
    let generation = cluster.snapshot().unwrap().generation();
    cluster.snapshot_with("four more snapshots", |snapshot| snapshot.generation() >= generation + 4);
}

fn operator(cluster: &Cluster, arguments: &[&str]) {
    let _ = cluster.output("scontrol", arguments);
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn faults_end_no_admitted_job_that_is_not_late() {
    let cluster = cluster();
    daemons_are_started_again(&cluster);
    let clock = cluster.shifted_clock();
    let _daemon = cluster.start_queuecastd_with(&clock.variables());
    a_job_is_suspended_and_requeued(&cluster);
    the_daemons_clock_is_set_ahead_and_back(&cluster, &clock);
    an_operator_changes_the_limit(&cluster);
}

/// slurmctld right after it has admitted a job, and the daemon with SIGKILL before it has looked at
/// another one.
fn daemons_are_started_again(cluster: &Cluster) {
    let later = admitted(cluster, 8, 7_200, &[], "true");
    let record = later.field("AdminComment");
    cluster.daemon("restart", "slurmctld");
    assert_eq!((later.field("JobState").as_str(), later.field("AdminComment")), ("PENDING", record));
    let mut killed = cluster.start_queuecastd();
    cluster.snapshot_with("the daemon's own snapshot", |snapshot| snapshot.provenance().controller_read_at.is_some());
    // By itself it is behind the other.
    let earlier = admitted(cluster, 8, 3_600, &["--nice=100"], "true");
    killed.signal("KILL");
    let _ = killed.end(SOON);
    let _daemon = cluster.start_queuecastd();
    wait_for("the order by deadline", PATIENCE, || (priority(&earlier) > priority(&later)).then_some(()));
    rounds(cluster);
    for job in [&earlier, &later] {
        assert_eq!((job.field("JobState").as_str(), changed(job).stopped, changed(job).late), ("PENDING", false, None));
        job.cancel();
    }
}

fn a_job_is_suspended_and_requeued(cluster: &Cluster) {
    // Ends by itself only once it has been put back.
    let job = admitted(cluster, 2, 1_200, &["--requeue", "-t5"], "[ -n \"$SLURM_RESTART_COUNT\" ] || sleep 1000");
    assert_eq!(job.wait(&["RUNNING"], SOON), "RUNNING");
    operator(cluster, &["suspend", &job.id]);
    assert_eq!(job.wait(&["SUSPENDED"], SOON), "SUSPENDED");
    rounds(cluster);
    assert_eq!(changed(&job), Changed::default(), "nothing is changed of it meanwhile");
    operator(cluster, &["resume", &job.id]);
    assert_eq!(job.wait(&["RUNNING"], SOON), "RUNNING");
    // The job's cgroup is named after the second in which the job began.
    let began = now();
    wait_for("another second", SOON, || (now() > began + 1).then_some(()));
    let requeued = cluster.prepare_for(USER, "scontrol").args(["requeue", &job.id]).output().unwrap();
    assert!(requeued.status.success(), "{requeued:?}");
    wait_for("the record to say so", PATIENCE, || (changed(&job).told_restarts == Some(1)).then_some(()));
    wait_for("the comment to say so", SOON, || comment(cluster, &job).starts_with("queuecast: put back into the queue").then_some(()));
    let deadline = Record::parse(&job.field("AdminComment")).unwrap().written.unwrap().deadline.unwrap();
    // Slurm starts it again after two minutes, or when somebody says so; slurmd refuses what starts
    // in the second in which the first run was ended (`slurm_cred_revoke`). slurmctld takes no
    // other begin before the first run has ended.
    let _ = job.wait(&["PENDING", "RUNNING", "COMPLETED"], SOON);
    let ended = now();
    wait_for("another second", SOON, || (now() > ended + 1).then_some(()));
    // Refused where the two minutes are over.
    let _ = cluster.run("scontrol", &["update", &format!("JobId={}", job.id), "StartTime=now"]);
    assert_eq!(job.end(PATIENCE), "COMPLETED");
    assert!(now() <= deadline, "it was done in time");
}

/// Sets the daemon's clock ahead by an hour and back. By the clock ahead, a job that is to be done
/// in half an hour is late.
fn the_daemons_clock_is_set_ahead_and_back(cluster: &Cluster, clock: &ShiftedClock) {
    let waits = admitted(cluster, 8, 1_800, &[], "true");
    clock.set_ahead(3_600);
    cluster.snapshot_with("a queue that was read by the wrong clock", |snapshot| {
        let provenance = snapshot.provenance();
        provenance.controller_read_at.is_some_and(|read_at| read_at.0 > now() + 3_000) && provenance.controller_ahead.0 < -3_000
    });
    rounds(cluster);
    let is_left = || {
        assert_eq!(["JobState", "Deadline"].map(|name| waits.field(name)), ["PENDING", "N/A"]);
        assert_eq!(changed(&waits).late, None);
    };
    is_left();
    assert_eq!(changed(&waits).told_restarts, None, "nothing is told by the wrong clock");
    assert!(cluster.log("queuecastd").contains("slurmctld's clock is not this machine's"));
    let status = cluster.run("queuecast", &["status"]);
    assert!(String::from_utf8_lossy(&status.stdout).contains("behind the daemon's: no job is ended as late"), "{status:?}");
    clock.set_ahead(0);
    cluster.snapshot_with("a queue that was read by the right clock", |snapshot| {
        let provenance = snapshot.provenance();
        provenance.controller_read_at.is_some_and(|read_at| read_at.0 <= now()) && provenance.controller_ahead.0 == 0
    });
    rounds(cluster);
    is_left();
    assert!(cluster.log("queuecastd").contains("slurmctld's clock is this machine's again"));
    waits.cancel();
}

fn an_operator_changes_the_limit(cluster: &Cluster) {
    let longer = admitted(cluster, 8, 1_800, &[], "true");
    let too_long = admitted(cluster, 8, 1_800, &[], "true");
    operator(cluster, &["update", &format!("JobId={}", longer.id), "TimeLimit=10"]);
    operator(cluster, &["update", &format!("JobId={}", too_long.id), "TimeLimit=60"]);
    assert_eq!(too_long.end(PATIENCE), "DEADLINE");
    wait_for("the comment to say why", SOON, || comment(cluster, &too_long).starts_with("queuecast: ended because").then_some(()));
    rounds(cluster);
    assert_eq!((longer.field("JobState").as_str(), longer.field("TimeLimit").as_str()), ("PENDING", "00:10:00"));
    assert!(!changed(&longer).stopped, "another limit counts as it is");
    longer.cancel();
}
