//! Firm slots on one of two real clusters, for an ordinary user: `queuecast` here asks that of each
//! by its command.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use std::fs;
use std::process::Output;
use std::time::{Duration, Instant};

use end_to_end::{Cluster, Job, PATIENCE, SCENARIO, TwoClusters, now, wait_for};
use serde_json::Value;

/// A user without any privilege.
const USER: &str = "games";

/// Sites that give firm slots to everybody.
const POLICY: &str =
    "[policy]\nmode = \"enforce\"\n[[firm]]\nahead = \"2d\"\nmost_nodes = 4\nmost_active = { user = 3 }\nnotice = \"1m\"\n";

/// What is asked for: two nodes for ten minutes.
const JOB: [&str; 3] = ["-N2", "-t10", "--exclusive"];

/// The exit status, the report and what stands on standard error.
fn report(two: &TwoClusters, arguments: &[&str]) -> (i32, Value, String) {
    read(&two.command(USER, &[arguments, &JOB, &["--json"]].concat()).output().unwrap())
}

/// A job on seven of the eight nodes of east, for half an hour.
fn busy(two: &TwoClusters) -> Job<'_> {
    let job = two.east.submit(&["-N7", "-t30", "--exclusive"], "sleep 1500").job();
    assert_eq!(job.wait(&["RUNNING"], PATIENCE), "RUNNING");
    // A user has ten probes a minute, so that none is spent on waiting.
    let generation = two.east.snapshot().unwrap().generation();
    two.east.snapshot_with("three more snapshots", |snapshot| snapshot.generation() >= generation + 3);
    job
}

fn read(output: &Output) -> (i32, Value, String) {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap_or(-1), serde_json::from_slice(&output.stdout).unwrap_or_default(), said)
}

/// All that is reserved on a cluster.
fn reserved(cluster: &Cluster) -> String {
    String::from_utf8_lossy(&cluster.run("scontrol", &["-o", "show", "reservations"]).stdout).into_owned()
}

/// The start of a slot, as scontrol takes it.
fn clock(cluster: &Cluster, at: i64) -> String {
    cluster.output("date", &["-d", &format!("@{at}"), "+%Y-%m-%dT%H:%M:%S"]).trim().to_owned()
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn the_best_slot_of_two_clusters_is_reserved_where_it_is_and_one_that_is_away_is_named() {
    let two = TwoClusters::up(POLICY);
    let _busy = busy(&two);
    let begin = Instant::now();
    let (status, probed, said) = report(&two, &["probe", "--clusters=east,north,west", "--between=now,now+3hours", "--prefer=earliest"]);
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    assert_eq!((status, &probed["best"]), (0, &Value::from(0)), "{probed} {said}");
    assert!(said.contains("north is left out: no answer within 5 s"), "{said}");
    assert!(probed["notes"].to_string().contains("north is left out"), "{probed}");
    let slots = probed["slots"].as_array().unwrap();
    assert_eq!(slots[0]["cluster"], "west", "{probed}");
    assert!(slots.iter().any(|slot| slot["cluster"] == "east" && slot["allowed"] == true), "{probed}");
    let shown = two.command(USER, &[&["probe", "--clusters=east,west", "--between=now,now+3hours"][..], &JOB].concat()).output().unwrap();
    assert!(String::from_utf8_lossy(&shown.stdout).contains("cluster"), "{shown:?}");

    let (status, slot, said) = report(&two, &["reserve", "--clusters=east,west", "--between=now,now+3hours", "--prefer=earliest"]);
    assert_eq!((status, &slot["cluster"], &slot["tried"]), (0, &"west".into(), &Value::Array(Vec::new())), "{slot} {said}");
    let name = slot["name"].as_str().unwrap();
    assert!(reserved(&two.west).contains(name) && !reserved(&two.east).contains("queuecast-"), "{}", reserved(&two.west));
    // It goes on as the answer says.
    let cancel = format!("{} reservations cancel {}", slot["command"].as_str().unwrap(), slot["id"]);
    let cancelled = two.east.prepare_for(USER, "sh").args(["-c", &cancel]).output().unwrap();
    assert!(cancelled.status.success(), "{cancelled:?}");
    assert!(!reserved(&two.west).contains(name));

    let (status, _, said) = report(&two, &["probe", "--clusters=north", "--between=now,now+3hours"]);
    assert!(status == 3 && said.contains("none of the clusters answers"), "{status} {said}");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_slot_that_is_lost_is_dropped_and_after_a_broken_connection_nothing_is_reserved_elsewhere() {
    let two = TwoClusters::up(POLICY);
    let _busy = busy(&two);
    // Whoever operates west takes all of its nodes while a slot there is asked for.
    let race = r#"if [ "$cluster $verb" = "west reserve" ]; then
        touch $signs/asking
        while [ ! -e $signs/taken ]; do sleep 0.1; done
    fi"#;
    two.hook("race", race);
    let arguments = ["reserve", "--clusters=west,east", "--between=now,now+3hours", "--prefer=earliest", "--json"];
    let mut command = two.command(USER, &[&arguments[..], &JOB].concat());
    command.env(SCENARIO, "race");
    let asking = std::thread::spawn(move || command.output().unwrap());
    wait_for("the slot to be asked for", PATIENCE, || two.sign("asking").exists().then_some(()));
    // The next slot that is looked at begins some nine minutes later.
    let start = format!("starttime={}", clock(&two.west, now() + 5));
    let made =
        two.west.run("scontrol", &["create", "reservation", "reservationname=taken", &start, "duration=5", "nodes=ALL", "users=root"]);
    assert!(made.status.success(), "{made:?}");
    fs::write(two.sign("taken"), "").unwrap();
    let (status, slot, said) = read(&asking.join().unwrap());
    assert_eq!((status, &slot["cluster"]), (0, &"west".into()), "{slot} {said}");
    let tried = slot["tried"].as_array().unwrap();
    assert!(!tried.is_empty() && tried.iter().all(|lost| lost["cluster"] == "west"), "{slot}");
    assert!(slot["start"].as_i64() > tried[0]["end"].as_i64().map(|end| end - 300), "{slot}");
    let made = |cluster: &Cluster| reserved(cluster).matches("ReservationName=queuecast-").count();
    assert_eq!((made(&two.west), made(&two.east)), (1, 0), "{}", reserved(&two.west));

    // The connection breaks once west has reserved.
    let _ = two.west.output("scontrol", &["delete", "reservationname=taken"]);
    two.hook("break", r#"if [ "$cluster $verb" = "west reserve" ]; then answer "$@" >/dev/null; exit 255; fi"#);
    // A user has ten probes and reservations a minute.
    std::thread::sleep(Duration::from_secs(61));
    let (status, slot, said) = read(&two.command(USER, &[&arguments[..], &JOB].concat()).env(SCENARIO, "break").output().unwrap());
    assert_eq!(slot["cluster"], "west", "{slot} {said}");
    assert_eq!((status, &slot["id"], &slot["state"]), (3, &Value::Null, &Value::Null), "{slot} {said}");
    assert!(slot["not_known"].is_string(), "{slot}");
    assert_eq!((made(&two.west), made(&two.east)), (2, 0), "{}", reserved(&two.west));
}
