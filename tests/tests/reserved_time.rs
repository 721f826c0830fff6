//! Jobs of an ordinary user begin at the time that was reserved for them, however they were
//! submitted, and what happens meanwhile.
//!
//! The filter knows a past in which jobs on two nodes never waited, and no daemon runs: a job on
//! two nodes that is reserved for less than half a minute from now is eligible at once, and waits
//! on its nodes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use end_to_end::{Began, Cluster, Job, Options, Past, Shared, TELLS_BEGIN, now, wait_for};
use job_types::record::Record;
use made_up_site::enforcing;
use std::process::{Child, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

const USER: &str = "games";
const SOON: Duration = Duration::from_secs(90);

/// The shape that the past is of.
const SHAPE: [&str; 3] = ["-N2", "-t2", "--exclusive"];

/// The cluster that the tests of this file share.
fn cluster() -> Option<Arc<Cluster>> {
    static SHARED: Shared = Shared::new();
    SHARED.get(|| {
        let cluster = Cluster::up(&Options::with_plugins("").option("nodes", "12"));
        let user = cluster.output("id", &["-u", USER]).parse().unwrap();
        let small = Past { nodes: 2, wait_s: 0, more_wait_s: 0, run_s: 100 };
        cluster.publish_for(user, enforcing(), &[small, Past { nodes: 4, wait_s: 3_600, more_wait_s: 10, ..small }], &[]);
        cluster
    })
}

/// A batch job that is reserved for so many seconds from now, and that time.
fn reserved<'a>(cluster: &'a Cluster, ahead: i64, options: &[&str]) -> (Job<'a>, i64) {
    let at = now() + ahead;
    let option = format!("--reserve-at=uts{at}");
    let job = cluster.submit_for(USER, &[&SHAPE[..], &[option.as_str()], options].concat(), TELLS_BEGIN).job();
    let written = Record::parse(&job.field("AdminComment")).and_then(|record| record.written);
    assert_eq!(written.unwrap().reserved_at, Some(at), "{}", job.said);
    (job, at)
}

/// When a batch job's script began, once the job has ended.
fn began(job: &Job<'_>) -> Began {
    assert_eq!(job.end(SOON), "COMPLETED", "{}", job.printed());
    Began::of(&job.printed())
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_batch_job_begins_within_a_second_of_its_time_or_at_once_where_its_user_wants_that() {
    let Some(cluster) = cluster() else { return };
    // By the time that one is looked at, the other has to wait still.
    let (runs, at) = reserved(&cluster, 28, &["--early-start=run"]);
    let (waits, waits_until) = reserved(&cluster, 28, &[]);
    // As a profile has them.
    let mut by_twins = cluster.prepare_for(USER, "sbatch");
    by_twins.args(SHAPE).args(["--wait", "--output=twins.out", "--wrap", TELLS_BEGIN]);
    let twins_at = now() + 28;
    by_twins.envs([("QUEUECAST_RESERVE_AT", format!("uts{twins_at}")), ("QUEUECAST_EARLY_START", "wait".to_owned())]);
    let by_twins = by_twins.output().unwrap();

    let early = began(&runs);
    assert!(early.is_before(at), "reserved for {at}: {early}");
    assert!(!runs.printed().contains("waiting until"), "{}", runs.printed());
    let on_time = began(&waits);
    assert!(on_time.is_at(waits_until), "reserved for {waits_until}: {on_time}");
    assert!(waits.printed().starts_with("queuecast: nodes are here; waiting until"), "{}", waits.printed());
    assert!(by_twins.status.success(), "{}", said(&by_twins));
    let on_time = Began::of(&std::fs::read_to_string(cluster.path("jobs/twins.out")).unwrap());
    assert!(on_time.is_at(twins_at), "reserved for {twins_at}: {on_time}");
}

/// An srun or salloc of the user's that runs [`TELLS_BEGIN`].
fn at_terminal(cluster: &Cluster, command: &str, name: &str, options: &[&str]) -> Child {
    let mut command = cluster.prepare_for(USER, command);
    command.args(SHAPE).args(["--job-name", name]).args(options).args(["sh", "-c", TELLS_BEGIN]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn the_shell_of_salloc_and_the_tasks_of_srun_begin_within_a_second_of_their_time() {
    let Some(cluster) = cluster() else { return };
    let at = now() + 25;
    let option = format!("--reserve-at=uts{at}");
    let [salloc, srun] = ["salloc", "srun"].map(|command| at_terminal(&cluster, command, command, &[&option]));
    for name in ["salloc", "srun"] {
        wait_for("the nodes to be there", SOON, || {
            let states = cluster.output("squeue", &["--noheader", "--states=RUNNING", "--format=%T", "--name", name]);
            (states == "RUNNING").then_some(())
        });
    }
    assert!(now() < at, "the nodes were there late");
    for (command, tasks) in [(salloc, 1), (srun, 2)] {
        let output = command.wait_with_output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}", said(&output));
        let began = Began::all_of(&printed);
        assert_eq!(began.len(), tasks, "{printed}{}", said(&output));
        for began in began {
            assert!(began.is_at(at), "reserved for {at}: {began}");
        }
        assert!(said(&output).contains("queuecast: nodes are here; waiting until"), "{}", said(&output));
    }
}

/// The option in a refusal that begins so, as a user copies it.
fn proposed(refusal: &str, option: &str) -> String {
    let at = refusal.find(&format!("{option}=")).unwrap_or_else(|| panic!("no {option} in {refusal}"));
    refusal[at..].chars().take_while(|character| !character.is_whitespace() && !",;()".contains(*character)).collect()
}

#[test]
fn what_a_refusal_proposes_is_given_to_whoever_types_it() {
    let Some(cluster) = cluster() else { return };
    // Of jobs on four nodes it is known that they wait for an hour or more.
    let long = ["-N4", "-t2", "--exclusive"];
    let soon = "--reserve-at=now+20minutes";
    let refusal = cluster.submit_for(USER, &[&long[..], &[soon]].concat(), "true").refusal();
    assert!(refusal.contains("queuecast: no reservation: "), "{refusal}");
    // salloc and srun are refused with the same reason, and run nothing.
    for command in ["salloc", "srun"] {
        let refused = at_terminal(&cluster, command, "refused", &["-N4", soon]).wait_with_output().unwrap();
        assert!(!refused.status.success() && refused.stdout.is_empty(), "{command}: {}", said(&refused));
        let of = |refusal: &str| refusal.lines().find_map(|line| line.split_once("queuecast: ")).map(|(_, reason)| reason.to_owned());
        assert_eq!(of(&said(&refused)), of(&refusal), "{command}");
    }
    let later = proposed(&refusal, "--reserve-at");
    let job = cluster.submit_for(USER, &[&long[..], &[&later]].concat(), "true").job();
    let written = Record::parse(&job.field("AdminComment")).and_then(|record| record.written).unwrap();
    assert!(written.reserved_at.is_some_and(|at| at > now() + 20 * 60), "{later}: {}", job.said);
    assert_eq!(written.wanted, Some(0.95));
    job.cancel();
    let array = cluster.submit_for(USER, &[&SHAPE[..], &["--array=0-1", "--reserve-at=now+1hour"]].concat(), "true").refusal();
    assert!(array.contains("queuecast: no reservation: ") && array.contains("array"), "{array}");
}
