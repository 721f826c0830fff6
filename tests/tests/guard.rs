//! The guard on a cluster: molding that is enforced is taken back to `observe` by replays of a past
//! in which it does not pay, and comes back once it does.

#![allow(clippy::unwrap_used)] // helpers of tests

use end_to_end::{Cluster, Options, PATIENCE, QUICK, wait_for};
use serde_json::Value;
use std::time::Duration;

/// All jobs are molded, and the past is replayed as often as it can be.
const CONFIGURATION: &str = "\
[policy]
mode = \"enforce\"
mold = \"always\"
[guard]
interval = \"10s\"
";

/// Seeds of the model whose weeks have 3,000 jobs on 32 processors: in the one molding changes the
/// mean response by half a per cent, in the other it shortens it by a quarter and more.
const DOES_NOT_PAY: &str = "5";
const PAYS: &str = "20";

/// Longer than two replays and the time between them.
const TWO_REPLAYS: Duration = Duration::from_secs(900);

/// A cluster with the plugins, and two that hold imported pasts of 32 processors.
fn cluster(configuration: &str) -> Cluster {
    let cluster = Cluster::up(&Options::with_plugins(&format!("{QUICK}{configuration}")));
    for (name, seed) in [("dull", DOES_NOT_PAY), ("rich", PAYS)] {
        let _ = cluster.output("sacctmgr", &["--immediate", "add", "cluster", name]);
        let machine = ["--embedded", "--processors", "32", "--cpus-per-node", "4"];
        let jobs = ["--model-users", "12", "--model-jobs", "3000", "--seed", seed];
        let _ = cluster.output("queuecast", &[&["import-swf", "--into", "slurmdbd", "--cluster", name][..], &machine, &jobs].concat());
    }
    cluster.run_jobs(1);
    cluster
}

/// The configuration with the jobs of another cluster as the past.
fn with_past(configuration: &str, name: &str) -> String {
    format!("{QUICK}{configuration}[history]\nearlier_clusters = [\"{name}\"]\n")
}

/// What the report says of molding in the one partition.
fn molding(cluster: &Cluster) -> Option<Value> {
    let output = cluster.run("queuecast", &["report", "guard", "--format", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).ok()?;
    report["policies"].as_array()?.iter().find(|found| found["policy"] == "molding").cloned()
}

/// The same once it stands badly, or well, by a replay at least.
fn stands(cluster: &Cluster, badly: bool) -> Option<Value> {
    let is_judged = |found: &Value| found["replays"].as_array().is_some_and(|replays| !replays.is_empty());
    molding(cluster).filter(|found| found["is_bad"] == badly && is_judged(found))
}

/// The record of a job that asks to be molded, as it was submitted.
fn record_of_a_job(cluster: &Cluster) -> String {
    let job = cluster.submit(&["-N4", "-t5", "--auto-mold"], "true").job();
    let record = job.field("AdminComment");
    job.cancel();
    record
}

const HELD_BACK: &str = "held back here by the guard";

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn molding_that_does_not_pay_is_taken_back_and_comes_back_when_the_past_has_changed() {
    let cluster = cluster(CONFIGURATION);
    cluster.configure(&with_past(CONFIGURATION, "dull"));
    let mut daemon = cluster.start_queuecastd();
    cluster.wait_for_snapshot();
    assert!(!record_of_a_job(&cluster).contains(HELD_BACK), "nothing speaks against it yet");

    let found = wait_for("molding to be held back", TWO_REPLAYS, || stands(&cluster, true));
    let replay = found["replays"].as_array().unwrap().last().unwrap();
    assert!(found["held_back"] == true && replay["draws"] == 3 && replay["adoption"] == 1.0, "{found}");
    assert!(cluster.log("queuecastd").contains("the guard takes a policy back to observe"));
    wait_for("submissions to be left as they are", PATIENCE, || record_of_a_job(&cluster).contains(HELD_BACK).then_some(()));
    let status = cluster.output("queuecast", &["status"]);
    assert!(status.lines().any(|line| line.starts_with("guard") && line.contains("molding")), "{status}");

    // A restart forgets nothing. From then on the past is another one.
    daemon.signal("TERM");
    assert!(daemon.end(PATIENCE).success());
    cluster.configure(&with_past(CONFIGURATION, "rich"));
    let mut daemon = cluster.start_queuecastd();
    assert!(stands(&cluster, true).is_some() && record_of_a_job(&cluster).contains(HELD_BACK));
    wait_for("molding to come back", TWO_REPLAYS, || stands(&cluster, false));
    wait_for("submissions to be decided about", PATIENCE, || (!record_of_a_job(&cluster).contains(HELD_BACK)).then_some(()));
    assert!(cluster.log("queuecastd").contains("the guard lets a policy act again"));
    daemon.signal("TERM");
    assert!(daemon.end(PATIENCE).success());
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_guard_that_only_warns_holds_nothing_back() {
    let configuration = format!("{CONFIGURATION}act = \"warn\"\n");
    let cluster = cluster(&configuration);
    cluster.configure(&with_past(&configuration, "dull"));
    let _daemon = cluster.start_queuecastd();
    let found = wait_for("it to stand badly", TWO_REPLAYS, || stands(&cluster, true));
    assert_eq!(found["held_back"], false, "{found}");
    assert!(cluster.log("queuecastd").contains("the guard warns of a policy"));
    assert!(!record_of_a_job(&cluster).contains(HELD_BACK));
}
