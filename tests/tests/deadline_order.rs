//! The order by deadline, who ends jobs that are late, and what Slurm's own deadline does.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use end_to_end::{Cluster, Job, Options, PATIENCE, Past, QUICK, now, wait_for};
use job_types::policy::{Admission, Policy};
use job_types::record::{Changed, Record};
use made_up_site::enforcing;
use std::time::Duration;

const USER: &str = "games";
const SOON: Duration = Duration::from_secs(90);

/// A cluster on which priorities are made of factors, of which each job has a thousand points, and
/// where jobs are admitted by a rule.
fn cluster(by: Admission) -> Cluster {
    let configuration = format!("{QUICK}[policy]\nmode = \"enforce\"\nadmission = \"{}\"\n", by.as_str());
    let options = Options::with_plugins(&configuration)
        .option("partition", "main PriorityJobFactor=1 MaxTime=7-00:00:00")
        .option("conf-line", "PriorityType=priority/multifactor")
        .option("conf-line", "PriorityWeightPartition=1000");
    let cluster = Cluster::up(&options);
    // A daemon without any past would leave a snapshot that has one in its place.
    cluster.run_jobs(1);
    let user = cluster.output("id", &["-u", USER]).parse().unwrap();
    let policy = Policy { admission: by, ..enforcing() };
    cluster.publish_for(user, policy, &[Past { nodes: 8, wait_s: 0, more_wait_s: 0, run_s: 2 }], &[]);
    cluster
}

fn deadline(ahead: i64) -> String {
    // In the cluster's own words for a moment, which are local time.
    let output = std::process::Command::new("date").args(["-d", &format!("@{}", now() + ahead), "+%Y-%m-%dT%H:%M:%S"]).output().unwrap();
    format!("--deadline={}", String::from_utf8(output.stdout).unwrap().trim())
}

/// A job of one minute on all nodes, which prints when it runs.
fn submit<'a>(cluster: &'a Cluster, options: &[&str]) -> Job<'a> {
    let arguments = [&["-N8", "-t1", "--exclusive"], options].concat();
    cluster.submit_for(USER, &arguments, "date +%s; sleep 2").job()
}

/// A job on all nodes.
fn blocker(cluster: &Cluster) -> Job<'_> {
    let job = cluster.submit(&["-N8", "-t30", "--exclusive"], "sleep 1200").job();
    assert_eq!(job.wait(&["RUNNING"], SOON), "RUNNING");
    job
}

fn record(job: &Job<'_>) -> Record {
    Record::parse(&job.field("AdminComment")).unwrap_or_else(|| panic!("{}: {}", job.said, job.field("AdminComment")))
}

fn changed(job: &Job<'_>) -> Changed {
    record(job).changed.unwrap_or_default()
}

fn admitted(job: &Job<'_>) {
    assert!(record(job).written.is_some_and(|written| written.admitted_by.is_some()), "{}", job.said);
    assert_eq!(job.field("Deadline"), "N/A", "Slurm's own field is empty");
}

fn priority(job: &Job<'_>) -> i64 {
    job.field("Priority").parse().unwrap()
}

fn began(job: &Job<'_>) -> i64 {
    assert_eq!(job.end(PATIENCE), "COMPLETED");
    job.printed().lines().next().unwrap().parse().unwrap()
}

fn update(cluster: &Cluster, job: &Job<'_>, change: &str) {
    let _ = cluster.output("scontrol", &["update", &format!("JobId={}", job.id), change]);
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn jobs_start_by_deadline_and_one_without_a_deadline_keeps_its_place() {
    let cluster = cluster(Admission::Edf);
    let blocker = blocker(&cluster);
    let latest = submit(&cluster, &[&deadline(3_000), "--nice=0"]);
    let without = submit(&cluster, &["--nice=100"]);
    let middle = submit(&cluster, &[&deadline(2_400), "--nice=200"]);
    let earliest = submit(&cluster, &[&deadline(1_800), "--nice=300"]);
    for job in [&latest, &middle, &earliest] {
        admitted(job);
    }
    let own = [&latest, &without, &middle, &earliest].map(priority);
    assert!(own.is_sorted_by(|a, b| a > b), "as submitted: {own:?}");
    let _daemon = cluster.start_queuecastd();
    let in_order = || {
        wait_for("the order by deadline", PATIENCE, || {
            let [latest, without, middle, earliest] = [&latest, &without, &middle, &earliest].map(priority);
            (earliest > without && without > middle && middle > latest).then_some(())
        });
    };
    in_order();
    assert_eq!(priority(&without), own[1], "nobody without a deadline is changed");
    // The priorities are the ones that there were.
    assert_eq!([&earliest, &middle, &latest].map(priority), [own[0], own[2], own[3]]);
    assert_eq!(changed(&earliest).added, Some(own[0] - own[3]));
    // Once the order is there, nothing is written any more.
    let counts = || [&latest, &middle, &earliest].map(|job| changed(job).count);
    let before = counts();
    let generation = cluster.snapshot().unwrap().generation();
    cluster.snapshot_with("five more snapshots", |snapshot| snapshot.generation() >= generation + 5);
    assert_eq!(counts(), before);

    // What an operator sets stands: a factor, a priority, and a deadline of Slurm's own.
    let theirs = [submit(&cluster, &[&deadline(1_500)]), submit(&cluster, &[&deadline(1_400)]), submit(&cluster, &[&deadline(1_300)])];
    update(&cluster, &theirs[0], "SiteFactor=7");
    update(&cluster, &theirs[1], "Priority=77");
    let _ = cluster.output("scontrol", &["update", &format!("JobId={}", theirs[2].id), &deadline(2_000).replace("--deadline", "Deadline")]);
    wait_for("a record to say that its job is somebody else's", SOON, || changed(&theirs[2]).stopped.then_some(()));
    let generation = cluster.snapshot().unwrap().generation();
    cluster.snapshot_with("five more snapshots", |snapshot| snapshot.generation() >= generation + 5);
    assert_eq!(priority(&theirs[1]), 77);
    let count = changed(&theirs[1]).count;
    assert!(count <= 1, "a priority that stays is not fought: {count}");
    theirs.iter().for_each(Job::cancel);

    // Those had taken places of the others.
    in_order();
    blocker.cancel();
    let [latest, without, middle, earliest] = [&latest, &without, &middle, &earliest].map(began);
    assert!(earliest < without && without < middle && middle < latest, "{earliest} {without} {middle} {latest}");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn an_admitted_job_is_not_ended_for_an_estimate_and_what_is_late_is() {
    let cluster = cluster(Admission::Probability);
    let blocker = blocker(&cluster);
    let begin = now();
    // The limit of the first fits for a minute more, those of the others for a minute and a half,
    // and Slurm starts none before half an hour.
    let slurms = submit(&cluster, &["--queuecast=off", &deadline(120)]);
    let late = submit(&cluster, &["--comment=for the paper", &deadline(150)]);
    let kept = submit(&cluster, &["-t4", &deadline(330)]);
    admitted(&late);
    admitted(&kept);
    let _daemon = cluster.start_queuecastd();
    assert_eq!(slurms.end(PATIENCE), "DEADLINE");
    let after = now() - begin;
    assert!(after < 120, "Slurm ends a job whose limit does not fit any more: after {after} s");
    // By now Slurm would have ended both.
    wait_for("their limits not to fit", PATIENCE, || (now() > begin + 105).then_some(()));
    assert_eq!([&late, &kept].map(|job| job.field("JobState")), ["PENDING", "PENDING"]);
    assert_eq!(late.end(PATIENCE), "DEADLINE");
    assert!(now() >= begin + 150, "{} s", now() - begin);
    wait_for("its comment and its record to say why", SOON, || {
        let shown = cluster.output("scontrol", &["show", "job", "--oneliner", &late.id]);
        let says = shown.contains("Comment=queuecast: ended because it could not be done by its deadline any more | for the paper");
        (says && changed(&late).late.is_some()).then_some(())
    });
    let deadline = record(&kept).written.unwrap().deadline.unwrap();
    blocker.cancel();
    assert!(began(&kept) < deadline && now() <= deadline, "it was done in time");
    let accounted = wait_for("slurmdbd to have both", SOON, || {
        let shown = cluster.output("sacct", &["-X", "-n", "-P", "-j", &format!("{},{}", late.id, kept.id), "-o", "State"]);
        (shown.lines().count() == 2 && !shown.contains("PENDING") && !shown.contains("RUNNING")).then_some(shown)
    });
    assert_eq!(accounted, "DEADLINE\nCOMPLETED");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_job_whose_node_fails_is_told_how_likely_its_deadline_is_now() {
    let cluster = cluster(Admission::Probability);
    let arguments = ["-N8", "-t5", "--exclusive", "--requeue", &deadline(3_600)];
    let job = cluster.submit_for(USER, &arguments, "sleep 250").job();
    admitted(&job);
    assert_eq!(job.wait(&["RUNNING"], SOON), "RUNNING");
    let _daemon = cluster.start_queuecastd();
    cluster.snapshot_with("the daemon's own snapshot", |snapshot| snapshot.provenance().controller_read_at.is_some());
    let _ = cluster.output("scontrol", &["update", "NodeName=n1", "State=DOWN", "Reason=test"]);
    wait_for("the record to say so", PATIENCE, || (changed(&job).told_restarts == Some(1)).then_some(()));
    wait_for("the comment to say so", SOON, || {
        let shown = cluster.output("scontrol", &["show", "job", "--oneliner", &job.id]);
        shown.contains("Comment=queuecast: put back into the queue, which puts its deadline at risk").then_some(())
    });
    let count = changed(&job).count;
    let generation = cluster.snapshot().unwrap().generation();
    cluster.snapshot_with("three more snapshots", |snapshot| snapshot.generation() >= generation + 3);
    assert_eq!(changed(&job).count, count, "it is told once");
}

/// What queuecast's own ways rest on, each seen without its plugins.
#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn slurms_own_deadline_ends_waiting_jobs_by_their_limits_and_running_ones_never() {
    let options = Options::plain()
        .option("partition", "main Nodes=n[1-6] MaxTime=7-00:00:00")
        .option("partition", "over Nodes=n7 OverTimeLimit=5 MaxTime=7-00:00:00");
    let cluster = Cluster::up(&options);
    let blocker = cluster.submit(&["-N6", "-t30", "--exclusive"], "sleep 1200").job();
    assert_eq!(blocker.wait(&["RUNNING"], SOON), "RUNNING");
    let begin = now();
    let wide = ["-N6", "--exclusive"];
    let submit = |options: &[&str], script| cluster.submit(&[&wide[..], options].concat(), script).job();
    let by_limit = submit(&["-t10", &deadline(630)], "true");
    let by_least = submit(&["-t10", "--time-min=1", &deadline(110)], "true");
    let by_sum = submit(&["-t10", &deadline(80 + 600)], "true");
    let given_late = submit(&["-t10"], "true");
    let unlimited = submit(&["-tUNLIMITED"], "true");
    let over = cluster.submit(&["-pover", "-t1", &deadline(65)], "sleep 400").job();
    assert_eq!(over.wait(&["RUNNING"], SOON), "RUNNING");

    // A deadline that can't be met ends a job that waits at once, and none that runs or is
    // unlimited. Slurm takes none that has passed.
    for job in [&given_late, &unlimited, &blocker] {
        update(&cluster, job, &deadline(20).replace("--deadline", "Deadline"));
    }
    assert_eq!(given_late.end(SOON), "DEADLINE");
    assert_eq!(blocker.field("Deadline"), "N/A");

    let ended = |job: &Job<'_>, from: i64, until: i64| {
        assert_eq!(job.end(PATIENCE), "DEADLINE");
        let after = now() - begin;
        assert!((from..until).contains(&after), "{} after {after} s", job.id);
    };
    // Not for the estimated start, which is in half an hour, but once the limit does not fit, which
    // slurmctld looks at every now and then.
    ended(&by_limit, 28, 90);
    ended(&by_least, 48, 110);
    // The deadline plus the limit: ended at the deadline itself.
    ended(&by_sum, 78, 140);
    assert_eq!(over.field("JobState"), "RUNNING", "past its deadline, because its partition lets it run over its limit");
    assert_eq!(unlimited.field("JobState"), "PENDING");
}
