//! `queuecast doctor` on a real cluster: all is well where it is, and what Slurm would trip over is
//! found beforehand.

// What the tests share is outside of them, and fails as they do.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use end_to_end::{Cluster, Daemon, Options, built, install_plugins, wait_for};
use object::{Object, ObjectSection, ObjectSymbol};
use serde_json::Value;

const SOON: Duration = Duration::from_secs(180);

/// How long a node may take to answer on a machine that is busy.
const ANSWER: &str = "--timeout=180s";

/// Publishes every second, and serves no metrics, because several clusters run at once.
const QUICK: &str = "[snapshot]\ninterval = \"1s\"\n[metrics]\nlisten = \"off\"\n[policy.partition.main]\nmode = \"observe\"\n";

const CONTROLLER: &str = "Plugin inside slurmctld";

/// A cluster with plugins and daemon, whose slurmctld has shown the plugin a submission.
fn cluster() -> (Cluster, Daemon) {
    let cluster = Cluster::up(&Options::with_plugins(QUICK));
    let daemon = cluster.start_queuecastd();
    cluster.wait_for_snapshot();
    (cluster, daemon)
}

/// The report on the cluster.
fn report(cluster: &Cluster, arguments: &[&str]) -> Value {
    let output = cluster.run("queuecast", &[&["doctor"], arguments, &["--format", "json"]].concat());
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {arguments:?}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(output.status.code(), Some(i32::from(report["failed"].as_u64().unwrap() > 0)));
    report
}

/// The checks that are not well.
fn unwell(report: &Value) -> Vec<String> {
    let checks = report["checks"].as_array().unwrap().iter();
    checks
        .filter(|check| check["outcome"] != "ok")
        .map(|check| format!("{}, {}: {}", check["subject"], check["name"], check["found"]))
        .collect()
}

fn find<'report>(report: &'report Value, subject: &str, name: &str) -> &'report Value {
    let is_it = |check: &&Value| check["subject"] == subject && check["name"] == name;
    report["checks"].as_array().unwrap().iter().find(is_it).unwrap_or_else(|| panic!("no {subject}, {name} in {report:#}"))
}

/// Asserts the outcome of a check, and that what was found and what is advised hold these words.
#[track_caller]
fn holds(report: &Value, subject: &str, name: &str, outcome: &str, found: &str, advice: &str) {
    let check = find(report, subject, name);
    let has = |key: &str, words: &str| check[key].as_str().unwrap_or_default().contains(words);
    assert!(check["outcome"] == outcome && has("found", found) && has("advice", advice), "{check:#}");
}

/// Puts a copy of a plugin in its place that says of itself to be for a Slurm whose micro version
/// is higher by one. Returns that version.
fn patch_version(plugin: &Path) -> (u8, u8, u8) {
    let mut bytes = fs::read(plugin).unwrap();
    let file = object::File::parse(bytes.as_slice()).unwrap();
    let symbol = file.dynamic_symbols().find(|symbol| symbol.name() == Ok("plugin_version")).unwrap();
    let section = file.section_by_index(symbol.section_index().unwrap()).unwrap();
    let (begin, _) = section.file_range().unwrap();
    let place = usize::try_from(begin + symbol.address() - section.address()).unwrap();
    bytes[place] += 1;
    let version = (bytes[place + 2], bytes[place + 1], bytes[place]);
    let beside = plugin.with_extension("new");
    fs::write(&beside, &bytes).unwrap();
    fs::set_permissions(&beside, Permissions::from_mode(0o755)).unwrap();
    fs::rename(&beside, plugin).unwrap();
    version
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn all_is_well_on_a_good_cluster_and_on_all_of_its_nodes() {
    let (cluster, _daemon) = cluster();
    let report_when_read = wait_for("a report without a word", SOON, || {
        let report = report(&cluster, &[]);
        let is_well = unwell(&report).is_empty();
        if !is_well {
            println!("{:#?}", unwell(&report));
        }
        is_well.then_some(report)
    });
    assert_eq!((&report_when_read["role"], &report_when_read["role_because"]), (&"controller".into(), &"slurmctld runs here".into()));
    holds(&report_when_read, CONTROLLER, "plugin in use", "ok", "plugins/job_submit_queuecast.so loaded", "");
    holds(&report_when_read, "Versions", "slurmd of the nodes", "ok", "8 nodes on Slurm", "");
    holds(&report_when_read, "Configuration", "partitions in it", "ok", "slurmctld knows main", "");
    let output = cluster.run("queuecast", &["doctor"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.ends_with("\n0 failed, 0 warnings\n"), "{text}");
    for role in ["login", "node"] {
        let report = report(&cluster, &["--role", role]);
        assert_eq!(unwell(&report), [""; 0], "{role}");
    }

    // The nodes, by jobs of their own.
    let path = format!("PATH={}:{}", built().display(), std::env::var("PATH").unwrap());
    let through = format!("srun --nodelist={{node}} --nodes=1 --quiet env {path}");
    let asked = report(&cluster, &["--nodes", "ALL", "--through", &through, ANSWER]);
    for number in 1..=8 {
        holds(&asked, "Nodes", &format!("n{number}"), "ok", "all is well", "");
    }

    // One with another configuration, without the plugin, and one that gets no jobs.
    let other = cluster.path("other");
    fs::create_dir(&other).unwrap();
    let conf = fs::read_to_string(cluster.path("etc/slurm.conf")).unwrap();
    let conf: Vec<&str> = conf.lines().filter(|line| !line.starts_with("PlugStackConfig=")).collect();
    fs::write(other.join("slurm.conf"), conf.join("\n")).unwrap();
    let elsewhere = format!("{through} SLURM_CONF={}", other.join("slurm.conf").display());
    let asked = report(&cluster, &["--nodes", "n3", "--through", &elsewhere, ANSWER]);
    holds(&asked, "Nodes", "n3", "failed", "SPANK plugin, plugstack.conf: there is no ", "add a line `optional spank_queuecast.so`");
    holds(&asked, "Nodes", "n3", "failed", "other/slurm.conf is not the ", "install one slurm.conf on all hosts");

    let _ = cluster.output("scontrol", &["update", "NodeName=n5", "State=DRAIN", "Reason=test"]);
    let asked = report(&cluster, &["--nodes", "n[4-5]", "--through", &through, "--timeout", "45s"]);
    holds(&asked, "Nodes", "n4", "ok", "all is well", "");
    holds(&asked, "Nodes", "n5", "failed", "no answer within 45 s", "srun --nodelist=n5");
    // What did not answer leaves no job behind.
    wait_for("an empty queue", SOON, || cluster.output("squeue", &["--noheader"]).is_empty().then_some(()));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_plugin_for_another_version_is_found_before_slurmctld_refuses_it() {
    let (cluster, _daemon) = cluster();
    let plugin = cluster.path("plugins/job_submit_queuecast.so");
    let (major, minor, micro) = patch_version(&plugin);
    let version = format!("{major}.{minor:02}.{micro}");

    // slurmctld goes on with the plugin that it has.
    let report_before = report(&cluster, &[]);
    let installed = format!("install queuecast-plugins-slurm-{major}.{minor:02}.{}", micro - 1);
    holds(
        &report_before,
        CONTROLLER,
        "plugin",
        "failed",
        &format!("was built for Slurm {version}, but the installed slurmctld is"),
        &installed,
    );
    holds(&report_before, CONTROLLER, "plugin", "failed", "slurmctld refuses it and does not start", "before slurmctld is restarted");
    holds(&report_before, CONTROLLER, "plugin in use", "warning", "has been replaced or removed since", "restart slurmctld");
    holds(&report_before, "Versions", "slurmctld", "ok", "runs", "");
    let _ = cluster.output("sbatch", &["-t1", "-o/dev/null", "--wrap=true"]);

    // And does not come back, as was said.
    cluster.daemon("stop", "slurmctld");
    assert!(!cluster.control("start", &["slurmctld"]).status.success());
    let log = cluster.log("slurmctld");
    let said: Vec<&str> = log.lines().filter(|line| line.contains("Incompatible Slurm plugin") || line.contains("fatal")).collect();
    println!("{}", said.join("\n"));
    assert!(said.iter().any(|line| line.contains(&format!("job_submit_queuecast.so version ({version})"))), "{said:?}");
    assert!(said.iter().any(|line| line.contains("failed to initialize job_submit plugin")), "{said:?}");
    // On a busy machine its process may take a while to end.
    let report_after = wait_for("slurmctld to have ended", SOON, || {
        let report = report(&cluster, &["--role", "controller"]);
        let is_there = find(&report, "Versions", "slurmctld")["found"].as_str().unwrap_or_default().contains("runs as process");
        (!is_there).then_some(report)
    });
    holds(&report_after, "Versions", "slurmctld", "failed", "slurmctld gave no answer", "systemctl start slurmctld");
    holds(&report_after, CONTROLLER, "plugin", "failed", &version, &installed);
    holds(&report_after, CONTROLLER, "plugin in use", "not_checked", "slurmctld does not run here", "");

    // The right one again, as was advised.
    assert!(install_plugins(&cluster.path("plugins")).status().unwrap().success());
    cluster.daemon("start", "slurmctld");
    let report_mended = report(&cluster, &[]);
    holds(&report_mended, CONTROLLER, "plugin", "ok", "is for Slurm", "");
    holds(&report_mended, CONTROLLER, "plugin in use", "ok", "loaded", "");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn what_is_wrong_with_files_and_daemons_is_found() {
    let (cluster, daemon) = cluster();
    let state = cluster.state_directory();
    fs::set_permissions(&state, Permissions::from_mode(0o777)).unwrap();
    let spank = cluster.path("plugins/spank_queuecast.so");
    fs::remove_file(&spank).unwrap();
    let found = report(&cluster, &[]);
    holds(&found, "State directory", "directory", "failed", "(mode 777)", "chmod go-w");
    holds(&found, "SPANK plugin", "plugin", "failed", &format!("there is no {}", spank.display()), "install queuecast-plugins-slurm-");
    holds(&found, "queuecastd", "process", "ok", "process", "");
    // Slurm says the same of the plugin in its own way: an option that sbatch does not know.
    let refused = cluster.run("sbatch", &["--auto-mold", "-t1", "-o/dev/null", "--wrap=true"]);
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("auto-mold"), "{refused:?}");

    // A daemon and a slurmctld that are gone, which leaves what needs neither.
    drop(daemon);
    cluster.daemon("stop", "slurmctld");
    fs::set_permissions(&state, Permissions::from_mode(0o755)).unwrap();
    assert!(install_plugins(&cluster.path("plugins")).status().unwrap().success());
    fs::remove_file(state.join("snapshot")).unwrap();
    let found = report(&cluster, &[]);
    holds(&found, "Versions", "slurmctld", "failed", "slurmctld gave no answer", "systemctl start slurmctld");
    holds(&found, "queuecastd", "process", "failed", "none runs on", "systemctl start queuecastd");
    holds(&found, "State directory", "snapshot", "failed", "none in", "systemctl start queuecastd");
    holds(&found, "Configuration", "partitions in it", "ok", "slurm.conf knows main", "");
    assert_eq!(found["role_because"].as_str().map(|because| because.starts_with("slurmctld is installed here")), Some(true));

    // A configuration that libslurm does not understand leaves what is read without it.
    let conf = cluster.path("etc/slurm.conf");
    let text = fs::read_to_string(&conf).unwrap();
    fs::write(&conf, format!("{text}\nNoSuchKey=1\n")).unwrap();
    let found = report(&cluster, &[]);
    holds(&found, "Versions", "libslurm", "failed", "NoSuchKey", "make slurm.conf good");
    holds(&found, CONTROLLER, "plugin", "ok", "is for Slurm", "");
    holds(&found, "SPANK plugin", "plugin", "ok", "is for Slurm", "");
}
