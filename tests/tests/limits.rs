//! Jobs under limits of Slurm's: what queuecast makes of them is taken by a real slurmctld, and
//! starts.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use end_to_end::{Cluster, Job, Options, PATIENCE, Past, now, wait_for};
use job_types::policy::{Policy, When};
use job_types::time::UnixTime;
use made_up_site::enforcing;
use predictor_core::decisions::site::Site;
use std::time::Duration;

/// Slurm's backfilling, and builds beside it.
const SOON: Duration = Duration::from_secs(90);

/// Publishes every second, and enforces.
const CONFIGURATION: &str =
    "[snapshot]\ninterval = \"1s\"\n[metrics]\nlisten = \"off\"\n[log]\nlevel = \"debug\"\n[policy]\nmode = \"enforce\"\n";

/// A cluster with limits of each kind, two of whose eight nodes have a feature and GPUs.
fn limited_cluster() -> Cluster {
    let options = Options::with_plugins(CONFIGURATION)
        .option("conf-line", "AccountingStorageEnforce=associations,limits,qos")
        .option("gpu-nodes", "2")
        .option("partition", "main Default=YES MaxTime=7-00:00:00 DefaultTime=01:00:00")
        .option("partition", "narrow MaxTime=7-00:00:00 MaxNodes=2")
        .option("partition", "wide MaxTime=7-00:00:00 MinNodes=4");
    let cluster = Cluster::up(&options);
    let _ = cluster.output("scontrol", &["update", "NodeName=n[1-2]", "AvailableFeatures=fast", "ActiveFeatures=fast"]);
    for arguments in [
        &["add", "qos", "short", "MaxWall=60"][..],
        &["modify", "user", "root", "where", "account=main", "set", "qos+=short"],
        &["add", "account", "brief", "description=brief", "organization=brief"],
        &["add", "user", "root", "account=brief", "MaxWall=60"],
    ] {
        let arguments = [&["--immediate", "--quiet"], arguments].concat();
        let _ = cluster.output("sacctmgr", &arguments);
    }
    cluster
}

/// Waits for a snapshot from now on whose plan knows of so many running jobs and of none that could
/// start.
fn wait_for_plan(cluster: &Cluster, running: u32) {
    let from = UnixTime(now());
    wait_for("a plan of the present queue", PATIENCE, || {
        let snapshot = cluster.snapshot()?;
        snapshot.plan().filter(|plan| plan.at > from && plan.is_complete)?;
        let demand = snapshot.default_partition()?.demand;
        ((demand.running_jobs, demand.pending_jobs) == (running, 0)).then_some(())
    });
}

fn submit<'a>(cluster: &'a Cluster, arguments: &[&str]) -> Job<'a> {
    cluster.submit(&[&["--exclusive", "--chdir=/", "--output=/dev/null", "--auto-mold"], arguments].concat(), "true").job()
}

/// Jobs that would be made smaller with a longer limit, and may not.
fn jobs_that_would_be_made_smaller(cluster: &Cluster) {
    let blocker = cluster.submit(&["-N6", "-t600", "--exclusive"], "exec sleep 1000").job();
    let _ = blocker.wait(&["RUNNING"], SOON);
    let eight = |arguments: &[&str]| {
        wait_for_plan(cluster, 1);
        submit(cluster, &[&["-N8", "-t60", "--mold-sizes=2"], arguments].concat())
    };
    // Without a limit in the way the job is molded, and starts beside the one that runs. Nothing
    // cuts it back to less than its shortest limit, which has grown with its limit.
    let free = eight(&["--time-min=30"]);
    assert!(free.said.contains("2 nodes instead of 8, time limit 4 h"), "{}", free.said);
    assert_eq!(free.end(SOON), "COMPLETED");
    let (limit, shortest) = (free.field("TimeLimit"), free.field("TimeMin"));
    assert_eq!(shortest, "02:00:00");
    assert!(limit >= shortest, "cut back to {limit}");

    // Held, so that each finds the queue as the one before did.
    let by_qos = eight(&["--hold", "--account=main", "--qos=short"]);
    assert!(
        by_qos.said.contains("not molded: other sizes are forbidden by MaxWall or GrpWall of the quality of service"),
        "{}",
        by_qos.said
    );
    let by_association = eight(&["--hold", "--account=brief"]);
    assert!(by_association.said.contains("forbidden by MaxWall or GrpWall of the association"), "{}", by_association.said);
    let by_least_nodes = eight(&["--hold", "--partition=wide"]);
    assert!(by_least_nodes.said.contains("forbidden by the partition's MinNodes"), "{}", by_least_nodes.said);

    blocker.cancel();
    for (job, what) in [(by_qos, "QOS MaxWall"), (by_association, "association MaxWall"), (by_least_nodes, "MinNodes")] {
        let _ = cluster.output("scontrol", &["release", &job.id]);
        assert_eq!(job.end(SOON), "COMPLETED", "{what}");
        assert_eq!((job.field("NumNodes").as_str(), job.field("TimeLimit").as_str()), ("8", "01:00:00"), "{what}");
    }
}

/// Submits a job of a user that would do better on 4 nodes than on 2, and returns on how many it
/// ran, and what was said.
fn two_or_four(cluster: &Cluster, user: &str, arguments: &[&str]) -> (String, String) {
    wait_for_plan(cluster, 0);
    let user = format!("--uid={user}");
    let job = submit(cluster, &[&["-N2", "-t10", "--mold-sizes=4", &user], arguments].concat());
    assert_eq!(job.end(SOON), "COMPLETED", "{arguments:?}: {}", job.said);
    (job.field("NumNodes"), job.said.clone())
}

/// Jobs that would be made larger, and may not, or could not start. Each is another user's: a
/// user's past of jobs that ran a second says that more nodes gain nothing.
fn jobs_that_would_be_made_larger(cluster: &Cluster) {
    for (user, arguments, reason) in [
        ("games", "--partition=narrow", "forbidden by the partition's MaxNodes"),
        ("man", "--constraint=fast", "it asks for features of nodes"),
        ("mail", "--exclude=n[3-8]", "it excludes nodes"),
        ("news", "--gres=gpu:v100:2", "it asks for generic resources"),
    ] {
        let (nodes, said) = two_or_four(cluster, user, &[arguments]);
        assert_eq!(nodes, "2", "{arguments}: {said}");
        assert!(said.contains(reason), "{arguments}: {said}");
    }
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn jobs_start_under_limits_of_qos_association_and_partition_and_on_few_nodes_of_their_kind() {
    let cluster = limited_cluster();
    let _daemon = cluster.start_queuecastd();
    cluster.wait_for_snapshot();
    // Without anything in the way a job is made larger.
    let (nodes, said) = two_or_four(&cluster, "root", &[]);
    assert_eq!(nodes, "4", "{said}");
    // While only one user has run anything, a job is expected to run to its limit.
    jobs_that_would_be_made_smaller(&cluster);
    jobs_that_would_be_made_larger(&cluster);
}

/// Waits of up to 99 s in even steps.
const SHORT_WAITS: [Past; 1] = [Past { nodes: 2, wait_s: 0, more_wait_s: 1, run_s: 100 }];

fn a_reservation_pads_the_shortest_limit_also_where_no_limit_is_given(cluster: &Cluster) {
    let at = format!("--reserve-at=uts{}", now() + 100);
    let arguments = ["-N2", "--exclusive", "--time-min=20", &at, "--success-probability=0.5", "--early-start=run"];
    let job = cluster.submit(&arguments, "true").job();
    // The partition's default of an hour, padded.
    let minutes = |field: &str| {
        let text = job.field(field);
        let (hours, minutes) = text.split_once(':').and_then(|(hours, rest)| Some((hours, rest.split_once(':')?.0))).expect("a duration");
        hours.parse::<i64>().unwrap() * 60 + minutes.parse::<i64>().unwrap()
    };
    let padding = minutes("TimeLimit") - 60;
    assert!(padding > 0, "{}", job.said);
    assert_eq!(minutes("TimeMin"), 20 + padding, "{}", job.said);
    assert_eq!(job.end(SOON), "COMPLETED");
}

fn what_decides_itself_when_a_job_starts_is_not_promised_a_time(cluster: &Cluster) {
    let first = cluster.submit(&["-N1", "-t1", "--hold"], "true").job();
    let dependency = format!("--dependency=afterany:{}", first.id);
    for (arguments, reason) in [
        (&[dependency.as_str()][..], "--dependency lets other jobs decide when this one starts"),
        (&["--hold"], "a held job does not start by itself"),
        (&["--reservation=maintenance"], "the job runs inside a reservation already"),
        (&["--partition=main,other"], "nothing is known of one of its partitions"),
    ] {
        let arguments = [&["-N2", "-t10", "--exclusive", "--reserve-at=now+2hours"], arguments].concat();
        let refusal = cluster.submit(&arguments, "true").refusal();
        assert!(refusal.contains("queuecast: no reservation: ") && refusal.contains(reason), "{arguments:?}: {refusal}");
    }
    first.cancel();
}

fn a_policy_that_defers_always_leaves_whoever_waits_at_a_terminal(cluster: &Cluster) {
    let always = Policy { defer: When::Always, ..enforcing() };
    // Seven of eight nodes are expected to be free in a minute, for which waiting gains too little:
    // what is looked at is in the record.
    cluster.publish(always, &SHORT_WAITS, &[(7, 60)]);
    let show = "scontrol show job $SLURM_JOB_ID";
    let batch = cluster.submit(&["-N2", "-t10", "--exclusive"], show).job();
    assert!(batch.field("AdminComment").contains("not deferred"), "{}", batch.field("AdminComment"));
    assert_eq!(batch.end(SOON), "COMPLETED");
    for command in ["srun", "salloc"] {
        let shown = cluster.output(command, &["-N1", "-n1", "-t10", "--exclusive", "sh", "-c", show]);
        assert!(shown.contains("AdminComment={\"queuecast\"") && !shown.contains("deferred"), "{command}: {shown}");
    }
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn shortest_limits_are_padded_and_what_has_its_own_time_is_respected() {
    let options = Options::with_plugins("")
        .option("partition", "main Default=YES MaxTime=7-00:00:00 DefaultTime=01:00:00")
        .option("partition", "other MaxTime=7-00:00:00");
    let cluster = Cluster::up(&options);
    cluster.publish(enforcing(), &SHORT_WAITS, &[]);
    a_reservation_pads_the_shortest_limit_also_where_no_limit_is_given(&cluster);
    what_decides_itself_when_a_job_starts_is_not_promised_a_time(&cluster);
    a_policy_that_defers_always_leaves_whoever_waits_at_a_terminal(&cluster);
}
