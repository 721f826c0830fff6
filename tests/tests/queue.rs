//! The plan of the queue on a real cluster: what `queuecast queue` expects, and when jobs start.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use end_to_end::{Cluster, Job, PATIENCE, QUICK, now, wait_for};
use serde_json::Value;

/// How long the jobs on 8 and on 4 nodes run; their limits are five minutes.
const EIGHT_NODES_S: i64 = 45;
const FOUR_NODES_S: i64 = 30;
/// By how many seconds starts may differ from what was expected. slurmctld starts jobs some seconds
/// after there is room, and later on a busy machine.
const TOLERANCE_S: i64 = 18;

/// squeue's own columns, but the last, which has words of ours.
const SQUEUES_LINE: &str = "%.18i %.9P %.12j %.8u %.2t %.10M %.6D|%C %T";

fn submit<'a>(cluster: &'a Cluster, nodes: u32, seconds: i64, more: &[&str]) -> Job<'a> {
    let nodes = format!("-N{nodes}");
    cluster.submit(&[&[&nodes, "-t5", "--exclusive"], more].concat(), &format!("sleep {seconds}")).job()
}

/// What `queuecast queue` says of a job once the plan has it.
fn planned(cluster: &Cluster, job: &Job<'_>) -> Value {
    wait_for(&format!("job {} in the plan", job.id), PATIENCE, || {
        let output = cluster.run("queuecast", &["queue", "--format", "json"]);
        let report: Value = serde_json::from_slice(&output.stdout).ok()?;
        report["jobs"].as_array()?.iter().find(|planned| planned["job_id"].as_u64() == job.id.parse().ok()).cloned()
    })
}

fn moment(job: &Value, key: &str) -> i64 {
    job[key].as_i64().unwrap_or_else(|| panic!("no {key} in {job}"))
}

/// A moment as scontrol shows it, in Unix seconds.
fn unix(cluster: &Cluster, shown: &str) -> Option<i64> {
    let output = cluster.run("date", &["-d", shown, "+%s"]);
    String::from_utf8_lossy(&output.stdout).trim().parse().ok()
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn jobs_start_when_the_plan_expects_them_to() {
    let cluster = Cluster::up_for_queuecastd(QUICK);
    // The past from which run times are forecast.
    for (nodes, seconds) in [(8, EIGHT_NODES_S), (4, FOUR_NODES_S)] {
        assert_eq!(submit(&cluster, nodes, seconds, &[]).end(PATIENCE), "COMPLETED");
    }
    let _daemon = cluster.start_queuecastd();
    cluster.wait_for_snapshot();

    let first = submit(&cluster, 8, EIGHT_NODES_S, &[]);
    let _ = first.wait(&["RUNNING"], PATIENCE);
    let began = unix(&cluster, &first.field("StartTime")).unwrap();
    let second = submit(&cluster, 8, EIGHT_NODES_S, &[]);
    let third = submit(&cluster, 4, FOUR_NODES_S, &[]);
    let fourth = submit(&cluster, 4, FOUR_NODES_S, &[]);
    let fifth = submit(&cluster, 8, EIGHT_NODES_S, &[]);
    let held = submit(&cluster, 1, 1, &["--hold", "--job-name=two words"]);
    let dependent = submit(&cluster, 1, 1, &["--dependency", &format!("afterok:{}", held.id)]);
    let later = submit(&cluster, 1, 1, &["--begin=now+1hour"]);
    let later_begins = now() + 3_600;

    // In turn: 8 nodes, twice 4 beside each other, 8 nodes.
    let expected =
        [(&second, EIGHT_NODES_S), (&third, 2 * EIGHT_NODES_S), (&fourth, 2 * EIGHT_NODES_S), (&fifth, 2 * EIGHT_NODES_S + FOUR_NODES_S)];
    let plans: Vec<Value> = expected.iter().map(|(job, _)| planned(&cluster, job)).collect();
    for ((_, after), plan) in expected.iter().zip(&plans) {
        let start = moment(plan, "expected_start") - began;
        assert!((start - after).abs() <= TOLERANCE_S, "expected {start} s after the first job, not {after}: {plan}");
        assert!(moment(plan, "earliest_start") <= moment(plan, "expected_start"));
        assert!(moment(plan, "expected_start") <= moment(plan, "latest_start"));
    }
    // By time limits the second job starts when the limit of the first ends, which is what
    // slurmctld's backfill scheduler says.
    let latest = moment(&plans[0], "latest_start") - began;
    assert!((latest - 300).abs() <= TOLERANCE_S, "{latest}");
    let by_limits = wait_for("slurmctld's expected start", PATIENCE, || {
        // It says nothing until the backfill scheduler has run; once the job has started, there is
        // nothing more to compare. The state is read last: the start was expected while it waited.
        let expected = unix(&cluster, &second.field("StartTime"));
        let has_started = second.field("JobState") != "PENDING";
        has_started.then_some(None).or_else(|| expected.map(Some))
    });
    if let Some(by_limits) = by_limits {
        // slurmctld's backfill scheduler counts in steps of a minute.
        assert!((by_limits - began - latest).abs() <= 60 + TOLERANCE_S, "slurmctld: {by_limits}, plan: {latest} s after {began}");
    }

    for (job, why) in [(&held, "held"), (&dependent, "dependency")] {
        wait_for(why, PATIENCE, || (planned(&cluster, job)["obstacle"] == why).then_some(()));
    }
    assert!((moment(&planned(&cluster, &later), "expected_start") - later_begins).abs() <= 60);
    let text = cluster.output("queuecast", &["queue", "--user", "root", "--partition", "main"]);
    assert!(text.contains("jobs wait on cluster queuecast") && text.contains("held"), "{text}");
    has_the_words_of_squeue(&cluster, &held);
    let predicted = cluster.output("queuecast", &["predict", "-N8", "-t5", "--exclusive", "--format", "json"]);
    let predicted: Value = serde_json::from_str(&predicted).unwrap();
    assert!(moment(&predicted["plan"], "expected_start") >= moment(&plans[3], "expected_start"), "behind the last: {predicted}");

    // Now let it happen.
    for ((job, _), plan) in expected.iter().zip(&plans) {
        let _ = job.wait(&["RUNNING", "COMPLETED"], PATIENCE);
        let started = unix(&cluster, &job.field("StartTime")).unwrap();
        let expected = moment(plan, "expected_start");
        assert!((started - expected).abs() <= TOLERANCE_S, "job {}: started {} s after it was expected to", job.id, started - expected);
        assert!(started <= moment(plan, "latest_start"));
    }
}

/// Checks that the same options choose and order the same jobs as with squeue, and that times and
/// durations are written in the same form.
fn has_the_words_of_squeue(cluster: &Cluster, held: &Job<'_>) {
    let words = |program: &str, arguments: &[&str]| {
        let output = cluster.prepare(program).args(arguments).env("SLURM_TIME_FORMAT", "%a %T").output().unwrap();
        String::from_utf8_lossy(&output.stdout).split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let account = held.field("Account");
    for chosen in
        [&["--me", "-S", "-i"][..], &["-A", &account, "-S", "i"], &["-j", &held.id], &["-A", "nobodys"], &["-M", "queuecast", "-S", "i"]]
    {
        wait_for(&format!("the same jobs as squeue's for {chosen:?}"), PATIENCE, || {
            let squeues = words("squeue", &[&["--noheader", "--states=PD", "-o", "%i %l %V"], chosen].concat());
            // With --clusters squeue writes the cluster above the jobs, header or not.
            let squeues = squeues.iter().skip_while(|word| word.parse::<u32>().is_err()).cloned().collect::<Vec<_>>();
            let ours = words("queuecast", &[&["queue", "--noheader", "-O", "jobid,timelimit,submittime"], chosen].concat());
            (ours == squeues && ours.is_empty() == chosen.contains(&"nobodys")).then_some(())
        });
    }
    let table = |program: &str, arguments: &[&str]| {
        let output = cluster.run(program, &[arguments, &["-S", "i", "-o", SQUEUES_LINE]].concat());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().skip_while(|line| !line.contains("JOBID")).map(str::to_owned).collect::<Vec<_>>()
    };
    // A job may start between the two.
    wait_for("the same table as squeue's", PATIENCE, || {
        let squeues = table("squeue", &["--states=PD"]);
        assert!(squeues.len() > 1 && squeues.iter().any(|line| line.contains("two words")), "{squeues:?}");
        (table("queuecast", &["queue"]) == squeues).then_some(())
    });
    assert_eq!(cluster.run("queuecast", &["queue", "-M", "west", "-A", "root"]).status.code(), Some(2));
    let report: Value = serde_json::from_slice(&cluster.run("queuecast", &["queue", "--json", "-A", &account]).stdout).unwrap();
    assert_eq!((&report["jobs"][0]["account"], &report["jobs"][0]["limit_text"]), (&account.into(), &"5:00".into()), "{report}");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn reservations_partitions_and_nodes_that_are_down_are_planned_around() {
    let cluster = Cluster::up_for_queuecastd(QUICK);
    let begins = now() + 240;
    let reserve = ["create", "reservation", "ReservationName=course", "StartTime=now+4minutes", "Duration=30", "Nodes=ALL", "Users=root"];
    let _ = cluster.output("scontrol", &reserve);
    let _ = cluster.output("scontrol", &["update", "NodeName=n8", "State=DOWN", "Reason=test"]);
    let _daemon = cluster.start_queuecastd();
    cluster.wait_for_snapshot();
    let array = submit(&cluster, 1, 300, &["--array=1-6%1", "-t1"]);
    // The job's limit ends before the reservation begins, so that the node alone keeps it waiting.
    let on_away = submit(&cluster, 1, 1, &["--nodelist=n8", "-t1"]);
    wait_for("nodes_away", PATIENCE, || (planned(&cluster, &on_away)["obstacle"] == "nodes_away").then_some(()));
    // The job's limit of five minutes reaches into the reservation of half an hour.
    let outside = submit(&cluster, 2, 1, &[]);
    let start = moment(&planned(&cluster, &outside), "expected_start");
    assert!((start - begins - 1_800).abs() <= 60 + TOLERANCE_S, "{} s after the reservation begins", start - begins);
    let inside = submit(&cluster, 2, 1, &["--reservation=course"]);
    let start = moment(&planned(&cluster, &inside), "expected_start");
    assert!((start - begins).abs() <= 60 + TOLERANCE_S, "{} s after the reservation begins", start - begins);
    let too_large = submit(&cluster, 8, 1, &[]);
    assert_eq!(planned(&cluster, &too_large)["obstacle"], "too_large");
    wait_for("array_limit", PATIENCE, || (planned(&cluster, &array)["obstacle"] == "array_limit").then_some(()));
    let _ = cluster.output("scontrol", &["update", "PartitionName=main", "State=DOWN"]);
    wait_for("the partition to be down in the plan", PATIENCE, || {
        (planned(&cluster, &outside)["obstacle"] == "partition_down").then_some(())
    });
}
