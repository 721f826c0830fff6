//! `queuecastd` against what others can do to it: jobs with texts of any length, connections to its
//! metrics, other privacy, and files of its state directory that were spoilt.

#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

use end_to_end::{Cluster, Daemon, PATIENCE, now, wait_for};
use predictor_core::snapshot::Snapshot;

/// Publishes every second, with a rule that has the daemon read jobs as they were described.
const CONFIGURATION: &str = "[snapshot]\ninterval = \"1s\"\n[metrics]\nlisten = \"127.0.0.1:0\"\n[log]\nformat = \"json\"\n\
    [[rule]]\nname = \"reads\"\non = [\"modify\"]\nwhen = 'has(current.container)'\nset = { comment = \"x\" }\n";

/// How many bytes of memory a process has had at the most.
fn peak_bytes(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

/// The processes that another one has started.
fn children(process: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let of_task = |task: fs::DirEntry| fs::read_to_string(task.path().join("children")).unwrap_or_default();
    let numbers: String = tasks.flatten().map(of_task).collect();
    numbers.split_whitespace().map(|number| number.parse().unwrap()).collect()
}

/// How a file of the state directory is spoilt.
type Spoil = fn(&Path);

/// The ways in which a file may be found by the next daemon.
const SPOILS: [(&str, Spoil); 6] = [
    ("truncated", |path| {
        let length = fs::metadata(path).map_or(0, |metadata| metadata.len());
        File::options().write(true).open(path).unwrap().set_len(length / 2).unwrap();
    }),
    ("emptied", |path| drop(File::create(path).unwrap())),
    ("with other bytes", |path| {
        let mut bytes = fs::read(path).unwrap();
        let step = bytes.len() / 7 + 1;
        // None of them is UTF-8.
        bytes.iter_mut().skip(3).step_by(step).for_each(|byte| *byte = !*byte | 0xf8);
        fs::write(path, bytes).unwrap();
    }),
    ("a fifo", |path| {
        fs::remove_file(path).unwrap();
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }),
    ("a link", |path| {
        fs::remove_file(path).unwrap();
        std::os::unix::fs::symlink(path.with_file_name("../victim"), path).unwrap();
    }),
    ("sparse", |path| File::create(path).unwrap().set_len(3 << 30).unwrap()),
];

/// The files that a daemon finds at its start.
const FILES: [&str; 11] = [
    "filter-counters",
    "guard.json",
    "learnt",
    "lock",
    "refused-deadlines",
    "rule-counters",
    "rules",
    "rules-data",
    "rules-state",
    "rules-tables",
    "snapshot",
];

fn each_file_spoilt_hinders_no_start_and_is_kept_aside_and_told(cluster: &Cluster) {
    let state = cluster.state_directory();
    let victim = cluster.path("victim");
    fs::write(&victim, "as it was").unwrap();
    for (how, spoil) in SPOILS {
        let spoilt: Vec<&str> = FILES.into_iter().filter(|name| state.join(name).is_file()).collect();
        spoilt.iter().for_each(|name| spoil(&state.join(name)));
        let log = cluster.log("queuecastd").len();
        let before = now();
        let daemon = cluster.start_queuecastd();
        wait_for(&format!("a good snapshot, the files were {how}"), PATIENCE, || {
            let path = state.join("snapshot");
            let bytes = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file).and_then(|_| fs::read(&path).ok())?;
            Snapshot::open(bytes).ok().filter(|snapshot| snapshot.published_at().0 >= before)
        });
        for name in ["rules", "rules-state", "rules-tables", "rules-data", "filter-counters"] {
            let is_whole = || fs::symlink_metadata(state.join(name)).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
            wait_for(&format!("{name} written anew, the files were {how}"), PATIENCE, || is_whole().then_some(()));
        }
        drop(daemon);
        let log = cluster.log("queuecastd").split_off(log);
        for name in spoilt.iter().filter(|name| **name != "lock") {
            let file = format!("\"file\":\"{}\"", state.join(name).display());
            let told = log.lines().filter(|line| line.contains("a file is damaged") && line.contains(&file)).count();
            assert_eq!(told, 1, "{name}, which was {how}: {log}");
            assert!(fs::symlink_metadata(state.join(format!("{name}.damaged"))).is_ok(), "{name}, which was {how}");
        }
        assert_eq!(fs::read_to_string(&victim).unwrap(), "as it was", "{how}");
    }
}

/// What Prometheus is told, by the last daemon that was started.
fn metrics(cluster: &Cluster) -> Option<String> {
    let log = cluster.log("queuecastd");
    let line = log.lines().rfind(|line| line.contains("metrics are served"))?;
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    let mut stream = TcpStream::connect(line["address"].as_str()?).ok()?;
    stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}

fn connections_that_say_nothing_keep_no_snapshot_from_being_published(cluster: &Cluster, daemon: &Daemon) {
    let limit = Command::new("prlimit").args(["--pid", &daemon.process_id().to_string(), "--nofile=120:120"]).status();
    assert!(limit.unwrap().success());
    let log = cluster.log("queuecastd");
    let line = log.lines().rfind(|line| line.contains("metrics are served")).unwrap();
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    let address = line["address"].as_str().unwrap();
    let idle: Vec<TcpStream> = (0..400).map(|_| TcpStream::connect(address).unwrap()).collect();
    let before = cluster.snapshot().unwrap().generation();
    cluster.snapshot_with("snapshots beside them", |snapshot| snapshot.generation() >= before + 3);
    let answer = wait_for("metrics beside them", PATIENCE, || metrics(cluster).filter(|answer| answer.contains("queuecast_")));
    assert!(answer.contains("queuecast_source_up"), "{answer}");
    drop(idle);
}

fn who_may_read_files_follows_private_data_without_a_restart(cluster: &Cluster) {
    let state = cluster.state_directory();
    let modes = || ["snapshot", "rules", "rules-tables", "rules-data"].map(|name| mode(&state.join(name)));
    assert_eq!(modes(), [Some(0o644); 4]);
    cluster.reconfigure(&["--conf-line", "PrivateData=users,accounts"]);
    wait_for("what is private to be for the few", PATIENCE, || (modes() == [Some(0o640); 4]).then_some(()));
    wait_for("users to be given what is theirs", PATIENCE, || {
        (state.join("snapshot-public").exists() && gives_snapshot(&state.join("api-socket"))).then_some(())
    });
    cluster.reconfigure(&["--conf-line", "PrivateData=accounts"]);
    wait_for("jobs to be shown again, and no accounts", PATIENCE, || {
        (modes() == [Some(0o644), Some(0o640), Some(0o640), Some(0o640)]).then_some(())
    });
    wait_for("users to have the snapshot's file again", PATIENCE, || (!gives_snapshot(&state.join("api-socket"))).then_some(()));
}

/// Whether the API gives its caller a snapshot.
fn gives_snapshot(socket: &Path) -> bool {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.write_all(b"GET /v1/snapshot HTTP/1.1\r\nhost: queuecastd\r\n\r\n").unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    &status == b"HTTP/1.1 200"
}

fn mode(path: &Path) -> Option<u32> {
    fs::symlink_metadata(path).map(|metadata| metadata.permissions().mode() & 0o777).ok()
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn it_lives_through_long_texts_idle_connections_changes_of_privacy_and_spoilt_files() {
    let cluster = Cluster::up_for_queuecastd(CONFIGURATION);
    let daemon = cluster.start_queuecastd();
    a_hundred_jobs_of_one_user_with_long_texts_cost_at_most_64_mib_and_the_reader_may_die(&cluster, &daemon);
    connections_that_say_nothing_keep_no_snapshot_from_being_published(&cluster, &daemon);
    who_may_read_files_follows_private_data_without_a_restart(&cluster);
    drop(daemon);
    each_file_spoilt_hinders_no_start_and_is_kept_aside_and_told(&cluster);
}

fn a_hundred_jobs_of_one_user_with_long_texts_cost_at_most_64_mib_and_the_reader_may_die(cluster: &Cluster, daemon: &Daemon) {
    let read_at = || cluster.snapshot().and_then(|snapshot| snapshot.provenance().controller_read_at);
    let read_again = |what: &str| {
        let before = read_at();
        cluster.snapshot_with(what, |snapshot| snapshot.provenance().controller_read_at > before);
    };
    cluster.wait_for_snapshot();
    wait_for("the rule in force", PATIENCE, || cluster.state_directory().join("rules-data").exists().then_some(()));
    read_again("the queue without the jobs");
    let before = peak_bytes(daemon.process_id());

    // Slurm sets no limit on the path of a container up to 25.05, and refuses longer ones since.
    let script = cluster.path("jobs/long");
    let mut text = String::from("#!/bin/sh\n#SBATCH --container=/");
    text.extend(std::iter::repeat_n('x', 1_000_000));
    text.push_str("\ntrue\n");
    fs::write(&script, text).unwrap();
    let submit = || {
        let mut command = cluster.prepare_for("games", "sbatch");
        command.args(["--hold", "-t5", "-o/dev/null"]).arg(&script).stderr(Stdio::null());
        command.output().unwrap().status.success()
    };
    let taken = (0..100).filter(|_| submit()).count();
    assert!(taken == 100 || taken == 0, "{taken} were taken");
    for round in 0..4 {
        read_again(&format!("the queue with the jobs, time {round}"));
    }
    let cost = peak_bytes(daemon.process_id()) - before;
    assert!(cost <= 64 << 20, "100 jobs cost {cost} bytes");

    // What memory runs out for first is the process that reads: the daemon goes on without it.
    let killed = wait_for("the process that reads", PATIENCE, || children(daemon.process_id()).first().copied());
    // It may have ended by itself meanwhile.
    let _ = Command::new("sh").args(["-c", &format!("kill -s KILL {killed}")]).status();
    read_again("the queue behind the death of what reads it");
    let _ = cluster.output("scancel", &["--user=games"]);
}
