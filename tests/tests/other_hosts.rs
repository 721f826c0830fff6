//! Hosts that the daemon's socket does not reach, on a real cluster with a real munged: they ask
//! over the network, where munge says who asks, or by a command that another host runs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Output;
use std::time::{Duration, Instant};

use daemon_api::credential::{Signed, authorization};
use end_to_end::documentation::{Block, Page};
use end_to_end::{Cluster, Daemon, Options, PATIENCE, QUICK, now, wait_for};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// Users without any privilege.
const USER: &str = "games";
const OTHER: &str = "man";

const POLICY: &str = "[policy]\nmode = \"enforce\"\n[[firm]]\nahead = \"2d\"\nmost_nodes = 4\n";

/// A probe of a whole day.
const PROBE: [&str; 7] = ["probe", "-N1", "-t10", "--between", "now,now+1day", "--json", "--exclusive"];

/// A cluster whose daemon answers other hosts, which have another configuration.
struct Site {
    cluster: Cluster,
    /// The port at which the daemon answers other hosts.
    port: u16,
    daemon: Option<Daemon>,
}

impl Site {
    /// Its daemon listens at all addresses. `slurm` is a line of slurm.conf.
    fn up(slurm: &str) -> Self {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let listen = format!("[api]\nlisten = \"0.0.0.0:{port}\"\n");
        let cluster = Cluster::up(&Options::with_plugins(&format!("{QUICK}{listen}{POLICY}")).option("conf-line", slurm));
        let program = cluster.path("queuecast-for-users");
        fs::copy(end_to_end::built().join("queuecast"), &program).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let daemon = Some(cluster.start_queuecastd());
        cluster.snapshot_with("a plan", |snapshot| snapshot.plan().is_some());
        let site = Self { cluster, port, daemon };
        site.other_host(&listen);
        site
    }

    /// What `queuecast.toml` has on a host without the state directory.
    fn other_host(&self, api: &str) {
        fs::write(self.other_configuration(), format!("state_directory = \"/nowhere/queuecast\"\n{api}")).unwrap();
    }

    fn other_configuration(&self) -> PathBuf {
        self.cluster.path("other-host.toml")
    }

    /// Runs `queuecast` as a user on the other host.
    fn queuecast(&self, user: &str, arguments: &[&str]) -> Output {
        let program = self.cluster.path("queuecast-for-users");
        let mut command = self.cluster.prepare_for(user, program.to_str().unwrap());
        command.env("QUEUECAST_CONF", self.other_configuration()).args(arguments).output().unwrap()
    }

    /// The report of a command of a user on the other host.
    fn report(&self, user: &str, arguments: &[&str]) -> Value {
        let output = self.queuecast(user, arguments);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", said(&output)))
    }

    /// The firm slots that a user of the other host sees.
    fn slots(&self, user: &str) -> Vec<Value> {
        let listed = self.report(user, &["reservations", "--json"])["reservations"].take();
        listed.as_array().unwrap().iter().filter(|one| one["kind"] == "firm").cloned().collect()
    }

    /// A check of `queuecast doctor` on the other host.
    fn checked(&self, name: &str) -> Value {
        let report = self.report(USER, &["doctor", "--role", "login", "--format", "json"]);
        report["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{report:#}")).clone()
    }

    /// A credential that a user makes with munge's own program for a request to this cluster.
    fn credential(&self, user: &str, method: &str, path: &str, body: &str, options: &[&str]) -> String {
        let digest = Signed { cluster: &self.cluster.name(), method, path, body: body.as_bytes() }.digest();
        let mut munge = self.cluster.prepare_for(user, "munge");
        munge.arg("--socket").arg(self.cluster.path("run/munge.socket")).args(["--string", &digest]).args(options);
        let output = munge.output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        authorization(String::from_utf8_lossy(&output.stdout).trim())
    }

    /// Sends a request to the daemon over the network from an address of this host: the status, and
    /// the body.
    fn sent(&self, from: &str, path: &str, body: &str, authorization: &str) -> (u16, String) {
        let url = format!("http://127.0.0.1:{}{path}", self.port);
        let header = format!("Authorization: {authorization}");
        let output = self.cluster.run("curl", &["-s", "-i", "-m", "40", "--interface", from, "-H", &header, "-d", body, &url]);
        let answer = String::from_utf8_lossy(&output.stdout).into_owned();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        (status, answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    }
}

fn said(output: &Output) -> String {
    format!("{:?}: {}{}", output.status, String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn wanted() -> String {
    format!("{{\"nodes\": 1, \"limit_s\": 600, \"earliest\": {}, \"latest\": {}}}", now(), now() + 40_000)
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_user_of_another_host_is_known_by_munge_and_has_what_is_theirs() {
    let mut site = Site::up("PrivateData=jobs");
    let answer = site.report(USER, &PROBE);
    assert!(answer["slots"].as_array().unwrap().len() >= 10, "{answer}");
    let slot = wait_for("a slot", PATIENCE, || {
        let output = site.queuecast(USER, &["reserve", "-N1", "-t10", "--between", "now+1hour,now+1day", "--json"]);
        (output.status.code() != Some(3))
            .then(|| serde_json::from_slice::<Value>(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output))))
    });
    assert_eq!(slot["state"], "movable", "{slot}");
    let number: u32 = site.cluster.output("id", &["-u", USER]).parse().unwrap();
    let own = wait_for("the slot in the list", PATIENCE, || site.slots(USER).pop());
    assert_eq!((&own["user"], &own["id"]), (&number.into(), &slot["id"]), "{own}");
    assert!(site.slots(OTHER).is_empty());
    assert_eq!(site.slots("root").len(), 1, "root of another host is an operator, as for Slurm");
    let id = slot["id"].to_string();
    let cancelled = |user: &str| site.queuecast(user, &["reservations", "cancel", &id]).status.code();
    assert_eq!([cancelled(OTHER), cancelled(USER)], [Some(1), Some(0)]);

    // What rests on the snapshot alone has it from the daemon as well, without what is others'.
    let waiting = |user: &str| {
        let report = site.report(user, &["queue", "--json"]);
        let jobs: Vec<String> = report["jobs"].as_array().unwrap().iter().map(|job| job["job_id"].to_string()).collect();
        (jobs, report["notes"].to_string())
    };
    let held = site.cluster.submit_for(OTHER, &["-N1", "-t10", "--begin=now+1hour"], "true").job();
    wait_for("the job in the queue of its user", PATIENCE, || (waiting(OTHER).0 == [held.id.clone()]).then_some(()));
    let (others, notes) = waiting(USER);
    assert!(others.is_empty() && notes.contains("users' jobs are private"), "{others:?} {notes}");
    assert_eq!(site.checked("[api] listen")["outcome"], "ok");

    drop(site.daemon.take());
    let output = site.queuecast(USER, &PROBE);
    assert!(output.status.code() == Some(3) && said(&output).contains("queuecastd does not answer at"), "{}", said(&output));
    assert_eq!(site.checked("[api] listen")["outcome"], "failed");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_credential_is_good_for_one_request_once_and_for_a_while() {
    let site = Site::up("");
    let (path, body) = (daemon_api::PROBE, wanted());
    let sent = |path: &str, body: &str, authorization: &str| site.sent("127.0.0.1", path, body, authorization);
    let refused = |(status, answer): (u16, String), why: &str| assert!(status == 401 && answer.contains(why), "{status} {answer}");

    refused(sent(path, &body, ""), "carries a credential of munge");
    let credential = site.credential(USER, "POST", path, &body, &[]);
    let (status, answer) = sent(path, &body, &credential);
    assert_eq!(status, 200, "{answer}");
    refused(sent(path, &body, &credential), "used before");

    let credential = || site.credential(USER, "POST", path, &body, &[]);
    let elsewhere = "made for something else";
    refused(sent(path, &body.replace("600", "660"), &credential()), elsewhere);
    refused(sent(daemon_api::RESERVE, &body, &credential()), elsewhere);
    refused(sent("/v1/probe?user=0", &body, &credential()), elsewhere);
    refused(sent(path, &body, &site.credential(USER, "GET", path, &body, &[])), elsewhere);
    let mut munge = site.cluster.prepare_for(USER, "munge");
    let output = munge.arg("--socket").arg(site.cluster.path("run/munge.socket")).args(["--string", "hello"]).output().unwrap();
    refused(sent(path, &body, &authorization(String::from_utf8_lossy(&output.stdout).trim())), elsewhere);
    refused(sent(path, &body, "Munge MUNGE:AwQFAAC:"), "new credential");

    // As docs/api.md says that other programs do it.
    let blocks = Page::read("docs/api.md").blocks();
    let script = blocks.iter().find_map(|block| match block {
        Block::Other { language, text } if language == "bash" => Some(text),
        _ => None,
    });
    let munge = format!("munge --socket {}", site.cluster.path("run/munge.socket").display());
    let script = script.unwrap().replace("ctl:9488", &format!("127.0.0.1:{}", site.port)).replace("munge ", &format!("{munge} "));
    let output = site.cluster.prepare_for(USER, "bash").args(["-c", &script]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("{\"slots\":["), "{script}\n{}", said(&output));

    // The snapshot, which everybody may read on the daemon's host.
    let output = site.queuecast(USER, &["predict", "-N1", "-t10"]);
    assert!(output.status.success(), "{}", said(&output));

    let late = site.credential(USER, "POST", path, &body, &["--ttl", "1"]);
    std::thread::sleep(Duration::from_secs(3));
    refused(sent(path, &body, &late), "sent late");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_hostile_host_and_a_munged_that_hangs_keep_no_caller_from_the_socket() {
    let site = Site::up("");
    let on_the_socket = || {
        let program = site.cluster.path("queuecast-for-users");
        let begin = Instant::now();
        let output = site.cluster.prepare_for(OTHER, program.to_str().unwrap()).args(PROBE).output().unwrap();
        assert!(output.status.success() && begin.elapsed() < Duration::from_secs(4), "{:?}: {}", begin.elapsed(), said(&output));
    };
    let idle = || -> Vec<TcpStream> { (0..200).map(|_| TcpStream::connect((Ipv4Addr::LOCALHOST, site.port)).unwrap()).collect() };
    let held = idle();
    let (path, body) = (daemon_api::PROBE, wanted());
    on_the_socket();
    let (status, answer) = site.sent("127.0.0.2", path, &body, &site.credential(USER, "POST", path, &body, &[]));
    assert_eq!(status, 200, "another host is served: {answer}");
    drop(held);

    let munged = fs::read_to_string(site.cluster.path("munge/pid")).unwrap();
    let munged = Pid::from_raw(munged.trim().parse().unwrap());
    let credentials: Vec<String> = (0..6).map(|_| site.credential(USER, "POST", path, &body, &[])).collect();
    kill(munged, Signal::SIGSTOP).unwrap();
    let begin = Instant::now();
    std::thread::scope(|scope| {
        let asked: Vec<_> = credentials.iter().map(|credential| scope.spawn(|| site.sent("127.0.0.2", path, &body, credential))).collect();
        std::thread::sleep(Duration::from_millis(500));
        on_the_socket();
        for answer in asked {
            let (status, answer) = answer.join().unwrap();
            assert!(status == 503 && answer.contains("munged does not answer"), "{status} {answer}");
        }
    });
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    kill(munged, Signal::SIGCONT).unwrap();
    wait_for("munged to be asked again", PATIENCE, || {
        (site.sent("127.0.0.2", "/v1/none", "", &site.credential(USER, "POST", "/v1/none", "", &[])).0 == 404).then_some(())
    });
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_command_that_another_host_runs_answers_in_the_place_of_this_one() {
    let mut site = Site::up("");
    // As ssh, it hands what it is given to a shell; and it counts how often it is run.
    let (shell, runs) = (site.cluster.path("other-shell"), site.cluster.path("jobs/runs"));
    let script = format!("#!/bin/sh\nshift\necho run >>{}\nunset QUEUECAST_CONF\neval \"$*\"\n", runs.display());
    fs::write(&shell, script).unwrap();
    fs::set_permissions(&shell, fs::Permissions::from_mode(0o755)).unwrap();
    let program = site.cluster.path("queuecast-for-users");
    site.other_host(&format!("[api]\ncommand = \"{} ctl {}\"\n", shell.display(), program.display()));

    let answer = site.report(USER, &PROBE);
    assert!(answer["slots"].as_array().unwrap().len() >= 10, "{answer}");
    let wrong = site.queuecast(USER, &["probe", "-N1", "-t10", "--between", "now,now+1day", "--prefer", "a b;$(c)"]);
    assert!(wrong.status.code() == Some(2) && said(&wrong).contains("a b;$(c)"), "{}", said(&wrong));
    assert_eq!(site.queuecast(USER, &["reservations", "cancel", "77"]).status.code(), Some(1));
    assert!(site.slots(USER).is_empty());
    assert_eq!(site.checked("[api] command")["outcome"], "ok");
    // Here it would have to answer itself.
    let here = site.queuecast(USER, &[&["--here"], &PROBE[..]].concat());
    assert_eq!(here.status.code(), Some(3), "{}", said(&here));

    // Where the daemon is away, the other host does not hand the command on.
    drop(site.daemon.take());
    fs::copy(site.other_configuration(), site.cluster.path("etc/queuecast.toml")).unwrap();
    fs::remove_file(&runs).unwrap();
    let away = site.queuecast(USER, &PROBE);
    assert_eq!(away.status.code(), Some(3), "{}", said(&away));
    assert_eq!(fs::read_to_string(&runs).unwrap(), "run\n");
    assert_eq!(site.checked("[api] command")["outcome"], "failed");
}
