//! Jobs of an ordinary user begin at the time that was reserved for them, however they were
//! submitted, and what happens meanwhile.
//!
//! The filter knows a past in which small jobs waited for half a minute, and no daemon runs. It
//! looks at begins in steps of half a minute before the reserved time: such a job that is reserved
//! for half a minute to a minute from now is eligible at once, and waits on its nodes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use end_to_end::{Began, Cluster, Job, Options, Past, Shared, TELLS_BEGIN, now, wait_at_most, wait_for};
use job_types::record::Record;
use made_up_site::enforcing;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

const USER: &str = "games";
const SOON: Duration = Duration::from_secs(120);

/// How long small jobs are known to have waited, and for how many seconds from now others are
/// reserved. They are to be submitted before only as many are left, and to have their nodes in
/// time.
const WAIT_S: i64 = 30;
const AHEAD_S: i64 = 55;

/// Jobs on two nodes of their own, and on a CPU of one.
const SHAPE: [&str; 3] = ["-N2", "-t2", "--exclusive"];
const SMALL: [&str; 3] = ["-N1", "-t2", "-n1"];

/// A cluster of so many nodes, on which small jobs are known to have waited so long.
fn cluster_of(nodes: u32, wait_s: i64) -> Cluster {
    let cluster = Cluster::up(&Options::with_plugins("").option("nodes", &nodes.to_string()));
    let user = cluster.output("id", &["-u", USER]).parse().unwrap();
    let small = Past { nodes: 2, wait_s, more_wait_s: 0, run_s: 100 };
    let past = [Past { nodes: 1, ..small }, small, Past { nodes: 4, wait_s: 3_600, more_wait_s: 10, ..small }];
    // Room for all reservations of these tests, which no daemon takes up.
    cluster.publish_of(128, user, enforcing(), &past);
    // A submission takes the snapshot up, and one that comes meanwhile finds none rather than wait.
    let tested = cluster.prepare_for(USER, "sbatch").args(SMALL).args(["--test-only", "--wrap", "true"]).output().unwrap();
    assert!(tested.status.success(), "{}", said(&tested));
    cluster
}

/// The cluster that most tests of this file share.
fn cluster() -> Arc<Cluster> {
    static SHARED: Shared = Shared::new();
    SHARED.get(|| cluster_of(12, WAIT_S))
}

/// A batch job that is reserved for so many seconds from now, and that time.
fn reserved<'a>(cluster: &'a Cluster, ahead: i64, shape: &[&str], options: &[&str]) -> (Job<'a>, i64) {
    let at = now() + ahead;
    let option = format!("--reserve-at=uts{at}");
    let job = cluster.submit_for(USER, &[shape, &[&option], options].concat(), TELLS_BEGIN).job();
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
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_batch_job_begins_within_a_second_of_its_time_or_at_once_where_its_user_wants_that() {
    let cluster = cluster();
    // By the time that one is looked at, the other has to wait still.
    let (runs, at) = reserved(&cluster, AHEAD_S, &SHAPE, &["--early-start=run"]);
    let (waits, waits_until) = reserved(&cluster, AHEAD_S, &SHAPE, &[]);
    // As a profile has them.
    let mut by_twins = cluster.prepare_for(USER, "sbatch");
    by_twins.args(SHAPE).args(["--wait", "--output=twins.out", "--wrap", TELLS_BEGIN]);
    let twins_at = now() + AHEAD_S;
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

/// An srun or salloc of the user's that runs [`TELLS_BEGIN`], as a job that is called like it.
fn at_terminal(cluster: &Cluster, command: &str, shape: &[&str], options: &[&str]) -> Child {
    at_terminal_by(&[], cluster, command, shape, options)
}

/// Starts an srun or salloc like `at_terminal`, with these variables in its environment.
fn at_terminal_by(variables: &[(&str, &Path)], cluster: &Cluster, command: &str, shape: &[&str], options: &[&str]) -> Child {
    let name = command;
    let mut command = cluster.prepare_for(USER, command);
    command.args(shape).args(["--job-name", name]).args(options).args(["sh", "-c", TELLS_BEGIN]);
    command.envs(variables.iter().copied());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn the_shell_of_salloc_and_the_tasks_of_srun_begin_within_a_second_of_their_time() {
    let cluster = cluster();
    let at = now() + AHEAD_S;
    let option = format!("--reserve-at=uts{at}");
    let [salloc, srun] = ["salloc", "srun"].map(|command| at_terminal(&cluster, command, &SHAPE, &[&option]));
    let salloc = once_it_runs(&cluster, "salloc", salloc);
    let srun = once_it_runs(&cluster, "srun", srun);
    assert!(now() < at, "the nodes were there late");
    for (command, tasks) in [(salloc, 1), (srun, 2)] {
        let began = began_at_terminal(command);
        assert_eq!(began.len(), tasks, "{began:?}");
        for began in began {
            assert!(began.is_at(at), "reserved for {at}: {began}");
        }
    }
}

/// The option in a refusal that begins so, as a user copies it.
fn proposed(refusal: &str, option: &str) -> String {
    let at = refusal.find(&format!("{option}=")).unwrap_or_else(|| panic!("no {option} in {refusal}"));
    refusal[at..].chars().take_while(|character| !character.is_whitespace() && !",;()".contains(*character)).collect()
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn what_a_refusal_proposes_is_given_to_whoever_types_it() {
    let cluster = cluster();
    // Of jobs on four nodes it is known that they wait for an hour or more.
    let long = ["-N4", "-t2", "--exclusive"];
    let soon = "--reserve-at=now+20minutes";
    let refusal = cluster.submit_for(USER, &[&long[..], &[soon]].concat(), "true").refusal();
    assert!(refusal.contains("queuecast: no reservation: "), "{refusal}");
    // salloc and srun are refused with the same reason, and run nothing.
    for command in ["salloc", "srun"] {
        let refused = at_terminal(&cluster, command, &long, &[soon]).wait_with_output().unwrap();
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

/// This srun or salloc, once the job that is called like it runs.
///
/// # Panics
/// Where it ends before or does not come to run, with what it said and what the queue looks like.
fn once_it_runs(cluster: &Cluster, name: &str, mut command: Child) -> Child {
    let runs = wait_at_most(SOON, || {
        let ended = command.try_wait().unwrap().is_some();
        let states = cluster.output("squeue", &["--noheader", "--states=RUNNING", "--format=%T", "--name", name]);
        (ended || states == "RUNNING").then_some(!ended)
    });
    if runs != Some(true) {
        let queue = cluster.output("squeue", &["--states=all", "--format=%i %j %T %r %S %e %N"]);
        let nodes = cluster.output("sinfo", &["--Node", "--format=%N %T %E"]);
        let _ = command.kill();
        let output = command.wait_with_output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        panic!("{name} did not come to run: {}\n{}{printed}{queue}\n{nodes}", output.status, said(&output));
    }
    command
}

/// When what an srun or salloc ran began, once it has ended.
fn began_at_terminal(command: Child) -> Vec<Began> {
    let output = command.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("queuecast: nodes are here; waiting until"), "{}", said(&output));
    Began::all_of(&String::from_utf8_lossy(&output.stdout))
}

/// Waits until a batch job waits on its nodes.
fn wait_for_nodes(job: &Job<'_>) {
    wait_for("the announcement", SOON, || job.printed().contains("waiting until").then_some(()));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_wait_on_the_nodes_outlasts_restarts_and_suspension_and_ends_with_scancel() {
    // Of the steps 85, 55 and 25 s before the reserved time the first leaves time for such a wait.
    let cluster = cluster_of(2, 60);
    let at = now() + 85;
    let option = format!("--reserve-at=uts{at}");
    let batch = || cluster.submit_for(USER, &[&SMALL[..], &[&option]].concat(), TELLS_BEGIN).job();
    let [steady, suspended, late, cancelled] = [batch(), batch(), batch(), batch()];
    let [salloc, srun] = ["salloc", "srun"].map(|command| at_terminal(&cluster, command, &SMALL, &[&option]));
    for job in [&steady, &suspended, &late, &cancelled] {
        wait_for_nodes(job);
    }
    let salloc = once_it_runs(&cluster, "salloc", salloc);
    let srun = once_it_runs(&cluster, "srun", srun);

    for job in [&suspended, &late] {
        let _ = cluster.output("scontrol", &["suspend", &job.id]);
    }
    for daemon in ["slurmctld", "slurmd"] {
        cluster.daemon("restart", daemon);
    }
    let _ = cluster.output("scontrol", &["resume", &suspended.id]);
    let scancel = cluster.prepare_for(USER, "scancel").arg(&cancelled.id).output().unwrap();
    assert!(scancel.status.success(), "{}", said(&scancel));
    assert_eq!(cancelled.end(SOON), "CANCELLED");
    assert!(now() < at, "all of this took too long to be seen");

    for job in [&steady, &suspended] {
        let on_time = began(job);
        assert!(on_time.is_at(at), "reserved for {at}: {on_time}");
    }
    for command in [salloc, srun] {
        let on_time = began_at_terminal(command);
        assert!(matches!(&on_time[..], [began] if began.is_at(at)), "reserved for {at}: {on_time:?}");
    }
    for job in [&late, &cancelled] {
        assert!(Began::all_of(&job.printed()).is_empty(), "{}", job.printed());
    }
    // One whose time has passed meanwhile begins when it is resumed.
    wait_for("its time to pass", SOON, || (now() > at + 1).then_some(()));
    let resumed = now();
    let _ = cluster.output("scontrol", &["resume", &late.id]);
    let begun = began(&late);
    assert!(!begun.is_before(resumed), "reserved for {at}, resumed at {resumed}: {begun}");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_clock_that_is_set_during_the_wait_ends_it_at_its_time_by_that_clock() {
    let cluster = cluster_of(1, WAIT_S);
    let clock = cluster.shifted_clock();
    // The wait of a batch job goes by the clock of its node, that of salloc by its own machine's.
    let _slurmd = cluster.restart_node_with("n1", &clock.variables());
    // Set ahead, and set back: what the clock gains or loses, the wait loses or gains.
    for shift_s in [14, -8] {
        let (batch, at) = reserved(&cluster, AHEAD_S, &SMALL, &[]);
        let option = format!("--reserve-at=uts{at}");
        let salloc = at_terminal_by(&clock.variables(), &cluster, "salloc", &SMALL, &[&option]);
        wait_for_nodes(&batch);
        let salloc = once_it_runs(&cluster, "salloc", salloc);
        clock.set_ahead(shift_s);
        assert!(now() < at - shift_s.max(0), "it came too late to be seen");
        // What the job itself runs has the machine's clock on the node; in salloc it has salloc's.
        let on_time = began(&batch);
        assert!(on_time.is_at(at - shift_s), "reserved for {at}, the clock was set by {shift_s} s: {on_time}");
        let on_time = began_at_terminal(salloc);
        assert!(matches!(&on_time[..], [began] if began.is_at(at)), "reserved for {at}, the clock was set by {shift_s} s: {on_time:?}");
        clock.set_ahead(0);
    }
}
