//! Windows for nodes on a real cluster: what `queuecast probe` finds is what slurmctld reserves.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use end_to_end::{Cluster, Options, PATIENCE, QUICK, now, wait_for};
use serde_json::Value;

/// A user without any privilege.
const USER: &str = "games";

/// Runs `queuecast` as [`USER`], who can't read the directory of the build.
fn as_user(cluster: &Cluster, arguments: &[&str]) -> Output {
    let program = cluster.path("queuecast-for-users");
    if !program.exists() {
        fs::copy(end_to_end::built().join("queuecast"), &program).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = cluster.prepare("setpriv");
    command.args(["--reuid", USER, "--regid", USER, "--clear-groups"]).arg(&program).args(arguments);
    command.output().unwrap()
}

/// What is found for nodes for half an hour, once the plan has so many jobs that wait.
fn probed(cluster: &Cluster, nodes: u32, between: &str) -> Value {
    let nodes = format!("-N{nodes}");
    wait_for("an answer to a probe", PATIENCE, || {
        let output = as_user(cluster, &["probe", &nodes, "-t30", "--exclusive", "--between", between, "--json"]);
        serde_json::from_slice(&output.stdout).ok()
    })
}

/// Reserves nodes as an administrator does, for half an hour and the two minutes beyond.
fn reserved(cluster: &Cluster, start: i64, nodes: u32) -> Output {
    let (start, end, nodes) =
        (format!("starttime={}", clock(cluster, start)), format!("endtime={}", clock(cluster, start + 1_920)), format!("nodecnt={nodes}"));
    cluster.run("scontrol", &["create", "reservation", "reservationname=tried", &start, &end, &nodes, "users=root"])
}

fn clock(cluster: &Cluster, at: i64) -> String {
    cluster.output("date", &["-d", &format!("@{at}"), "+%Y-%m-%dT%H:%M:%S"]).trim().to_owned()
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn an_ordinary_user_finds_a_slot_that_delays_nobody_and_slurmctld_reserves_it() {
    let policy = format!("{QUICK}[[firm]]\nahead = \"2d\"\nmost_nodes = 4\n");
    let cluster = Cluster::up(&Options::with_plugins(&policy));
    // Six of eight nodes for half an hour; behind them two jobs that need four each, and one more.
    let _running = cluster.submit(&["-N6", "-t30", "--exclusive"], "sleep 1500").job();
    let _waiting = [(); 3].map(|()| cluster.submit(&["-N4", "-t40", "--exclusive"], "sleep 600").job());
    let _daemon = cluster.start_queuecastd();
    cluster.snapshot_with("one with the waiting jobs", |snapshot| snapshot.plan().is_some_and(|plan| plan.pending_jobs == 3));
    let answer = probed(&cluster, 3, "now,now+5hours");
    let slots = answer["slots"].as_array().unwrap();
    assert!(slots.len() >= 20, "{answer}");
    let best = &slots[answer["best"].as_u64().unwrap() as usize];
    assert_eq!((best["delayed_jobs"].as_u64(), best["allowed"].as_bool()), (Some(0), Some(true)), "{best}");
    // Six nodes are busy until then by their limit, and four by each pair of the jobs that wait.
    let start = best["start"].as_i64().unwrap();
    assert!((now() + 4_000..now() + 4_500).contains(&start), "{best}");
    // While the first job may run there are two nodes, and slurmctld reserves no three either.
    let first = &slots[0];
    assert!(first["why_not"].as_str().unwrap().contains("2 nodes are free"), "{first}");
    assert!(!reserved(&cluster, now() + 60, 3).status.success());
    // What is said to be had is reserved, and not found a second time.
    let made = reserved(&cluster, start, 3);
    assert!(made.status.success(), "{made:?}");
    wait_for("the reservation in the plan", PATIENCE, || {
        let again = probed(&cluster, 6, &format!("uts{start},uts{}", start + 1_900));
        again["slots"].as_array()?.iter().all(|slot| slot["availability"].as_f64() == Some(0.0)).then_some(())
    });
    // More than the site gives is not allowed, and is said to be.
    let too_many = probed(&cluster, 5, "now,now+5hours");
    let best = &too_many["slots"][too_many["best"].as_u64().unwrap() as usize];
    assert!(best["why_not"].as_str().unwrap().contains("5 nodes are too many"), "{best}");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn what_is_asked_wrongly_is_refused_with_what_is_possible() {
    let cluster = Cluster::up(&Options::with_plugins(QUICK));
    let daemon = cluster.start_queuecastd();
    probed(&cluster, 1, "now,now+1hour");
    let refused = |arguments: &[&str]| {
        let output = as_user(&cluster, &[&["probe"], arguments].concat());
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for (arguments, said) in [
        (&["-N1", "-t30", "--between", "now,now+20minutes"][..], "--between: what is left of the window is"),
        (&["-N1", "-t30", "--between", "now+1hour"], "--between"),
        (&["-N1", "-t30", "--between", "now-3hours,now-2hours"], "already ended"),
        (&["-N9", "-t30", "--between", "now,now+2hours"], "--nodes: at most 8"),
        (&["-N1", "-t30", "--between", "now,now+2hours", "-A", "nobody"], "--account: one of your accounts in partition main: main"),
        (&["-N1", "-t30", "--between", "now,now+2hours", "--array=1-3"], "--array"),
        (&["-N1", "-t30", "--between", "now,now+2hours", "--prefer", "soon"], "--prefer"),
    ] {
        let (status, error) = refused(arguments);
        assert!(status == Some(2) && error.contains(said), "{arguments:?}: {status:?} {error}");
    }
    // Without [[firm]] nobody is allowed one, and what it would do is told all the same.
    let output = as_user(&cluster, &["probe", "-N1", "-t30", "--between", "now,now+2hours"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("gives no firm slots") && text.contains("nobody is delayed"), "{text}");
    drop(daemon);
    let (status, error) = refused(&["-N1", "-t30", "--between", "now,now+2hours"]);
    assert!(status == Some(3) && error.contains("queuecastd does not answer"), "{status:?} {error}");
}
