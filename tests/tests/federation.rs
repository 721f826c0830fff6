//! Two clusters in a federation, each with the plugins and a snapshot of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use end_to_end::{Cluster, LARGE_WAIT, Options, Past, now, wait_for};
use job_types::record::Record;
use made_up_site::enforcing;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(120);

fn two_clusters() -> (Cluster, Cluster) {
    let east = Cluster::up(&Options::with_plugins("").option("cluster-name", "east"));
    let accounting = east.directory().to_str().unwrap();
    let west = Cluster::up(&Options::with_plugins("").option("cluster-name", "west").option("accounting-of", accounting));
    let _ = east.output("sacctmgr", &["--immediate", "--quiet", "add", "federation", "both", "clusters=east,west"]);
    for cluster in [&east, &west] {
        wait_for("the clusters to speak to each other", SOON, || {
            cluster.output("scontrol", &["show", "federation"]).contains("PersistConnSend/Recv:Yes/Yes").then_some(())
        });
    }
    (east, west)
}

/// A field of a job as one cluster has it; `None` where it has none of that number.
fn field_on(cluster: &Cluster, job: &str, name: &str) -> Option<String> {
    let shown = cluster.run("scontrol", &["--local", "show", "job", "--oneliner", job]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    let begins = format!("{name}=");
    shown.contains("JobId=").then(|| shown.split_whitespace().find_map(|field| field.strip_prefix(&begins)).unwrap_or_default().to_owned())
}

fn set_nodes(cluster: &Cluster, state: &str) {
    let _ = cluster.output("scontrol", &["update", "NodeName=n[1-8]", &format!("State={state}"), "Reason=test"]);
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_job_of_a_federation_is_decided_about_once() {
    let (east, west) = two_clusters();
    for cluster in [&east, &west] {
        cluster.publish(enforcing(), &LARGE_WAIT, &[]);
        set_nodes(cluster, "DRAIN");
    }

    // The cluster that takes the job molds it; its copy on the other is as the user wrote it.
    let job = east.submit(&["-N8", "-t10", "--exclusive", "--auto-mold"], "true").job();
    assert_eq!(job.said.matches("queuecast:").count(), 1, "{}", job.said);
    assert!(job.said.contains("queuecast: 2 nodes instead of 8"), "{}", job.said);
    let copy = wait_for("the copy of the job", SOON, || field_on(&west, &job.id, "NumNodes"));
    assert_eq!((field_on(&east, &job.id, "NumNodes").as_deref(), copy.as_str()), (Some("2-2"), "8-8"));
    assert_eq!(field_on(&west, &job.id, "TimeLimit").as_deref(), Some("00:10:00"));
    assert_eq!(field_on(&west, &job.id, "AdminComment").as_deref(), Some(""));
    // It runs wherever it starts first.
    set_nodes(&west, "RESUME");
    wait_for("the copy to run as it was written", SOON, || (field_on(&west, &job.id, "JobState")? == "COMPLETED").then_some(()));
    assert_eq!(field_on(&west, &job.id, "NumNodes").as_deref(), Some("8"));

    // A promise is kept where it was given: there is no copy that could start before the time.
    set_nodes(&east, "RESUME");
    for cluster in [&east, &west] {
        cluster.publish(enforcing(), &[Past { nodes: 2, wait_s: 0, more_wait_s: 1, run_s: 100 }], &[]);
    }
    let at = now() + 3_600;
    let reserved = east.submit(&["-N2", "-t1", "--exclusive", &format!("--reserve-at=uts{at}")], "true").job();
    let record = Record::parse(&reserved.field("AdminComment")).unwrap();
    assert_eq!(record.written.unwrap().reserved_at, Some(at), "{}", reserved.said);
    wait_for("the copy to be refused", SOON, || (field_on(&east, &reserved.id, "FedActiveSiblings")? == "east").then_some(()));
    assert_eq!(field_on(&west, &reserved.id, "JobState"), None);
    assert_eq!(field_on(&east, &reserved.id, "JobState").as_deref(), Some("PENDING"));
    reserved.cancel();
}
