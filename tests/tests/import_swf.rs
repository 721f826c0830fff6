//! `queuecast import-swf` into a real slurmdbd, seen through Slurm's own `sacct` and `sacctmgr`.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::process::Output;
use std::time::{Duration, Instant};

use end_to_end::{Cluster, IMPORTED, Options, PATIENCE, wait_for};
use simulator::swf::{Log, Reader, Record, Status};

/// Four jobs on a machine of 16 processors, four to a node: one that completed, one that failed,
/// one that was cancelled while it ran, one that was cancelled before; then one whose wait is not
/// known and one that is too large. The last end is at second 9,100.
const LOG: &str = "\
; MaxNodes: 4
; MaxProcs: 16
; Queue: 1 express
1 0 60 3600 6 -1 -1 8 7200 -1 1 12 3 7 1 -1 -1 -1
2 100 100 900 1 -1 -1 1 90 -1 0 12 3 7 1 -1 -1 -1
3 5000 100 4000 16 -1 -1 16 -1 -1 5 7 -1 -1 1 -1 -1 -1
4 6000 300 -1 -1 -1 -1 4 600 -1 5 7 3 -1 1 -1 -1 -1
5 6000 -1 300 4 -1 -1 4 600 -1 1 7 3 -1 1 -1 -1 -1
6 6000 0 300 17 -1 -1 17 600 -1 1 7 3 -1 1 -1 -1 -1
";
const ENDS_AT: i64 = 1_750_000_000;

/// A cluster, and beside it one that is there for imports alone.
fn cluster() -> Cluster {
    let cluster = Cluster::up(&Options::plain());
    add_cluster(&cluster, IMPORTED);
    cluster
}

fn add_cluster(cluster: &Cluster, name: &str) {
    let _ = cluster.output("sacctmgr", &["--immediate", "add", "cluster", name]);
}

/// Imports into a cluster.
fn import(cluster: &Cluster, name: &str, arguments: &[&str]) -> Output {
    std::fs::write(cluster.path("log/tiny.swf"), LOG).unwrap();
    cluster.run("queuecast", &[&["import-swf", "--into", "slurmdbd", "--cluster", name], arguments].concat())
}

fn import_tiny(cluster: &Cluster, arguments: &[&str]) -> Output {
    import_tiny_into(cluster, IMPORTED, arguments)
}

fn import_tiny_into(cluster: &Cluster, name: &str, arguments: &[&str]) -> Output {
    let ends_at = format!("@{ENDS_AT}");
    import(cluster, name, &[&["tiny.swf", "--ends-at", &ends_at], arguments].concat())
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// What sacct shows of the imported jobs.
fn sacct(cluster: &Cluster, format: &str) -> Vec<String> {
    sacct_of(cluster, IMPORTED, format)
}

fn sacct_of(cluster: &Cluster, name: &str, format: &str) -> Vec<String> {
    let mut command = cluster.prepare("sacct");
    command.args(["--clusters", name, "-X", "-a", "-n", "-P", "-S", "2000-01-01", "-o", format]).env("SLURM_TIME_FORMAT", "%s");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let mut lines: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_log_becomes_records_of_the_past() {
    let cluster = cluster();

    let output = import_tiny(&cluster, &["--format", "json"]);
    assert!(output.status.success(), "{}", said(&output));
    let summary = said(&output);
    for part in [r#""jobs":4"#, r#""users":2"#, r#""skipped":{"too_large":1,"wait_unknown":1}"#, r#""new_accounts":2"#] {
        assert!(summary.contains(part), "{part} in {summary}");
    }
    let shown = sacct(&cluster, "JobID,JobName,User,Account,Partition,ReqCPUS,NNodes,Timelimit,State,ExitCode,Submit,Eligible,Start,End");
    let partition =
        cluster.output("sinfo", &["-h", "-o", "%P"]).lines().find(|line| line.ends_with('*')).unwrap().trim_end_matches('*').to_owned();
    let at = |second: i64| ENDS_AT - 9_100 + second;
    assert_eq!(
        shown,
        [
            format!("50000000|app7|u12|g3|{partition}|8|2|02:00:00|COMPLETED|0:0|{}|{}|{}|{}", at(0), at(0), at(60), at(3660)),
            format!("50000001|app7|u12|g3|{partition}|1|1|00:02:00|FAILED|1:0|{}|{}|{}|{}", at(100), at(100), at(200), at(1100)),
            format!(
                "50000002|imported|u7|imported|{partition}|16|4|Partition_Limit|CANCELLED|0:0|{}|{}|{}|{}",
                at(5000),
                at(5000),
                at(5100),
                at(9100)
            ),
            format!("50000003|imported|u7|g3|{partition}|4|1|00:10:00|CANCELLED|0:0|{}|{}|Unknown|{}", at(6000), at(6000), at(6300)),
        ]
    );

    let allocated = sacct(&cluster, "JobID,AllocCPUS");
    assert_eq!(allocated[..3], ["50000000|6", "50000001|1", "50000002|16"]);

    the_past_is_read_back(&cluster);

    // Once more: refused, and added.
    let output = import_tiny(&cluster, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("already holds 4 records of tiny (jobs 50000000 to 50000003)"), "{}", said(&output));
    assert!(import_tiny(&cluster, &["--again"]).status.success());
    assert_eq!(sacct(&cluster, "JobID").len(), 8);

    // The cluster can be removed, with them. slurmdbd brings its records back with its name, so
    // that the next has another.
    let into = |name: &str, more: &[&str]| {
        add_cluster(&cluster, name);
        let output = import_tiny_into(&cluster, name, &[&["--jobs", "1-2"], more].concat());
        assert!(output.status.success(), "{}", said(&output));
        let shown = sacct_of(&cluster, name, "JobName,Partition");
        let _ = cluster.output("sacctmgr", &["--immediate", "delete", "cluster", name]);
        shown
    };
    assert_eq!(into("past2", &["--partition", "other"]), ["app7|other"; 2]);
    assert_eq!(into("past3", &["--queues-as-partitions"]), ["app7|express"; 2]);
    let clusters = cluster.output("sacctmgr", &["-n", "-P", "list", "cluster", "format=cluster"]);
    let mut clusters: Vec<&str> = clusters.lines().collect();
    clusters.sort_unstable();
    assert_eq!(clusters, [IMPORTED, &cluster.name()]);
    assert_eq!(sacct(&cluster, "JobID").len(), 8, "those of the other clusters are gone alone");

    // A mapped user keeps what slurmdbd knows of him, and gets jobs under his own number.
    let level = || cluster.output("sacctmgr", &["-n", "-P", "show", "user", "root", "format=user,adminlevel,defaultaccount"]);
    let before = level();
    let output = import_tiny(&cluster, &["--again", "--map-user", "12:root"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(level(), before);
    assert!(sacct(&cluster, "JobName,User,UID").contains(&"app7|root|0".to_owned()));

    // The cluster's own jobs are numbered as ever, and alone among its records.
    let job = cluster.submit(&[], "true").job();
    assert!(job.id.parse::<u32>().unwrap() < 100, "{}", job.id);
    assert_eq!(job.end(PATIENCE), "COMPLETED");
    wait_for("the record", PATIENCE, || {
        (sacct_of(&cluster, &cluster.name(), "JobID,State") == [format!("{}|COMPLETED", job.id)]).then_some(())
    });
    let exported = cluster.run("queuecast", &["export-swf", "--since", "now-1hours"]);
    let header = log(&exported.stdout).header;
    let nodes = cluster.output("scontrol", &["show", "nodes", "-o"]).lines().count() as u64;
    assert_eq!((header.max_nodes(), header.max_processors().map(|processors| processors % nodes)), (Some(nodes), Some(0)));

    // For a job that never started, some releases of sacct show the CPUs that it asked for as
    // allocated, others none.
    let job = cluster.submit(&["--hold", "-n4"], "true").job();
    assert!(cluster.run("scancel", &[&job.id]).status.success());
    let cpus = |name: &str, id: &str| cluster.output("sacct", &["--clusters", name, "-X", "-n", "-P", "-j", id, "-o", "AllocCPUS,ReqCPUS"]);
    // slurmdbd learns of the end before it learns what was asked for.
    let own = wait_for("the record", PATIENCE, || Some(cpus(&cluster.name(), &job.id)).filter(|cpus| cpus.ends_with("|4")));
    assert_eq!(cpus(IMPORTED, "50000003"), own);
}

/// Reads a log that a command wrote.
fn log(text: &[u8]) -> Log {
    Reader::new(text).unwrap().into_log().unwrap()
}

/// The jobs of the log come back from slurmdbd by `export-swf`, and the same from what sacct prints
/// in either form of times.
fn the_past_is_read_back(cluster: &Cluster) {
    let (since, until) = (format!("@{}", ENDS_AT - 86_400), format!("@{ENDS_AT}"));
    let output =
        cluster.run("queuecast", &["export-swf", "--cluster", IMPORTED, "--since", &since, "--until", &until, "--partition-names"]);
    assert!(output.status.success(), "{}", said(&output));
    let exported = log(&output.stdout);
    // Submission, wait, run time, CPUs that it had and asked for, limit, status, user, account.
    let figures = |record: &Record| {
        let record = record.clone();
        let times = [record.submit_time_seconds, record.wait_time_seconds, record.run_time_seconds, record.requested_time_seconds];
        let sizes = [record.allocated_processors, record.requested_processors];
        (times, sizes, record.status, [record.user, record.group])
    };
    let some = |numbers: [u64; 4]| numbers.map(Some);
    assert_eq!(
        exported.records.iter().map(figures).collect::<Vec<_>>(),
        [
            (some([0, 60, 3_600, 7_200]), [Some(6), Some(8)], Some(Status::Completed), [Some(1), Some(1)]),
            // Slurm's limits are whole minutes.
            (some([100, 100, 900, 120]), [Some(1), Some(1)], Some(Status::Failed), [Some(1), Some(1)]),
            ([Some(5_000), Some(100), Some(4_000), None], [Some(16), Some(16)], Some(Status::Cancelled), [Some(2), Some(2)]),
            ([Some(6_000), Some(300), None, Some(600)], [None, Some(4)], Some(Status::Cancelled), [Some(2), Some(1)]),
        ]
    );
    let header = &exported.header;
    assert_eq!((header.unix_start_time(), header.partitions().len()), (Some(ENDS_AT - 9_100), 1));
    let without_names = cluster.run("queuecast", &["export-swf", "--cluster", IMPORTED, "--since", &since, "--until", &until]);
    assert!(log(&without_names.stdout).header.partitions().is_empty());
    let names = sacct(cluster, "User,Account,JobName,Partition");
    for name in names.iter().flat_map(|line| line.split('|')).filter(|name| !name.is_empty()) {
        let is_said = String::from_utf8_lossy(&without_names.stdout).split_whitespace().any(|word| word == name);
        assert!(!is_said, "{name} in {}", said(&without_names));
    }

    let columns = "JobIDRaw,JobName,User,Account,Partition,State,Submit,Eligible,Start,End,Elapsed,Suspended,ReqCPUS,AllocCPUS,ReqTRES,AllocTRES,QOS,Timelimit";
    for form in ["%s", "standard"] {
        let mut command = cluster.prepare("sacct");
        command.args(["--clusters", IMPORTED, "--allusers", "--duplicates", "--parsable2", "--starttime=2000-01-01", "--format", columns]);
        let printed = command.env("SLURM_TIME_FORMAT", form).output().unwrap();
        std::fs::write(cluster.path("log/past.txt"), &printed.stdout).unwrap();
        let read = cluster.run("queuecast", &["import-swf", "past.txt", "--into", "swf"]);
        assert!(read.status.success(), "{form}: {}", said(&read));
        let read_back = log(&read.stdout);
        assert_eq!(read_back.records, exported.records, "{form}: {}", String::from_utf8_lossy(&printed.stdout));
        assert_eq!(read_back.header.partitions(), exported.header.partitions());
    }
    let summary = cluster.output("queuecast", &["simulate", "past.txt", "--scheduler", "easy", "--format", "json"]);
    assert!(summary.contains(r#""processors":16"#) && summary.contains("the most that were in use at once"), "{summary}");
    // The same past is assessed, whichever way it comes.
    let assessed = |past: &[&str]| -> serde_json::Value {
        let output = cluster.run("queuecast", &[&["assess", "--json", "--processors=16"], past].concat());
        assert!(output.status.success(), "{}", said(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    // A stretch of many empty years would take a minute.
    let of_slurmdbd = assessed(&["--slurmdbd", "--cluster", IMPORTED, "--since", &since, "--until", &until]);
    let of_sacct = assessed(&["past.txt"]);
    assert_eq!(of_slurmdbd["past"], of_sacct["past"]);
    assert_eq!(of_slurmdbd["past"]["records"].as_u64(), Some(exported.records.len() as u64));
    assert_eq!(of_slurmdbd["verdict"]["answer"], "cannot-be-said", "{}", of_slurmdbd["verdict"]);
    let output = cluster.run("queuecast", &["export-swf", "--since", "@1000000000", "--until", "@1000000100"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("has no job of cluster"), "{}", said(&output));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn who_may_not_is_told_and_nothing_is_left_behind() {
    let cluster = cluster();
    std::fs::write(cluster.path("jobs/tiny.swf"), LOG).unwrap();
    // Where nobody can read it, whatever the folder of the build allows.
    let program = cluster.path("jobs/queuecast");
    std::fs::copy(cluster.prepare("queuecast").get_program(), &program).unwrap();
    let mut command = cluster.prepare("runuser");
    command.args(["-u", "nobody", "--"]).arg(&program).args(["import-swf", "tiny.swf", "--into", "slurmdbd", "--cluster", IMPORTED]);
    let output = command.current_dir(cluster.path("jobs")).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("slurmdbd does not let this user"), "{}", said(&output));
    assert_eq!(sacct(&cluster, "JobID"), [""; 0]);

    let own = cluster.name();
    // A cluster of which slurmdbd has no slurmctld's address any more is a real one all the same.
    let registered = || {
        let host = cluster.output("sacctmgr", &["-n", "-P", "list", "cluster", &own, "format=controlhost"]);
        let output = import_tiny_into(&cluster, &own, &[]);
        assert_eq!(output.status.code(), Some(1));
        assert!(said(&output).contains(&format!("cluster {own:?} is a real one")), "{}", said(&output));
        !host.is_empty()
    };
    assert!(registered());
    cluster.daemon("stop", "slurmctld");
    wait_for("slurmdbd to forget the address", PATIENCE, || (!registered()).then_some(()));
    cluster.daemon("start", "slurmctld");
    assert_eq!(sacct_of(&cluster, &own, "JobID"), [""; 0]);

    let output = import_tiny_into(&cluster, "elsewhere", &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("slurmdbd does not know cluster \"elsewhere\" (it knows: "), "{}", said(&output));
    let output = cluster.run("queuecast", &["import-swf", "--into", "slurmdbd", "tiny.swf"]);
    assert!(said(&output).contains("say with --cluster which cluster"), "{}", said(&output));

    cluster.daemon("stop", "slurmdbd");
    let output = import_tiny(&cluster, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("slurmdbd does not answer"), "{}", said(&output));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_made_workload_of_many_users_is_imported_fast() {
    let cluster = cluster();
    let began = Instant::now();
    let output = import(&cluster, IMPORTED, &["--embedded", "--model-jobs", "50000", "--model-users", "300", "--cpus-per-node", "4"]);
    assert!(output.status.success(), "{}", said(&output));
    // 200,000 jobs in a minute would be 15 s; the build may not be optimised, and others may use
    // the machine, of few processors. One record after the other would take longer than this.
    assert!(began.elapsed() < Duration::from_secs(180), "{:?}", began.elapsed());
    assert_eq!(sacct(&cluster, "JobID").len(), 50_000);
    let users = cluster.output("sacctmgr", &["-n", "-P", "list", "user", "format=user"]);
    assert!(users.lines().filter(|user| user.starts_with('u')).count() > 200, "{users}");
}
