//! Firm slots on one of two real clusters, for an ordinary user: `queuecast` here asks that of each
//! by its command.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use end_to_end::{Cluster, Daemon, Job, Options, PATIENCE, QUICK, now, wait_for};
use serde_json::Value;

/// A user without any privilege.
const USER: &str = "games";

/// Sites that give firm slots to everybody.
const POLICY: &str =
    "[policy]\nmode = \"enforce\"\n[[firm]]\nahead = \"2d\"\nmost_nodes = 4\nmost_active = { user = 3 }\nnotice = \"1m\"\n";

/// What is asked for: two nodes for ten minutes.
const JOB: [&str; 3] = ["-N2", "-t10", "--exclusive"];

/// Two clusters with their daemons. Seven of the eight nodes of east can be made [`Two::busy`].
struct Two {
    // The one whose slurmdbd both use stops last.
    _daemons: [Daemon; 2],
    west: Cluster,
    east: Cluster,
}

impl Two {
    fn up() -> Two {
        let configuration = format!("{QUICK}{POLICY}");
        let east = Cluster::up(&Options::with_plugins(&configuration).option("cluster-name", "east"));
        let accounting = east.directory().to_str().unwrap();
        let west = Cluster::up(&Options::with_plugins(&configuration).option("cluster-name", "west").option("accounting-of", accounting));
        executable(&east.path("queuecast-for-users"), &fs::read(end_to_end::built().join("queuecast")).unwrap());
        // Commands of other hosts, as ssh runs them: what they are given is read by a shell there.
        let to_west = format!(
            "#!/bin/sh\nexport SLURM_CONF={}\nasked={}\ncase \"$*\" in *\" reserve \"*)\n  if [ -e $asked/race ]; then\n    touch $asked/asking\n    \
             while [ ! -e $asked/taken ]; do sleep 0.1; done\n  fi\n  if [ -e $asked/break ]; then sh -c \"{program} $*\" >/dev/null; exit 255; fi\nesac\n\
             exec sh -c \"exec {program} $*\"\n",
            west.path("etc/slurm.conf").display(),
            east.path("jobs").display(),
            program = east.path("queuecast-for-users").display(),
        );
        executable(&east.path("to-west"), to_west.as_bytes());
        executable(&east.path("to-north"), b"#!/bin/sh\nexec sleep 60\n");
        let of = |name: &str| format!("[clusters.{name}]\ncommand = \"{}\"\n", east.path(&format!("to-{name}")).display());
        east.configure(&format!("{configuration}{}{}", of("west"), of("north")));
        let _daemons = [east.start_queuecastd(), west.start_queuecastd()];
        let two = Two { _daemons, west, east };
        for cluster in [&two.east, &two.west] {
            cluster.snapshot_with("one with a plan", |snapshot| snapshot.plan().is_some());
        }
        two
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let program = self.east.path("queuecast-for-users");
        let mut command = self.east.prepare("setpriv");
        command.args(["--reuid", USER, "--regid", USER, "--clear-groups"]).arg(program).args(arguments);
        command
    }

    /// The exit status, the report and what stands on standard error.
    fn report(&self, arguments: &[&str]) -> (i32, Value, String) {
        read(&self.command(&[arguments, &JOB, &["--json"]].concat()).output().unwrap())
    }

    /// A job on seven of the eight nodes of east, for half an hour.
    fn busy(&self) -> Job<'_> {
        let job = self.east.submit(&["-N7", "-t30", "--exclusive"], "sleep 1500").job();
        assert_eq!(job.wait(&["RUNNING"], PATIENCE), "RUNNING");
        // A user has ten probes a minute, so that none is spent on waiting.
        let generation = self.east.snapshot().unwrap().generation();
        self.east.snapshot_with("three more snapshots", |snapshot| snapshot.generation() >= generation + 3);
        job
    }
}

fn executable(path: &Path, content: &[u8]) {
    fs::write(path, content).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
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
    let two = Two::up();
    let _busy = two.busy();
    let begin = Instant::now();
    let (status, probed, said) = two.report(&["probe", "--clusters=east,north,west", "--between=now,now+3hours", "--prefer=earliest"]);
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    assert_eq!((status, &probed["best"]), (0, &Value::from(0)), "{probed} {said}");
    assert!(said.contains("north is left out: no answer within 5 s"), "{said}");
    assert!(probed["notes"].to_string().contains("north is left out"), "{probed}");
    let slots = probed["slots"].as_array().unwrap();
    assert_eq!(slots[0]["cluster"], "west", "{probed}");
    assert!(slots.iter().any(|slot| slot["cluster"] == "east" && slot["allowed"] == true), "{probed}");
    let shown = two.command(&[&["probe", "--clusters=east,west", "--between=now,now+3hours"][..], &JOB].concat()).output().unwrap();
    assert!(String::from_utf8_lossy(&shown.stdout).contains("cluster"), "{shown:?}");

    let (status, slot, said) = two.report(&["reserve", "--clusters=east,west", "--between=now,now+3hours", "--prefer=earliest"]);
    assert_eq!((status, &slot["cluster"], &slot["tried"]), (0, &"west".into(), &Value::Array(Vec::new())), "{slot} {said}");
    let name = slot["name"].as_str().unwrap();
    assert!(reserved(&two.west).contains(name) && !reserved(&two.east).contains("queuecast-"), "{}", reserved(&two.west));
    // It goes on as the answer says.
    let cancel = format!("{} reservations cancel {}", slot["command"].as_str().unwrap(), slot["id"]);
    let cancelled = two.east.prepare_for(USER, "sh").args(["-c", &cancel]).output().unwrap();
    assert!(cancelled.status.success(), "{cancelled:?}");
    assert!(!reserved(&two.west).contains(name));

    let (status, _, said) = two.report(&["probe", "--clusters=north", "--between=now,now+3hours"]);
    assert!(status == 3 && said.contains("none of the clusters answers"), "{status} {said}");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_slot_that_is_lost_is_dropped_and_after_a_broken_connection_nothing_is_reserved_elsewhere() {
    let two = Two::up();
    let _busy = two.busy();
    let here = |name: &str| -> PathBuf { two.east.path("jobs").join(name) };
    // Whoever operates west takes all of its nodes while a slot there is asked for.
    fs::write(here("race"), "").unwrap();
    let arguments = ["reserve", "--clusters=west,east", "--between=now,now+3hours", "--prefer=earliest", "--json"];
    let mut command = two.command(&[&arguments[..], &JOB].concat());
    let asking = std::thread::spawn(move || command.output().unwrap());
    wait_for("the slot to be asked for", PATIENCE, || here("asking").exists().then_some(()));
    // The next slot that is looked at begins some nine minutes later.
    let start = format!("starttime={}", clock(&two.west, now() + 5));
    let made =
        two.west.run("scontrol", &["create", "reservation", "reservationname=taken", &start, "duration=5", "nodes=ALL", "users=root"]);
    assert!(made.status.success(), "{made:?}");
    fs::write(here("taken"), "").unwrap();
    let (status, slot, said) = read(&asking.join().unwrap());
    assert_eq!((status, &slot["cluster"]), (0, &"west".into()), "{slot} {said}");
    let tried = slot["tried"].as_array().unwrap();
    assert!(!tried.is_empty() && tried.iter().all(|lost| lost["cluster"] == "west"), "{slot}");
    assert!(slot["start"].as_i64() > tried[0]["end"].as_i64().map(|end| end - 300), "{slot}");
    let made = |cluster: &Cluster| reserved(cluster).matches("ReservationName=queuecast-").count();
    assert_eq!((made(&two.west), made(&two.east)), (1, 0), "{}", reserved(&two.west));

    // The connection breaks once west has reserved.
    fs::remove_file(here("race")).unwrap();
    let _ = two.west.output("scontrol", &["delete", "reservationname=taken"]);
    fs::write(here("break"), "").unwrap();
    // A user has ten probes and reservations a minute.
    std::thread::sleep(Duration::from_secs(61));
    let (status, slot, said) = two.report(&arguments[..arguments.len() - 1]);
    assert_eq!(slot["cluster"], "west", "{slot} {said}");
    assert_eq!((status, &slot["id"], &slot["state"]), (3, &Value::Null, &Value::Null), "{slot} {said}");
    assert!(slot["not_known"].is_string(), "{slot}");
    assert_eq!((made(&two.west), made(&two.east)), (2, 0), "{}", reserved(&two.west));
}
