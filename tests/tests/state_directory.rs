//! A real slurmctld beside a daemon, while files of the state directory are spoilt, and with users'
//! jobs private.

#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests

use end_to_end::{Cluster, Options, wait_for};
use std::fs::{self, OpenOptions};
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(180);
/// Publishes every second, decides about whatever is submitted, and serves no metrics, because
/// several clusters run at once.
const QUICK: &str = "[snapshot]\ninterval = \"1s\"\n[metrics]\nlisten = \"off\"\n[policy]\nmode = \"enforce\"\nmold = \"always\"\n";

/// The submissions that `queuecast status` knows of.
fn submissions(cluster: &Cluster) -> u64 {
    let output = cluster.run("queuecast", &["status", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    report["counters"]["submissions"].as_u64().unwrap_or(0)
}

/// The process of slurmctld.
fn slurmctld(cluster: &Cluster) -> String {
    let process = fs::read_to_string(cluster.path("run/slurmctld.process")).unwrap();
    process.split_whitespace().next().unwrap().to_owned()
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn slurmctld_outlives_truncated_and_overwritten_files_and_counts_on() {
    let cluster = Cluster::up(&Options::with_plugins(QUICK));
    let _daemon = cluster.start_queuecastd();
    let state = cluster.state_directory();
    wait_for("a snapshot in memory", PATIENCE, || state.join("snapshot-memory").exists().then_some(()));
    let before = slurmctld(&cluster);
    let (done, spoils) = (AtomicBool::new(false), AtomicU32::new(0));
    let submit = || {
        let output = cluster.run("sbatch", &["-N2", "-t5", "--hold", "-o/dev/null", "--wrap=true"]);
        assert!(output.status.success(), "{output:?}");
    };
    std::thread::scope(|scope| {
        let submitters: Vec<_> = (0..4).map(|_| scope.spawn(|| (0..15).for_each(|_| submit()))).collect();
        scope.spawn(|| {
            for round in 0.. {
                for name in ["snapshot", "snapshot-memory", "filter-counters"] {
                    let path = state.join(name);
                    if round % 2 == 0 {
                        let _ = OpenOptions::new().write(true).truncate(true).open(&path);
                    } else {
                        let _ = fs::copy("/bin/true", &path);
                    }
                }
                let spoilt = spoils.fetch_add(1, Ordering::Relaxed) + 1;
                if spoilt >= 100 && done.load(Ordering::Relaxed) {
                    break;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        submitters.into_iter().for_each(|submitter| submitter.join().unwrap());
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(slurmctld(&cluster), before);
    assert!(fs::metadata(format!("/proc/{before}")).is_ok(), "slurmctld has died: {}", cluster.log("slurmctld"));
    // What was counted meanwhile is told with the first submission after a good hand-over, of which
    // there is one each second, but later on a machine that is busy: then the next one tells it.
    let mut submitted = 60;
    wait_for("all submissions counted", PATIENCE, || {
        std::thread::sleep(Duration::from_secs(4));
        submit();
        submitted += 1;
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(15) {
            if submissions(&cluster) == submitted {
                return Some(());
            }
            std::thread::sleep(Duration::from_millis(250));
        }
        None
    });
    // It is the daemon's memory that slurmctld has mapped, and none of its files.
    let maps = fs::read_to_string(format!("/proc/{before}/maps")).unwrap();
    assert!(maps.contains("memfd:queuecast-snapshot") && !maps.contains(state.to_str().unwrap()), "{maps}");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn users_whose_jobs_are_private_see_their_own_and_get_forecasts() {
    let options = Options::with_plugins(QUICK).option("conf-line", "PrivateData=jobs,users");
    let cluster = Cluster::up(&options);
    // Nobody may read the binaries in root's own directory.
    let program = cluster.path("queuecast-for-users");
    fs::copy(end_to_end::built().join("queuecast"), &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let as_user = |user: &str, arguments: &[&str]| {
        let mut command = cluster.prepare("setpriv");
        command.args(["--reuid", user, "--regid", user, "--clear-groups"]).arg(&program).args(arguments);
        let output = command.output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    for user in ["games", "man"] {
        let mut command = cluster.prepare("setpriv");
        command.args(["--reuid", user, "--regid", user, "--clear-groups", "sbatch", "-N2", "-t5", "--hold", "-o/dev/null"]);
        let output = command.arg("--wrap=true").output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let _daemon = cluster.start_queuecastd();
    let state = cluster.state_directory();
    let mode = |name: &str| fs::metadata(state.join(name)).map(|metadata| metadata.permissions().mode() & 0o777).ok();
    let queue = |user: &str| as_user(user, &["queue", "--format", "json"]);
    let asked = |user: &str, path: &str, body: &[&str]| -> serde_json::Value {
        let mut command = cluster.prepare("setpriv");
        command.args(["--reuid", user, "--regid", user, "--clear-groups", "curl", "--silent", "--unix-socket"]);
        command.arg(state.join("api-socket")).arg(format!("http://localhost{path}")).args(body);
        serde_json::from_slice(&command.output().unwrap().stdout).unwrap()
    };
    wait_for("a plan", PATIENCE, || queue("games").contains("\"games\"").then_some(()));
    assert_eq!((mode("snapshot"), mode("snapshot-public")), (Some(0o640), Some(0o644)));
    for (own, other) in [("games", "man"), ("man", "games")] {
        let said = queue(own);
        assert!(said.contains(&format!("\"{own}\"")) && !said.contains(&format!("\"{other}\"")), "{said}");
        assert!(said.contains("users' jobs are private on this cluster"), "{said}");
        let status = as_user(own, &["status"]);
        assert!(status.contains("can act on the snapshot"), "{status}");
        let predicted = as_user(own, &["predict", "-N2", "-t5", "--format", "json"]);
        assert!(predicted.contains("users' jobs are private") && predicted.contains("\"nodes\""), "{predicted}");
        let listed = asked(own, "/v1/queue", &[]);
        assert_eq!((listed["jobs"].as_array().unwrap().len(), listed["pending_jobs"].as_u64()), (1, Some(2)), "{listed}");
        assert!(listed["notes"].to_string().contains("users' jobs are private on this cluster"), "{listed}");
        let forecast = asked(own, "/v1/predict", &["--data", "{\"nodes\": 2, \"limit_s\": 300}"]);
        assert!(forecast["job"]["user"] == listed["jobs"][0]["user"], "{forecast}, {listed}");
        assert!(forecast["notes"].to_string().contains("users' jobs are private on this cluster"), "{forecast}");
    }
    // Root sees all.
    assert_eq!(asked("root", "/v1/queue", &[])["jobs"].as_array().unwrap().len(), 2);
    let all = cluster.output("queuecast", &["queue", "--format", "json"]);
    assert!(all.contains("\"games\"") && all.contains("\"man\""), "{all}");
}
