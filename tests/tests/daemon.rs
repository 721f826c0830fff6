//! `queuecastd` beside a real cluster: outages, signals, a broken configuration, death in the
//! middle of publishing.

#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests

use job_types::number::{JobId, UserId};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use end_to_end::{Cluster, Daemon, IMPORTED, Options, PATIENCE, QUICK, now, wait_for};
use job_types::options::Mode;
use job_types::size::Unit;
use predictor_core::decisions::site::Site;
use predictor_core::forecasts::forecast::{RunTimeForecaster, RunTimeQuestion};
use predictor_core::snapshot::Snapshot;
use rules_compiler::in_force;
use site_rules::data::DataFile;
use site_rules::field::{FieldNumber, Fields, Name};

/// How long a daemon may take to end on a machine that is busy: less than the 30 s for which
/// Slurm's library waits for an answer here (`MessageTimeout`).
const END: Duration = Duration::from_secs(20);

fn ended_jobs(snapshot: &Snapshot<Vec<u8>>) -> u64 {
    snapshot.provenance().ended_jobs
}

/// The process of one of the cluster's daemons.
fn process(cluster: &Cluster, name: &str) -> String {
    let process = std::fs::read_to_string(cluster.path(&format!("run/{name}.process"))).unwrap();
    process.split_whitespace().next().unwrap().to_owned()
}

fn signal(process: &str, signal: &str) {
    // The shell's own: there need be no program of that name.
    assert!(Command::new("sh").args(["-c", &format!("kill -s {signal} {process}")]).status().unwrap().success());
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn it_publishes_while_slurmdbd_mariadb_and_slurmctld_are_away_and_catches_up() {
    let cluster = Cluster::up_for_queuecastd(QUICK);
    cluster.run_jobs(2);
    let mut daemon = cluster.start_queuecastd();
    let first = cluster.snapshot_with("a snapshot with the first jobs", |snapshot| ended_jobs(snapshot) == 2);
    assert_eq!(first.provenance().cluster, "queuecast");
    assert_eq!(first.default_partition().unwrap().cpus, 32);

    let mut ended = 2;
    for name in ["slurmdbd", "mariadb", "slurmctld"] {
        cluster.daemon("stop", name);
        let accounting = name != "slurmctld";
        if accounting {
            // slurmctld keeps the record until slurmdbd takes it.
            cluster.run_jobs(1);
            ended += 1;
        }
        // When what is away and what is not were read.
        let read_at = |snapshot: &Snapshot<Vec<u8>>| {
            let provenance = snapshot.provenance();
            let (slurmdbd, slurmctld) = (provenance.accounting_read_at, provenance.controller_read_at);
            if accounting { (slurmdbd, slurmctld) } else { (slurmctld, slurmdbd) }
        };
        // What it answered before it stopped may not be published yet.
        let stopped = cluster.snapshot().unwrap().generation();
        let before = cluster.snapshot_with("what it answered last", |snapshot| snapshot.generation() >= stopped + 2);
        let (last_read, other_read) = read_at(&before);
        let during = cluster.snapshot_with("four more snapshots, with news of what is not away", |snapshot| {
            snapshot.generation() >= before.generation() + 4 && read_at(snapshot).1 > other_read
        });
        let still_read = read_at(&during).0;
        // One answer may have been on its way.
        let is_away = (still_read.unwrap() - last_read.unwrap()).0 <= 1;
        assert!(is_away, "{name} is away, and its records become older: {last_read:?}, {still_read:?}");

        cluster.daemon("start", name);
        cluster.snapshot_with("what ended meanwhile", |snapshot| {
            read_at(snapshot).0 > still_read && snapshot.provenance().ended_jobs == ended
        });
    }
    cluster.run_jobs(1);
    cluster.snapshot_with("a job after all outages, counted once", |snapshot| ended_jobs(snapshot) == ended + 1);
    daemon.signal("TERM");
    assert!(daemon.end(END).success());
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn it_publishes_and_ends_also_while_slurmdbd_hangs() {
    let cluster = Cluster::up_for_queuecastd(QUICK);
    let mut daemon = cluster.start_queuecastd();
    let before = cluster.snapshot_with("a snapshot", |snapshot| snapshot.provenance().accounting_read_at.is_some());
    let slurmdbd = process(&cluster, "slurmdbd");
    signal(&slurmdbd, "STOP");
    cluster.snapshot_with("five more snapshots", |snapshot| snapshot.generation() >= before.generation() + 5);
    daemon.signal("TERM");
    let ended = daemon.end(END);
    signal(&slurmdbd, "CONT");
    assert!(ended.success(), "{ended}");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_broken_missing_or_half_written_configuration_leaves_the_last_good_one_in_force() {
    let cluster = Cluster::up_for_queuecastd(&format!("{QUICK}[policy]\nmode = \"advise\"\n"));
    let daemon = cluster.start_queuecastd();
    let in_force = |snapshot: &Snapshot<Vec<u8>>| snapshot.default_partition().map(|partition| partition.policy.mode);
    let error = |snapshot: &Snapshot<Vec<u8>>| snapshot.provenance().configuration_error.to_owned();
    cluster.snapshot_with("the first configuration", |snapshot| in_force(snapshot) == Some(Mode::Advise) && error(snapshot).is_empty());

    let file = cluster.path("etc/queuecast.toml");
    let whole = std::fs::read_to_string(&file).unwrap();
    let last_line = whole.lines().count();
    let half = whole.trim_end().strip_suffix("ise\"").unwrap();
    let broken = whole.replace("advise", "enforced");
    for (what, text, complaint) in [
        ("half-written", Some(half), format!("queuecast.toml:{last_line}: ")),
        ("broken", Some(broken.as_str()), "`off`, `observe`, `advise`, `enforce`".to_owned()),
        ("missing", None, "no such file".to_owned()),
    ] {
        match text {
            Some(text) => std::fs::write(&file, text).unwrap(),
            None => std::fs::remove_file(&file).unwrap(),
        }
        daemon.signal("HUP");
        let snapshot = cluster.snapshot_with(what, |snapshot| error(snapshot).contains(&complaint));
        assert_eq!(in_force(&snapshot), Some(Mode::Advise), "{what}");
        assert!(error(&snapshot).contains("the last good configuration is in force"), "{}", error(&snapshot));
    }
    std::fs::write(&file, whole.replace("advise", "enforce")).unwrap();
    daemon.signal("HUP");
    cluster.snapshot_with("a good one again", |snapshot| in_force(snapshot) == Some(Mode::Enforce) && error(snapshot).is_empty());
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_broken_configuration_is_refused_at_the_start_and_by_check() {
    let cluster = Cluster::up_for_queuecastd("[snapshot]\ninterval = \"0s\"\n");
    let started = cluster.run("queuecastd", &[]);
    assert_eq!(started.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&started.stderr).contains("queuecast.toml:3: "), "{started:?}");
    let checked = cluster.run("queuecastd", &["--check"]);
    assert_eq!(checked.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&checked.stderr).contains("1s to 1h"), "{checked:?}");
    cluster.configure(QUICK);
    assert!(cluster.run("queuecastd", &["--check"]).status.success());
    cluster.configure(&format!("{QUICK}[[rule]]\nname = \"r\"\nset = {{ qos = 1 }}\n"));
    let checked = cluster.run("queuecastd", &["--check"]);
    assert_eq!(checked.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&checked.stderr).contains("queuecast.toml:"), "{checked:?}");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn once_publishes_one_snapshot_of_all_and_none_while_a_source_is_away() {
    let cluster = Cluster::up_for_queuecastd(QUICK);
    cluster.run_jobs(1);
    // slurmctld hands records over some moments later, and that of a short job in two parts: its
    // end, and then what was known at its start.
    wait_for("the job's whole record", PATIENCE, || {
        let shown = cluster.output("sacct", &["-X", "-n", "-P", "-o", "End,Partition", "-S", "now-1hour"]);
        shown.split_once('|').is_some_and(|(end, partition)| end != "Unknown" && !partition.is_empty()).then_some(())
    });
    assert!(cluster.run("queuecastd", &["--once"]).status.success());
    let first = cluster.snapshot().unwrap();
    assert_eq!((first.generation(), ended_jobs(&first)), (1, 1));
    assert!(cluster.run("queuecastd", &["--once"]).status.success());
    assert_eq!(cluster.snapshot().unwrap().generation(), 2, "generations go on where an earlier daemon was");
    for name in ["slurmdbd", "slurmctld"] {
        cluster.daemon("stop", name);
        let output = cluster.run("queuecastd", &["--once"]);
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(&format!("queuecastd: {name} gave no ")), "{said}");
        cluster.daemon("start", name);
    }
    assert_eq!(cluster.snapshot().unwrap().generation(), 2);
}

/// Three jobs that ended in another cluster.
const ELSEWHERE: &str = "\
; MaxNodes: 8
; MaxProcs: 32
1 0 10 100 4 -1 -1 4 600 -1 1 1 1 -1 1 -1 -1 -1
2 50 10 100 4 -1 -1 4 600 -1 1 1 1 -1 1 -1 -1 -1
3 90 10 100 4 -1 -1 4 600 -1 1 1 1 -1 1 -1 -1 -1
";

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn it_learns_from_earlier_clusters_and_passes_over_one_that_slurmdbd_does_not_know() {
    let cluster = Cluster::up_for_queuecastd(QUICK);
    let log = cluster.path("log/elsewhere.swf");
    std::fs::write(&log, ELSEWHERE).unwrap();
    let import = [log.to_str().unwrap()];
    let _ = cluster.import(&import);
    let path = cluster.path("etc/queuecast.toml");
    let written = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, written.replace("= [\"past\"]", "= [\"nowhere\", \"past\"]")).unwrap();
    cluster.run_jobs(1);
    let _daemon = cluster.start_queuecastd();
    let snapshot = cluster.snapshot_with("its own job and theirs", |snapshot| ended_jobs(snapshot) == 4);
    // What ends there meanwhile is learnt as well, and nothing twice.
    let _ = cluster.run("queuecast", &[&["import-swf", "--into", "slurmdbd", "--cluster", IMPORTED, "--again"], &import[..]].concat());
    cluster.snapshot_with("the same jobs once more, which ended just now", |snapshot| ended_jobs(snapshot) == 7);
    let generation = snapshot.generation();
    cluster.snapshot_with("more snapshots", |snapshot| snapshot.generation() > generation + 4);
    let told = cluster.log("queuecastd").lines().filter(|line| line.contains("does not know this cluster")).count();
    assert_eq!((told, ended_jobs(&cluster.snapshot().unwrap())), (1, 7));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_daemon_without_history_leaves_a_usable_snapshot_in_place() {
    let cluster = Cluster::up_for_queuecastd(QUICK);
    cluster.run_jobs(1);
    let mut daemon = cluster.start_queuecastd();
    let with_history = cluster.snapshot_with("a snapshot with history", |snapshot| ended_jobs(snapshot) == 1);
    daemon.signal("TERM");
    daemon.end(PATIENCE);
    cluster.daemon("stop", "slurmdbd");
    // With what was learnt it would need no slurmdbd to go on.
    let _ = std::fs::remove_file(cluster.state_directory().join("learnt"));
    let generation = cluster.snapshot().unwrap().generation();
    let _daemon = cluster.start_queuecastd();
    wait_for("slurmdbd to be missed", PATIENCE, || cluster.log("queuecastd").contains("does not answer").then_some(()));
    std::thread::sleep(Duration::from_secs(4));
    let kept = cluster.snapshot().unwrap();
    assert_eq!((kept.generation(), ended_jobs(&kept)), (generation, ended_jobs(&with_history)));
    cluster.daemon("start", "slurmdbd");
    cluster.snapshot_with("the next one", |snapshot| snapshot.generation() > generation && ended_jobs(snapshot) == 1);
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_second_daemon_on_the_state_directory_is_refused() {
    let cluster = Cluster::up_for_queuecastd(QUICK);
    let first = cluster.start_queuecastd();
    cluster.wait_for_snapshot();
    let second = cluster.run("queuecastd", &["--once"]);
    assert_eq!(second.status.code(), Some(1));
    let said = String::from_utf8_lossy(&second.stderr);
    assert!(said.contains(&format!("another queuecastd (process {}) publishes into", first.process_id())), "{said}");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn it_publishes_at_once_when_asked_and_tells_prometheus() {
    let slow = "[snapshot]\ninterval = \"1h\"\nmaximum_age = \"2h\"\n[metrics]\nlisten = \"127.0.0.1:0\"\n[log]\nformat = \"json\"\n";
    let cluster = Cluster::up_for_queuecastd(slow);
    let daemon = cluster.start_queuecastd();
    let first = cluster.snapshot_with("the first", |_snapshot| true).generation();
    cluster.run_jobs(1);
    // The job's record reaches slurmdbd some moments later, so one request may not be enough.
    wait_for("a snapshot with the job", PATIENCE, || {
        daemon.signal("USR1");
        std::thread::sleep(Duration::from_millis(500));
        cluster.snapshot().filter(|snapshot| ended_jobs(snapshot) == 1 && snapshot.generation() > first)
    });

    let counted = "queuecast_ended_jobs_read_total 1";
    let answer = wait_for("the job among the metrics", PATIENCE, || {
        Some(metrics(&cluster)).filter(|answer| answer.lines().any(|line| line == counted))
    });
    for line in ["queuecast_source_up{source=\"slurmdbd\"} 1", "queuecast_configuration_good 1"] {
        assert!(answer.lines().any(|other| other == line), "{line} is not in {answer}");
    }
    for name in ["queuecast_snapshot_age_seconds ", "queuecast_publishing_seconds_count ", "queuecast_jobs{state=\"running\"} "] {
        assert!(answer.lines().any(|line| line.starts_with(name)), "{name} is not in {answer}");
    }
    the_sites_own_rules_follow_their_files(&cluster, &daemon);
}

/// What Prometheus is told.
fn metrics(cluster: &Cluster) -> String {
    let log = cluster.log("queuecastd");
    let line = log.lines().find(|line| line.contains("metrics are served")).unwrap();
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    let mut stream = TcpStream::connect(line["address"].as_str().unwrap()).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Rules are put in force when the daemon is told, a broken file keeps those before and is visible
/// wherever somebody looks, and what the rules can ask about jobs and users is written down.
fn the_sites_own_rules_follow_their_files(cluster: &Cluster, daemon: &Daemon) {
    let report = |command: &str| -> serde_json::Value {
        serde_json::from_slice(&cluster.run("queuecast", &[command, "--format", "json"]).stdout).unwrap()
    };
    let loaded = |what: &str, file: &str, text: &str, wish: &dyn Fn(&serde_json::Value) -> bool| {
        std::fs::create_dir_all(cluster.path("etc/rules.d")).unwrap();
        std::fs::write(cluster.path("etc/rules.d").join(file), text).unwrap();
        daemon.signal("HUP");
        wait_for(what, PATIENCE, || Some(report("status")["rules"].clone()).filter(wish))
    };
    let is_told = |line: &str| metrics(cluster).lines().any(|other| other == line);
    assert!(!cluster.state_directory().join("rules").exists() && is_told("queuecast_rules 0"), "the site has no rules yet");
    let rule = "[[rule]]\nname = \"first\"\non = [\"modify\"]\nwhen = 'has(current.comment)'\nset = { comment = \"x\" }\n";
    // Who put it in force is written after the rules themselves.
    let first = loaded("the first rule", "10.toml", rule, &|rules| rules["in_force"] == 1 && !rules["by"].is_null());
    assert_eq!((&first["broken"], &first["by"]), (&false.into(), &"queuecastd".into()));
    wait_for("the metrics of the first rule", PATIENCE, || {
        (is_told("queuecast_rules 1") && is_told("queuecast_rules_broken 0")).then_some(())
    });

    let broken =
        loaded("that a file is broken", "20.toml", "[[rule]]\nname = \"second\"\nset = { qos = 1 }\n", &|rules| rules["broken"] == true);
    assert_eq!((&broken["in_force"], &broken["number"]), (&1.into(), &first["number"]), "the rules before are in force");
    assert!(broken["errors"][0].as_str().unwrap().contains("rules.d/20.toml:3:"), "{broken}");
    let checks = report("doctor")["checks"].clone();
    let check = checks.as_array().unwrap().iter().find(|check| check["name"] == "their files").unwrap();
    assert!(check["outcome"] == "failed" && check["found"].as_str().unwrap().contains("rules.d/20.toml:3:"), "{check}");
    wait_for("the metrics to say so", PATIENCE, || is_told("queuecast_rules_broken 1").then_some(()));
    let log =
        wait_for("the log to say so", PATIENCE, || Some(cluster.log("queuecastd")).filter(|log| log.contains("the rules can't be used")));
    assert_eq!(log.lines().filter(|line| line.contains("the rules can't be used")).count(), 1, "{log}");

    let rule = "[[rule]]\nname = \"second\"\nset = { qos = \"high\" }\n";
    let mended = loaded("the file mended", "20.toml", rule, &|rules| rules["broken"] == false);
    assert_eq!(mended["in_force"], 2);

    // What slurmctld says of partitions is compiled into rules that ask for it.
    let partition = cluster.output("scontrol", &["show", "partition", "--oneliner"]);
    let name = partition.split_whitespace().find_map(|word| word.strip_prefix("PartitionName=")).unwrap();
    assert!(partition.lines().count() == 1 && partition.contains("Default=YES"), "{partition}");
    let when =
        "job.partitions.exists(name, has(tables.partitions[name].tres) && tables.partitions[name].tres.exists(r, r.kind == \"cpu\"))";
    let rule = format!("[[rule]]\nname = \"third\"\nwhen = '{when}'\nreject = \"no\"\n");
    loaded("a rule about partitions", "30.toml", &rule, &|rules| rules["in_force"] == 3);
    let program = in_force::read(&cluster.state_directory()).unwrap().unwrap().0.program;
    assert_eq!(program.default_partition.as_deref(), Some(name));
    let resources: Vec<String> = program.tables.iter().filter_map(|table| Some(table.value(name, 0)?.to_string())).collect();
    let tres = partition.split_whitespace().find_map(|word| word.strip_prefix("TRES=")).unwrap();
    assert!(resources.iter().any(|value| value == tres), "{resources:?}, and scontrol shows {tres}");
    std::fs::remove_file(cluster.path("etc/rules.d/30.toml")).unwrap();
    daemon.signal("HUP");
    wait_for("the rule to be gone", PATIENCE, || (report("status")["rules"]["in_force"] == 2).then_some(()));

    let script = ["--hold", "-t7", "-Jheld", "--comment=as it is", "-N2", "--wrap=true", "--parsable"];
    let held: u32 = cluster.output("sbatch", &script).parse().unwrap();
    let known = wait_for("what rules can ask about the job", PATIENCE, || {
        daemon.signal("USR1");
        std::thread::sleep(Duration::from_millis(500));
        let file = DataFile::decode(std::fs::read(cluster.state_directory().join("rules-data")).ok()?).ok()?;
        let (job, field) = (file.job(JobId(held))?, |name: Name| FieldNumber::from(name));
        let texts = [Name::JobName, Name::TimeLimit, Name::Comment, Name::MinNodes, Name::Partition, Name::IsHeld, Name::IsBatch];
        let texts = texts.map(|name| job.field(field(name)).map(|value| value.to_string()).unwrap_or_default());
        // Groups are asked for on a thread of their own.
        let own = file.user(UserId(job_owner()))?.groups.iter().map(str::to_owned).collect::<Vec<_>>();
        Some((texts, own, file.is_operator(UserId(job_owner()))))
    });
    let partition = cluster.output("squeue", &["-h", "-o%P", &format!("-j{held}")]);
    assert_eq!(known.0, ["held", "420s", "as it is", "2", &partition, "true", "true"]);
    let groups = Command::new("id").arg("-Gn").output().unwrap();
    let mut groups: Vec<String> = String::from_utf8_lossy(&groups.stdout).split_whitespace().map(str::to_owned).collect();
    groups.sort();
    assert_eq!(known.1, groups);
    // How many jobs the user has, each task of an array being one.
    let array = cluster.output("sbatch", &["--hold", "--array=0-3", "--wrap=true", "--parsable"]);
    let owner = job_owner();
    let waiting = cluster.output("squeue", &["-h", "-r", "-tPD", "-o%i", &format!("-u{owner}")]).lines().count();
    wait_for("the user's jobs to be counted", PATIENCE, || {
        daemon.signal("USR1");
        std::thread::sleep(Duration::from_millis(500));
        let file = DataFile::decode(std::fs::read(cluster.state_directory().join("rules-data")).ok()?).ok()?;
        (file.jobs_of(UserId(owner)).pending == u32::try_from(waiting).unwrap()).then_some(())
    });
    assert!(waiting >= 5, "{waiting}");
    let _ = cluster.output("scancel", &[&held.to_string(), &array]);
}

/// Whoever runs the tests submits their jobs.
fn job_owner() -> u32 {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap())
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn systemd_is_told_of_readiness_life_reload_and_end() {
    let cluster = Cluster::up_for_queuecastd(QUICK);
    let socket_path = cluster.path("run/notify");
    let socket = UnixDatagram::bind(&socket_path).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut command = cluster.prepare("queuecastd");
    command.env("NOTIFY_SOCKET", &socket_path).env("WATCHDOG_USEC", "2000000");
    let mut daemon = command.spawn().unwrap();
    let heard = |wanted: &str| {
        let mut buffer = [0; 4_096];
        let begin = Instant::now();
        loop {
            assert!(begin.elapsed() < PATIENCE, "{wanted} does not come");
            let length = socket.recv(&mut buffer).unwrap();
            let message = String::from_utf8_lossy(&buffer[..length]).into_owned();
            if message.lines().any(|line| line.starts_with(wanted)) {
                return message;
            }
        }
    };
    heard("READY=1");
    assert!(cluster.state_directory().join("snapshot").exists(), "ready means that there is a snapshot");
    assert!(heard("STATUS=").contains("ended jobs"));
    // Where the machine is busy with other work, single signs come late.
    wait_for("signs of life that come faster than every two seconds", PATIENCE, || {
        let begin = Instant::now();
        for _sign in 0..4 {
            heard("WATCHDOG=1");
        }
        (begin.elapsed() < Duration::from_secs(6)).then_some(())
    });
    signal(&daemon.id().to_string(), "HUP");
    assert!(heard("RELOADING=1").contains("MONOTONIC_USEC="));
    heard("READY=1");
    signal(&daemon.id().to_string(), "TERM");
    heard("STOPPING=1");
    assert!(daemon.wait().unwrap().success());
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn it_scores_its_forecasts_against_what_follows_and_status_shows_how_they_do() {
    let cluster = Cluster::up_for_queuecastd(&format!("{QUICK}[history]\nwindow = \"20d\"\n"));
    // Enough history to train on: the model's month within some days.
    cluster.import_model(50, 1500, 0.2);
    let _daemon = cluster.start_queuecastd();
    let name = cluster.output("sinfo", &["-h", "-o", "%R"]).lines().next().unwrap().to_owned();
    let forecasts = || {
        let output = cluster.run("queuecast", &["status", "--format", "json"]);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
        let partitions = report["partitions"].as_array()?;
        let partition = partitions.iter().find(|partition| partition["name"] == name.as_str())?;
        Some(partition["wait_forecasts"].clone()).filter(|forecasts| !forecasts.is_null())
    };
    let jobs = |forecasts: &serde_json::Value| forecasts["jobs_scored"].as_u64().unwrap();
    let before = wait_for("jobs of the past to be scored", PATIENCE, || forecasts().filter(|forecasts| jobs(forecasts) >= 200));
    assert_eq!(before["reliability"].as_array().unwrap().len(), 19, "{before}");
    assert!(before["coverage"]["0.95"].is_f64() && before["in_force"].is_string() && before["reason"].is_string(), "{before}");

    for _job in 0..24 {
        let output = cluster.run("sbatch", &["-t1", "-o/dev/null", "--wrap=sleep 2"]);
        assert!(output.status.success(), "{output:?}");
    }
    wait_for("the jobs that ran here to be scored", PATIENCE, || forecasts().filter(|forecasts| jobs(forecasts) >= jobs(&before) + 24));
    let text = cluster.output("queuecast", &["status"]);
    assert!(text.contains("Forecasts of waits") && text.contains("Reliability"), "{text}");
    wait_for("the log to say so", PATIENCE, || cluster.log("queuecastd").contains("forecasts of waits in force").then_some(()));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_wait_on_the_node_for_the_reserved_time_is_not_learnt_as_run_time() {
    let cluster = Cluster::up(&Options::with_plugins(QUICK));
    let _daemon = cluster.start_queuecastd();
    let until = now() + 60;
    let hold = until.to_string();
    let job = cluster.submit_as(Some(&[("QUEUECAST_HOLD_UNTIL", &hold)]), &["--time=5", "--ntasks=1", "--nodes=1"], "sleep 3").job();
    // The filter promises no reservation without a past, so that the record that it would leave is
    // written here.
    let asked = r#""asked":{"nodes":1,"cpus":1}"#;
    let record = format!(
        r#"{{"queuecast":{{"version":1,"generation":1,"at":{},"mode":"enforce",{asked},"written":{{"hold_until":{until}}}}}}}"#,
        now()
    );
    let _ = cluster.output("scontrol", &["update", &format!("JobId={}", job.id), &format!("AdminComment={}", cluster.sealed(&record, 0))]);
    assert_eq!(job.end(PATIENCE), "COMPLETED");
    assert!(job.printed().contains("waiting until"), "{}", job.printed());
    // The range that is most probable; a single run leaves some probability to every other one.
    let likeliest = |snapshot: &Snapshot<Vec<u8>>| {
        let partition = snapshot.partition("main")?.index;
        let asked = RunTimeQuestion { user: UserId(0), partition, unit: Unit::Nodes, count: 1, limit: None };
        let ranges = snapshot.run_time(&asked)?.ranges;
        let likeliest = ranges.iter().max_by(|one, other| one.probability().total_cmp(&other.probability()))?;
        Some((likeliest.lower().0, likeliest.upper().0))
    };
    let learnt = cluster.snapshot_with("its run time", |snapshot| likeliest(snapshot).is_some());
    // With its wait it would have run for half a minute and more; the end of three seconds may come
    // late on a machine that is busy.
    let (shortest, longest) = likeliest(&learnt).unwrap();
    assert!(shortest <= 10 && longest < 30, "{shortest} to {longest} s");
}

/// Reads the snapshot again and again until told to stop. Returns how often, and how many
/// generations it saw.
fn read_until(cluster: &Cluster, stop: &AtomicBool) -> (u64, u64) {
    let (mut reads, mut generations, mut last) = (0, 0, 0);
    while !stop.load(Ordering::Relaxed) {
        if let Some(snapshot) = cluster.snapshot() {
            assert!(snapshot.generation() >= last, "generations never go back");
            generations += u64::from(snapshot.generation() > last);
            last = snapshot.generation();
            reads += 1;
        }
        // Often enough to meet a file that is being replaced, and not the whole of a core.
        std::thread::sleep(Duration::from_micros(500));
    }
    (reads, generations)
}

/// Kills a daemon with SIGKILL `delay` after the trigger.
fn kill_after(daemon: Daemon, delay: Duration, trigger: impl Fn() -> bool) {
    let begin = Instant::now();
    while !trigger() {
        assert!(begin.elapsed() < PATIENCE, "the daemon publishes nothing");
        std::thread::sleep(Duration::from_micros(50));
    }
    std::thread::sleep(delay);
    // Dropping it kills it.
    drop(daemon);
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn killed_two_hundred_times_while_publishing_it_never_leaves_a_torn_snapshot() {
    const KILLS: u32 = 200;
    let cluster = Cluster::up_for_queuecastd(&format!("{QUICK}[history]\nwindow = \"1d\"\nmaximum_jobs = 1500\n"));
    // A history, so that a snapshot takes a while to write: the model's month within half a day, of
    // which the last hours are read.
    cluster.import_model(100, 5000, 0.015);
    let unfinished = cluster.state_directory().join("snapshot.new");
    let daemon = cluster.start_queuecastd();
    cluster.snapshot_with("a snapshot with history", |snapshot| ended_jobs(snapshot) > 1_000);
    drop(daemon);

    let stop = AtomicBool::new(false);
    let mut left_unfinished = 0;
    let (reads, generations) = std::thread::scope(|scope| {
        let reader = scope.spawn(|| read_until(&cluster, &stop));
        // The reader's own failure ends the test, not only the thread.
        for kill in 0..KILLS {
            let daemon = cluster.start_queuecastd();
            // Parts of one in an order that does not repeat soon: multiples of the golden ratio.
            // Most kills come up to 6 ms after the new file has appeared, every eighth at any
            // moment of the daemon's first second, every eighth after it has published.
            let part = (f64::from(kill) * 0.618_033_988_75).fract();
            if kill % 8 == 7 {
                // So that generations are seen also where writing takes longer than that.
                let before = cluster.snapshot().map(|snapshot| snapshot.generation());
                let is_published = || cluster.snapshot().map(|snapshot| snapshot.generation()) != before;
                kill_after(daemon, Duration::from_millis(5), is_published);
            } else if kill % 4 == 3 {
                kill_after(daemon, Duration::from_secs_f64(part), || true);
            } else {
                // The one before may have left its own; the daemon removes that first.
                let old = std::fs::metadata(&unfinished).and_then(|file| file.modified()).ok();
                let has_appeared = || std::fs::metadata(&unfinished).and_then(|file| file.modified()).is_ok_and(|new| Some(new) != old);
                kill_after(daemon, Duration::from_secs_f64(part * 0.006), has_appeared);
            }
            left_unfinished += u32::from(unfinished.exists());
            assert!(!reader.is_finished(), "the reader has failed");
        }
        stop.store(true, Ordering::Relaxed);
        reader.join().unwrap()
    });
    println!("{KILLS} kills, {left_unfinished} left an unfinished file; {reads} reads saw {generations} generations");
    assert!(left_unfinished >= 10, "only {left_unfinished} of {KILLS} kills came in the middle of writing");
    assert!(generations >= 10, "only {generations} generations were seen");

    let _daemon = cluster.start_queuecastd();
    let generation = cluster.snapshot().unwrap().generation();
    cluster.snapshot_with("publishing goes on", |snapshot| snapshot.generation() > generation);
}
