//! What the daemon changes in jobs with reservations, which are an ordinary user's, after their
//! submission.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use end_to_end::{Cluster, Job, Options, PATIENCE, Past, QUICK, now, wait_for};
use job_types::options::IfMissed;
use job_types::record::{Changed, EndOfPromise, Record, Written};
use made_up_site::enforcing;
use std::time::Duration;

const USER: &str = "games";
const SOON: Duration = Duration::from_secs(90);

/// A cluster on which jobs of [`USER`] on two nodes are taken to have waited from 0 to 99 times so
/// many seconds, for as long as no daemon publishes what it knows.
fn cluster(more_wait_s: i64) -> Cluster {
    let options = Options::with_plugins(&format!("{QUICK}[policy]\nmode = \"enforce\"\n"));
    let cluster = Cluster::up(&options.option("conf-line", "AccountingStorageEnforce=associations,limits,qos"));
    // A daemon without any past would leave a snapshot that has one in its place.
    cluster.run_jobs(1);
    let user = cluster.output("id", &["-u", USER]).parse().unwrap();
    cluster.publish_for(user, enforcing(), &[Past { nodes: 2, wait_s: 0, more_wait_s, run_s: 100 }], &[]);
    cluster
}

/// A job of a minute on two nodes that is reserved for so many seconds from now, and that time.
fn reserved<'a>(cluster: &'a Cluster, ahead: i64, options: &[&str], command_line: &str) -> (Job<'a>, i64) {
    let at = now() + ahead;
    let option = format!("--reserve-at=uts{at}");
    let arguments = [&["-N2", "-t1", "--exclusive", &option, "--success-probability=0.5"], options].concat();
    let job = cluster.submit_for(USER, &arguments, command_line).job();
    assert_eq!(written(&job).reserved_at, Some(at), "{}", job.said);
    (job, at)
}

/// A job on all nodes.
fn blocker(cluster: &Cluster) -> Job<'_> {
    let job = cluster.submit(&["-N8", "-t30", "--exclusive"], "sleep 1200").job();
    assert_eq!(job.wait(&["RUNNING"], SOON), "RUNNING");
    job
}

fn record(job: &Job<'_>) -> Record {
    Record::parse(&job.field("AdminComment")).unwrap()
}

fn written(job: &Job<'_>) -> Written {
    record(job).written.unwrap()
}

fn changed(job: &Job<'_>) -> Changed {
    record(job).changed.unwrap_or_default()
}

/// The time limit in minutes.
fn limit(job: &Job<'_>) -> i64 {
    let shown = job.field("TimeLimit");
    let parts: Vec<i64> = shown.split(':').map(|part| part.parse().unwrap()).collect();
    parts[0] * 60 + parts[1]
}

/// A moment that Slurm shows, in Unix seconds.
fn moment(cluster: &Cluster, job: &Job<'_>, field: &str) -> i64 {
    cluster.output("date", &["-d", &job.field(field), "+%s"]).parse().unwrap()
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_waiting_job_sheds_its_padding_and_once_it_runs_ends_at_its_time_plus_its_users_limit() {
    let cluster = cluster(3);
    let blocker = blocker(&cluster);
    let (job, at) = reserved(&cluster, 300, &[], "date +%s; sleep 40; echo whole");
    let first = limit(&job);
    assert!(first >= 4 && written(&job).own_limit_s == Some(60), "{first} min");
    let mut daemon = cluster.start_queuecastd();
    let eligible = moment(&cluster, &job, "EligibleTime");
    assert!(eligible < at - 90, "eligible {} s before its time", at - eligible);
    let sheds = |at_most| wait_for("padding to be shed", PATIENCE * 2, || Some(limit(&job)).filter(|limit| *limit <= at_most));
    let after = sheds(first - 1);
    assert!(now() + after * 60 >= at + 60, "it could start now and have its whole limit from its time on");

    // A daemon that is started anew knows all it needs from what it reads, and so does one whose
    // slurmctld was.
    daemon.signal("TERM");
    assert!(daemon.end(SOON).success());
    cluster.daemon("restart", "slurmctld");
    let count = changed(&job).count;
    let _daemon = cluster.start_queuecastd();
    sheds(after - 1);
    assert!(changed(&job).count > count);
    assert!(!changed(&job).stopped, "{:?}", record(&job));

    blocker.cancel();
    assert_eq!(job.wait(&["RUNNING"], SOON), "RUNNING");
    let start = moment(&cluster, &job, "StartTime");
    let ends = wait_for("the limit to be that of its start", SOON, || {
        Some(moment(&cluster, &job, "EndTime")).filter(|end| (at.max(start) + 60..at.max(start) + 120).contains(end))
    });
    let last = changed(&job);
    assert_eq!(job.end(PATIENCE), "COMPLETED", "ends {} s after its time: {}", ends - at, job.printed());
    assert!(job.printed().contains("whole") && !last.stopped, "{}", job.printed());
    // What slurmdbd has in the end tells what was promised and what was changed.
    let kept = wait_for("slurmdbd to have the record", SOON, || {
        let shown = cluster.output("sacct", &["-X", "-n", "-P", "-j", &job.id, "-o", "AdminComment"]);
        // Until it has heard of the end, it may have the record as it was at the start.
        Record::parse(&shown).filter(|record| record.changed.as_ref() == Some(&last))
    });
    let written = kept.written.unwrap();
    assert_eq!((written.reserved_at, written.own_limit_s, written.wanted), (Some(at), Some(60), Some(0.5)));
    assert!(kept.forecast.unwrap().reservation_probability.is_some());
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn what_its_user_or_an_operator_has_changed_is_left_alone() {
    let cluster = cluster(10);
    let (theirs, _) = reserved(&cluster, 3_600, &[], "true");
    let (operators, _) = reserved(&cluster, 3_600, &[], "true");
    let (untouched, _) = reserved(&cluster, 3_600, &[], "true");
    let _daemon = cluster.start_queuecastd();
    cluster.snapshot_with("the daemon's own snapshot", |snapshot| snapshot.provenance().controller_read_at.is_some());
    let change = cluster.prepare_for(USER, "scontrol").args(["update", &format!("JobId={}", theirs.id), "TimeLimit=5"]).output().unwrap();
    assert!(change.status.success(), "{change:?}");
    let _ = cluster.output("scontrol", &["update", &format!("JobId={}", operators.id), "StartTime=now+2hours"]);
    let begin = operators.field("EligibleTime");
    for job in [&theirs, &operators] {
        wait_for("the record to say so", SOON, || changed(job).stopped.then_some(()));
        assert_eq!(changed(job).count, 0);
    }
    // Many looks later all is as they want it.
    let generation = cluster.snapshot().unwrap().generation();
    cluster.snapshot_with("five more snapshots", |snapshot| snapshot.generation() >= generation + 5);
    assert_eq!((limit(&theirs), operators.field("EligibleTime")), (5, begin));
    assert_eq!(record(&untouched).changed, None, "nobody has changed it");
    assert_eq!(cluster.log("queuecastd").matches("somebody else has changed the job").count(), 2);
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_promised_job_that_its_user_moves_or_makes_larger_is_held_to_what_slurm_allows_and_to_its_promise() {
    let cluster = cluster(3);
    for arguments in [&["add", "qos", "short", "MaxWall=2"][..], &["modify", "user", USER, "where", "account=main", "set", "qos+=short"]] {
        let _ = cluster.output("sacctmgr", &[&["--immediate", "--quiet"], arguments].concat());
    }
    let blocker = blocker(&cluster);
    let (moved, _) = reserved(&cluster, 300, &["-t4"], "sleep 600");
    let (larger, _) = reserved(&cluster, 3_600, &[], "true");
    let (untouched, _) = reserved(&cluster, 7_200, &["-t4"], "true");
    let padded = limit(&untouched);
    let update = |job: &Job<'_>, field: &str| {
        let change = cluster.prepare_for(USER, "scontrol").args(["update", &format!("JobId={}", job.id), field]).output().unwrap();
        assert!(change.status.success(), "{field}: {change:?}");
    };
    update(&untouched, "QOS=short");
    update(&larger, "NumNodes=8-8");
    let _daemon = cluster.start_queuecastd();

    // The daemon sheds padding, by which the limit is an administrator's to slurmctld. A minute of
    // it is left behind three minutes after the submission.
    wait_for("padding to be shed", 2 * PATIENCE, || changed(&moved).limit_s);
    update(&moved, "QOS=short");
    wait_for("the limit to be cut back to MaxWall", PATIENCE, || (limit(&moved) == 2).then_some(()));
    let cut = record(&moved);
    assert_eq!((cut.end_of_promise(), cut.affiliation.unwrap().qos.as_deref()), (Some(EndOfPromise::BeyondLimits), Some("short")));
    let said = cluster.output("queuecast", &["explain", &moved.id]);
    assert!(said.contains("the promise has ended: the job's time limit is longer than"), "{said}");

    let last = wait_for("the larger job's promise to be renewed or ended", PATIENCE, || {
        Some(changed(&larger)).filter(|changed| changed.nodes.is_some() || changed.ended.is_some())
    });
    assert!(last.nodes == Some(8) || last.ended == Some(EndOfPromise::MadeLarger), "{last:?}");
    // Slurm itself holds a limit that nobody but the filter has written: another one would not be.
    assert_eq!((limit(&untouched), record(&untouched).changed), (padded, None));
    blocker.cancel();
    assert_eq!(moved.wait(&["RUNNING"], SOON), "RUNNING");
    assert_eq!(limit(&moved), 2);
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_missed_job_gets_its_users_limit_or_is_cancelled_and_the_kill_switch_ends_that() {
    let cluster = cluster(1);
    let blocker = blocker(&cluster);
    let (runs, at) = reserved(&cluster, 85, &[], "true");
    let (cancels, _) = reserved(&cluster, 85, &["--if-missed=cancel"], "true");
    assert_eq!(written(&cancels).if_missed, IfMissed::Cancel);
    // What somebody else writes behind the record stays there.
    let shown = cancels.field("AdminComment");
    let comment = shown.trim_end();
    let _ = cluster.output("scontrol", &["update", &format!("JobId={}", cancels.id), &format!("AdminComment={comment} ours")]);

    let off = cluster.state_directory().join("off");
    std::fs::write(&off, "").unwrap();
    let _daemon = cluster.start_queuecastd();
    wait_for("their time to pass", PATIENCE, || (now() > at + 5).then_some(()));
    assert_eq!((limit(&runs), cancels.field("JobState").as_str()), (3, "PENDING"), "nothing is changed while the kill switch is on");
    std::fs::remove_file(&off).unwrap();

    wait_for("the user's own limit", SOON, || (limit(&runs) == 1).then_some(()));
    assert_eq!((runs.field("JobState").as_str(), changed(&runs).missed), ("PENDING", false));
    assert_eq!(cancels.end(SOON), "CANCELLED");
    assert!(changed(&cancels).missed && cancels.field("AdminComment").contains("\"} ours"), "{}", cancels.field("AdminComment"));
    blocker.cancel();
    assert_eq!(runs.end(PATIENCE), "COMPLETED");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_deferred_job_begins_earlier_once_jobs_are_known_to_wait_longer() {
    let cluster = cluster(6);
    let (job, at) = reserved(&cluster, 2 * 3_600, &[], "true");
    let before = (moment(&cluster, &job, "EligibleTime"), limit(&job));
    // In the daemon's past such jobs have waited from 20 to 40 minutes.
    let jobs = (0..400).map(|n| {
        let wait = 1_200 + n * 37 % 100 * 12;
        format!("{} {} {wait} 50 8 -1 -1 8 600 -1 1 1 1 -1 1 -1 -1 -1\n", n + 1, n * 20_000)
    });
    let log: String = std::iter::once("; MaxProcs: 32\n; MaxNodes: 8\n".to_owned()).chain(jobs).collect();
    let path = cluster.path("past.swf");
    std::fs::write(&path, log).unwrap();
    let map = format!("1:{USER}");
    let _ = cluster.import(&[path.to_str().unwrap(), "--map-user", &map, "--partition", "main"]);
    let _daemon = cluster.start_queuecastd();
    // The daemon may move it again between two looks at it.
    let (changed, after) = wait_for("the job to be moved", PATIENCE, || {
        let moved = changed(&job);
        let after = (moment(&cluster, &job, "EligibleTime"), limit(&job));
        (moved.count > 0 && changed(&job) == moved).then_some((moved, after))
    });
    assert!(after.0 <= before.0 - 300 && after.0 < at - 1_200, "from {} s before its time to {} s", at - before.0, at - after.0);
    assert_eq!((changed.begin, changed.limit_s), (Some(after.0), Some(after.1 * 60)));
    assert!(after.1 > before.1 && after.0 + after.1 * 60 >= at + 60 && changed.probability.is_some());
}
