//! The private cluster itself, and the facts about Slurm that the harness leans on.

use end_to_end::{Cluster, Options, skipped, wait_for};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(30);

#[test]
fn a_job_runs_and_is_accounted_for() {
    if skipped() {
        return;
    }
    let cluster = Cluster::up(&Options::plain());
    let job = cluster.submit(&["-N2"], "srun hostname").job();
    assert_eq!(job.end(SOON), "COMPLETED");
    assert_eq!(job.printed().lines().count(), 2);
    wait_for("the job in sacct", SOON, || {
        let shown = cluster.output("sacct", &["-X", "-n", "-P", "-j", &job.id, "-o", "User,NNodes,State,End"]);
        (shown.starts_with("root|2|COMPLETED|") && !shown.ends_with("Unknown")).then_some(())
    });
}

#[test]
fn two_clusters_run_side_by_side_and_leave_nothing() {
    if skipped() {
        return;
    }
    let [one, other] = [2, 3].map(|nodes| Cluster::up(&Options::plain().option("nodes", &nodes.to_string())));
    let nodes = |cluster: &Cluster| cluster.output("sinfo", &["-h", "-o", "%D"]);
    assert_eq!((nodes(&one).as_str(), nodes(&other).as_str()), ("2", "3"));
    let directories = [one.directory().to_owned(), other.directory().to_owned()];
    drop((one, other));
    for directory in directories {
        let directory = directory.display().to_string();
        let left = std::fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| std::fs::read(entry.ok()?.path().join("environ")).ok())
            .filter(|environment| String::from_utf8_lossy(environment).contains(&format!("SLURM_CONF={directory}")))
            .count();
        assert_eq!(left, 0, "processes of {directory} are left");
    }
}

#[test]
fn daemons_are_stopped_and_started_again_one_by_one() {
    if skipped() {
        return;
    }
    let cluster = Cluster::up(&Options::plain().option("nodes", "2"));
    for daemon in ["slurmctld", "slurmdbd", "mariadb"] {
        cluster.daemon("stop", daemon);
        cluster.daemon("start", daemon);
    }
    cluster.kill("slurmctld");
    cluster.daemon("start", "slurmctld");
    let job = cluster.submit(&[], "true").job();
    assert_eq!(job.end(SOON), "COMPLETED");
}
