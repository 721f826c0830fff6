//! The private cluster itself, and the facts about Slurm that it leans on.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use end_to_end::{Cluster, Options, project, wait_for};
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(120);

fn small() -> Options {
    Options::plain().option("nodes", "2")
}

fn ci_cluster(arguments: &[&str]) -> Output {
    Command::new(project().join("ci/cluster")).args(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Process ids, and names, of what runs in the environment of a cluster or holds a file of it open.
fn processes(directory: &Path) -> Vec<String> {
    let own = std::process::id().to_string();
    let configuration = format!("SLURM_CONF={}", directory.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(process) = entry.file_name().to_str().filter(|name| name.parse::<u32>().is_ok() && *name != own).map(str::to_owned) else {
            continue;
        };
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        let mut files = std::fs::read_dir(entry.path().join("fd")).into_iter().flatten().flatten();
        let holds = files.any(|file| std::fs::read_link(file.path()).is_ok_and(|file| file.starts_with(directory)));
        if holds || String::from_utf8_lossy(&environment).contains(&configuration) {
            let name = std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            found.push(format!("{process} {}", name.trim()));
        }
    }
    found
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_job_runs_and_is_accounted_for() {
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
#[ignore = "needs root and Slurm: ci/test runs it"]
fn jobs_of_other_users_run_under_their_names_and_account() {
    let cluster = Cluster::up(&small());
    let jobs = cluster.path("jobs");
    for user in ["games", "news"] {
        let identity = [format!("--reuid={user}"), format!("--output={}/{user}.out", jobs.display())];
        let submit = ["--regid=60", "--clear-groups", &identity[0], "sbatch", "--parsable", "-N2", &identity[1], "--wrap", "srun id -un"];
        let job = cluster.prepare("setpriv").args(submit).current_dir(&jobs).output().unwrap();
        assert!(job.status.success(), "{}", said(&job));
        let job = String::from_utf8(job.stdout).unwrap().trim().to_owned();
        let printed = wait_for("both tasks' output", SOON, || {
            std::fs::read_to_string(jobs.join(format!("{user}.out"))).ok().filter(|printed| printed.lines().count() == 2)
        });
        assert_eq!(printed, format!("{user}\n{user}\n"));
        wait_for("the job in sacct", SOON, || {
            let shown = cluster.output("sacct", &["-X", "-n", "-P", "-j", &job, "-o", "User,Account,State"]);
            (shown == format!("{user}|main|COMPLETED")).then_some(())
        });
    }
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn two_clusters_run_side_by_side_and_leave_nothing() {
    let [one, other] = [2, 3].map(|nodes| Cluster::up(&Options::plain().option("nodes", &nodes.to_string())));
    let nodes = |cluster: &Cluster| cluster.output("sinfo", &["-h", "-o", "%D"]);
    assert_eq!((nodes(&one).as_str(), nodes(&other).as_str()), ("2", "3"));
    for cluster in [&one, &other] {
        let job = cluster.submit(&["-N2"], "srun sleep 600").job();
        let _ = job.wait(&["RUNNING"], SOON);
        wait_for("the step", SOON, || cluster.output("squeue", &["-h", "-s", "-o", "%i"]).contains(&format!("{}.0", job.id)).then_some(()));
        let task_runs = || processes(cluster.directory()).iter().any(|process| process.ends_with(" sleep"));
        wait_for("the task", SOON, || task_runs().then_some(()));
    }
    let [directory, other_directory] = [&one, &other].map(|cluster| cluster.directory().to_owned());
    drop(one);
    wait_for("nothing to be left", SOON, || processes(&directory).is_empty().then_some(()));
    assert!(other.control("status", &[]).status.success());
    drop(other);
    wait_for("nothing to be left", SOON, || processes(&other_directory).is_empty().then_some(()));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn clusters_that_come_up_at_once_claim_ports_of_their_own_and_have_the_same_accounts() {
    let clusters: Vec<Cluster> = std::thread::scope(|scope| {
        let threads = [(); 3].map(|()| scope.spawn(|| Cluster::up(&small())));
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let ports = |cluster: &Cluster| {
        let text = std::fs::read_to_string(cluster.path("etc/ports")).unwrap();
        let (first, count) = text.trim().split_once(' ').unwrap();
        let first: u32 = first.parse().unwrap();
        first..first + count.parse::<u32>().unwrap()
    };
    let claim = |first: u32| Path::new("/tmp/queuecast-ports-0").join(first.to_string());
    let accounts = |cluster: &Cluster| cluster.output("sacctmgr", &["-n", "-P", "list", "associations", "format=account,user"]);
    let password = |cluster: &Cluster| std::fs::read(cluster.path("etc/database-password")).unwrap();
    for (place, cluster) in clusters.iter().enumerate() {
        assert_eq!(std::fs::read_link(claim(ports(cluster).start)).unwrap(), cluster.directory());
        assert!(accounts(cluster).lines().any(|row| row == "main|games"), "{}", accounts(cluster));
        for other in &clusters[..place] {
            let (own, others) = (ports(cluster), ports(other));
            assert!(own.end <= others.start || others.end <= own.start, "{own:?} and {others:?}");
            assert_eq!(accounts(cluster), accounts(other));
            assert_ne!(password(cluster), password(other));
        }
    }
    // The next one that chooses ports takes away the claims of those that are gone.
    let gone = clusters.iter().map(|cluster| ports(cluster).start).collect::<Vec<_>>();
    drop(clusters);
    let next = Cluster::up(&small());
    let left = gone.into_iter().filter(|first| *first != ports(&next).start).find(|first| claim(*first).symlink_metadata().is_ok());
    assert_eq!(left, None, "the claim of a cluster that is gone");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_cluster_of_another_release_of_slurm_runs_beside_the_machines_own() {
    if let Some(release) = std::env::var_os("QUEUECAST_SLURM") {
        println!("skipped: this runs under Slurm {} of another Debian already", release.display());
        return;
    }
    const RELEASE: &str = "26.05";
    let cluster = Cluster::up(&small().option("slurm", RELEASE));
    let run = |arguments: &[&str]| {
        let output = cluster.control("run", arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    assert!(run(&["scontrol", "--version"]).contains(&format!(" {RELEASE}.")));
    assert_eq!(run(&["srun", "-N2", "scontrol", "--version"]).lines().filter(|line| line.contains(&format!(" {RELEASE}."))).count(), 2);
    let own = Command::new("slurmctld").arg("-V").output().unwrap();
    let own = String::from_utf8_lossy(&own.stdout);
    assert!(own.contains("slurm") && !own.contains(&format!(" {RELEASE}.")), "the machine's own commands are as they were: {own}");
    // Nothing outside sees the other release's files, and the shell is not told that it could.
    let environment = cluster.control("env", &[]);
    assert!(!environment.status.success() && said(&environment).contains("ci/cluster run"), "{environment:?}");
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(&format!("slurm-roots/{RELEASE}")), "{mounts}");
    let changed = cluster.control("up", &["--slurm", "24.11"]);
    assert!(changed.status.code() == Some(2) && said(&changed).contains("--slurm cannot change"), "{changed:?}");
    let directory = cluster.directory().to_owned();
    drop(cluster);
    wait_for("nothing to be left", SOON, || processes(&directory).is_empty().then_some(()));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn daemons_are_stopped_and_started_again_one_by_one() {
    let cluster = Cluster::up(&small());
    let daemons = ["slurmctld", "slurmdbd", "mariadb", "munged", "slurmd", "n2"].map(|daemon| ("stop", daemon));
    for (verb, daemon) in daemons.into_iter().chain([("kill", "slurmctld"), ("kill", "slurmdbd"), ("kill", "mariadb")]) {
        cluster.daemon(verb, daemon);
        let status = cluster.control("status", &[]);
        assert_eq!(status.status.code(), Some(1), "{verb} {daemon}");
        assert!(String::from_utf8_lossy(&status.stdout).contains(" stopped "));
        cluster.daemon("start", daemon);
        assert!(cluster.control("status", &[]).status.success(), "{verb} {daemon}");
    }
    let job = cluster.submit(&[], "true").job();
    assert_eq!(job.end(SOON), "COMPLETED");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_reconfigured_slurmctld_is_still_known() {
    let cluster = Cluster::up(&small());
    assert!(cluster.control("reconfigure", &[]).status.success());
    assert_eq!(cluster.submit(&[], "true").job().end(SOON), "COMPLETED");
    assert!(cluster.control("status", &[]).status.success());
    cluster.daemon("restart", "slurmctld");
    assert_eq!(cluster.submit(&[], "true").job().end(SOON), "COMPLETED");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_stopped_cluster_comes_up_again_with_its_jobs_and_records() {
    let cluster = Cluster::up(&small());
    let ended = cluster.submit(&[], "true").job();
    assert_eq!(ended.end(SOON), "COMPLETED");
    let held = cluster.submit(&["--hold"], "true").job();
    let again = cluster.control("up", &[]);
    assert!(again.status.success() && said(&again).contains("runs already"), "{}", said(&again));
    assert!(!cluster.control("up", &["--nodes", "3"]).status.success());
    for _ in 0..2 {
        assert!(cluster.control("down", &[]).status.success());
    }
    let up = cluster.control("up", &["--cpus", "11664"]);
    assert!(up.status.success(), "{}", said(&up));
    assert_eq!(cluster.output("sinfo", &["-h", "-o", "%D %c"]), "2 11664");
    assert_eq!(held.field("JobState"), "PENDING");
    // slurmctld may hand the record over only now.
    let recorded = || cluster.output("sacct", &["-X", "-n", "-P", "-j", &ended.id, "-o", "State"]);
    wait_for("the record of the job", SOON, || (recorded() == "COMPLETED").then_some(()));
    // More tasks than the machine has processors: what the nodes claim counts.
    let wide = cluster.submit(&["-n", "20000"], "echo $SLURM_NTASKS").job();
    assert_eq!(wide.end(SOON), "COMPLETED");
    assert_eq!(wide.printed(), "20000\n");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn the_job_submit_plugin_is_switched_on_a_running_cluster() {
    let cluster = Cluster::up(&small());
    let script = cluster.path("refuse.lua");
    let refuse = "function slurm_job_submit(job, parts, uid)\n slurm.log_user('refused by the script')\n return slurm.ERROR\nend\n\
                  function slurm_job_modify(job, rec, parts, uid)\n return slurm.SUCCESS\nend\n";
    std::fs::write(&script, refuse).unwrap();
    let held = cluster.submit(&["--hold"], "true").job();
    cluster.reconfigure(&["--job-submit-plugin", "lua"]);
    assert_eq!(cluster.submit(&[], "true").job().end(SOON), "COMPLETED");
    cluster.reconfigure(&["--lua-script", script.to_str().unwrap()]);
    assert!(cluster.submit(&[], "true").refusal().contains("refused by the script"));
    cluster.reconfigure(&["--job-submit-plugin", "none"]);
    assert_eq!(cluster.submit(&[], "true").job().end(SOON), "COMPLETED");
    assert_eq!(held.field("JobState"), "PENDING");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn partitions_and_lines_of_slurm_conf_are_the_callers() {
    let options = small()
        .option("partition", "short MaxTime=30")
        .option("partition", "single Nodes=n2 MaxTime=60")
        .option("conf-line", "KillWait=7")
        .option("conf-line", "MaxJobCount=500")
        .option("environment", "COLOUR=deep blue");
    let cluster = Cluster::up(&options);
    assert_eq!(cluster.output("sinfo", &["-h", "-o", "%P %D %l"]), "short* 2 30:00\nsingle 1 1:00:00");
    let shown = cluster.output("scontrol", &["show", "config"]);
    let value = |key: &str| shown.lines().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix("= ")).unwrap().to_owned();
    assert_eq!((value("KillWait").as_str(), value("MaxJobCount").as_str()), ("7 sec", "500"));
    let shell = format!("{}\necho $COLOUR at $SLURM_CONF", String::from_utf8(cluster.control("env", &[]).stdout).unwrap());
    assert_eq!(cluster.output("bash", &["-c", &shell]), format!("deep blue at {}", cluster.path("etc/slurm.conf").display()));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_process_that_took_over_a_process_id_is_left_alone() {
    let cluster = Cluster::up(&small());
    cluster.daemon("stop", "n2");
    let mut bystander = Command::new("sleep").arg("600").spawn().unwrap();
    let record = std::fs::read_to_string(cluster.path("run/n1.process")).unwrap();
    let (_, identity) = record.split_once(' ').unwrap();
    std::fs::write(cluster.path("run/n2.process"), format!("{} {identity}", bystander.id())).unwrap();
    let status = String::from_utf8(cluster.control("status", &[]).stdout).unwrap();
    assert!(status.lines().any(|line| line.starts_with("n2 ") && line.contains(" stopped ")), "{status}");
    assert!(cluster.control("down", &[]).status.success());
    assert!(bystander.try_wait().unwrap().is_none());
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_cluster_that_cannot_start_says_why_and_leaves_nothing() {
    let directory = tempfile::Builder::new().prefix("queuecast-").tempdir().unwrap();
    std::fs::set_permissions(directory.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let up = ci_cluster(&["up", directory.path().to_str().unwrap(), "--nodes", "1", "--job-submit-plugin", "nonesuch"]);
    assert_eq!(up.status.code(), Some(1));
    assert!(said(&up).contains("slurmctld ended while it was starting") && said(&up).contains("job_submit/nonesuch"), "{}", said(&up));
    wait_for("nothing to be left", SOON, || processes(directory.path()).is_empty().then_some(()));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn directories_that_cannot_hold_a_cluster_are_refused() {
    let long = format!("/tmp/{}", "x".repeat(90));
    for (directory, part) in [
        ("/tmp/a cluster", "has no quotes"),
        (long.as_str(), "too long by"),
        ("/usr", "new or an empty directory"),
        ("/root/cluster", "closed to other users"),
    ] {
        let up = ci_cluster(&["up", directory]);
        assert_eq!(up.status.code(), Some(2), "{directory}");
        assert!(said(&up).contains(part), "{directory}: {}", said(&up));
    }
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn an_ordinary_user_has_a_cluster_for_jobs_of_their_own() {
    let parent = tempfile::Builder::new().prefix("queuecast-").tempdir().unwrap();
    std::fs::set_permissions(parent.path(), std::os::unix::fs::PermissionsExt::from_mode(0o1777)).unwrap();
    let directory = parent.path().join("cluster");
    // The project itself may lie where only root comes.
    assert!(Command::new("cp").arg("-r").arg(project().join("ci")).arg(parent.path()).status().unwrap().success());
    let as_games = |arguments: &[&str]| {
        let identity = ["--reuid=games", "--regid=60", "--clear-groups", "ci/cluster"];
        Command::new("setpriv").args(identity).args(arguments).current_dir(parent.path()).output().unwrap()
    };
    let directory_text = directory.to_str().unwrap();
    let up = as_games(&["up", directory_text, "--nodes", "1"]);
    let ran = as_games(&["run", directory_text, "srun", "id", "-un"]);
    let down = as_games(&["down", directory_text, "--remove"]);
    assert!(up.status.success(), "{}", said(&up));
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "games\n", "{}", said(&ran));
    assert!(down.status.success() && !directory.exists(), "{}", said(&down));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn the_package_installer_is_silent_where_nothing_is_missing() {
    let output = Command::new(project().join("ci/packages")).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{}", said(&output));
    let missing = Command::new(project().join("ci/packages")).args(["--check", "--extra", "no-such-package"]).output().unwrap();
    assert_eq!((missing.status.code(), said(&missing).trim()), (Some(1), "ci/packages: missing: no-such-package"));
}
