//! `queuecast` on a real cluster: what it tells of live and of ended jobs, and of a daemon that
//! runs.

// What the tests share is outside of them, and fails as they do.
#![allow(clippy::unwrap_used, clippy::panic)]

use end_to_end::{Cluster, Options, Past, now, wait_for};
use job_types::options::Mode;
use job_types::policy::Policy;
use made_up_site::enforcing;
use serde_json::Value;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(180);

/// Jobs on 8 nodes wait for hours, those on 2 nodes up to 99 s; they run 20 and 40 s.
const PAST: [Past; 2] =
    [Past { nodes: 8, wait_s: 7_000, more_wait_s: 10, run_s: 20 }, Past { nodes: 2, wait_s: 0, more_wait_s: 1, run_s: 40 }];

fn cluster(policy: Policy) -> Cluster {
    // slurmctld is asked for jobs that ended long ago where the machine is busy.
    let cluster = Cluster::up(&Options::with_plugins("").option("conf-line", "MinJobAge=3600"));
    cluster.publish(policy, &PAST, &[]);
    cluster
}

/// Exit status and report of a command with `--format json`.
fn json(cluster: &Cluster, arguments: &[&str]) -> (i32, Value) {
    let output = cluster.run("queuecast", &[arguments, &["--format", "json"]].concat());
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {arguments:?}: {}", String::from_utf8_lossy(&output.stderr)));
    (output.status.code().unwrap(), report)
}

fn explain(cluster: &Cluster, job: &str) -> Value {
    let (status, report) = json(cluster, &["explain", job]);
    assert_eq!(status, 0, "{report}");
    report
}

/// The report once slurmdbd has the job's end.
fn explain_ended(cluster: &Cluster, job: &str) -> Value {
    wait_for("the job's end in slurmdbd", SOON, || Some(explain(cluster, job)).filter(|report| report["job"]["source"] == "slurmdbd"))
}

/// Exit status, output and error of a command.
fn said(cluster: &Cluster, arguments: &[&str]) -> (i32, String, String) {
    let output = cluster.run("queuecast", arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn explain_follows_a_job_from_the_queue_into_the_past() {
    let cluster = cluster(enforcing());
    let reserved = now() + 75;
    let at = format!("--reserve-at=uts{reserved}");
    // The work of this script takes 40 s after the wait on its nodes, as the past has it.
    let reservation = cluster.submit(&["-N2", "-t2", "--exclusive", &at, "--success-probability=0.5"], "sleep 40").job();
    let molded = cluster.submit(&["-N8", "-n16", "-t10", "--exclusive", "--auto-mold"], "sleep 40").job();
    let pending = cluster.submit(&["-N8", "-t10", "--exclusive", "--auto-mold", "--begin=now+1hour"], "true").job();

    // Pending: the record is there, nothing is settled yet.
    let report = explain(&cluster, &pending.id);
    assert_eq!((&report["job"]["source"], &report["job"]["state"]), (&"slurmctld".into(), &"pending".into()));
    assert_eq!((&report["record"]["written"]["nodes"], &report["outcome"]["run_time_in_range"]), (&2.into(), &Value::Null));
    assert_eq!((&report["outcome"]["wait_within_bound"], &report["changed_since"]), (&Value::Null, &Value::Array(Vec::new())));
    // Changed by an operator since.
    let _ = cluster.output("scontrol", &["update", &format!("JobId={}", pending.id), "TimeLimit=90"]);
    let changed = explain(&cluster, &pending.id)["changed_since"].clone();
    assert_eq!((changed[0]["what"].clone(), changed[0]["now"].clone()), ("limit_s".into(), 5_400.into()), "{changed}");
    let (_, text, _) = said(&cluster, &["explain", &pending.id]);
    assert!(text.contains("time limit: 1 h 30 min now"), "{text}");

    // Running, then ended: as asked, as written, and as it came.
    let _ = molded.wait(&["RUNNING"], SOON);
    let report = explain(&cluster, &molded.id);
    assert_eq!((&report["job"]["state"], &report["job"]["nodes"]), (&"running".into(), &2.into()));
    assert_eq!(report["outcome"]["wait_within_bound"], true, "{report}");
    assert_eq!(molded.end(SOON), "COMPLETED");
    let report = explain_ended(&cluster, &molded.id);
    assert_eq!((&report["record"]["asked"]["nodes"], &report["record"]["written"]["nodes"]), (&8.into(), &2.into()));
    assert_eq!((&report["job"]["state"], &report["job"]["nodes"], &report["job"]["runs"]), (&"completed".into(), &2.into(), &1.into()));
    assert_eq!((&report["outcome"]["wait_within_bound"], &report["outcome"]["run_time_in_range"]), (&true.into(), &true.into()));
    assert_eq!(report["changed_since"], Value::Array(Vec::new()), "{report}");
    let (status, text, _) = said(&cluster, &["explain", &molded.id]);
    assert_eq!(status, 0);
    for part in
        ["8 nodes, 32 CPUs, 16 tasks, time limit 10 min", "--auto-mold", "2 nodes, 8 CPUs, 4 tasks", "within the bound", "in its range"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }

    // The reservation: its nodes were there, and the wait on them is no run time.
    assert_eq!(reservation.end(Duration::from_secs(300)), "COMPLETED", "{}", reservation.printed());
    let report = explain_ended(&cluster, &reservation.id);
    assert_eq!(report["record"]["written"]["reserved_at"], reserved);
    let outcome = &report["outcome"];
    assert_eq!((&outcome["reservation_kept"], &outcome["run_time_in_range"]), (&true.into(), &true.into()), "{report}");
    assert!(outcome["held_s"].as_i64().unwrap() > 10, "{outcome}");

    // With slurmctld away slurmdbd answers, and the other way round.
    cluster.daemon("stop", "slurmctld");
    let (status, text, error) = said(&cluster, &["explain", &molded.id]);
    assert!(status == 0 && text.contains("within the bound") && error.contains("the answer is slurmdbd's"), "{status}\n{text}\n{error}");
    let (status, _, error) = said(&cluster, &["reservations"]);
    assert!(status == 4 && error.contains("slurmctld gave no jobs"), "{status} {error}");
    cluster.daemon("start", "slurmctld");
    cluster.daemon("stop", "slurmdbd");
    wait_for("slurmctld", SOON, || cluster.run("scontrol", &["ping"]).status.success().then_some(()));
    assert_eq!(explain(&cluster, &pending.id)["job"]["source"], "slurmctld");
    let (status, text, error) = said(&cluster, &["explain", &molded.id]);
    assert!(status == 0 && text.contains("within the bound") && error.contains("the answer is slurmctld's"), "{status}\n{text}\n{error}");
    for command in [&["explain", "999999"][..], &["report", "reservations"]] {
        let (status, _, error) = said(&cluster, command);
        assert!(status == 5 && error.contains("slurmdbd"), "{command:?}: {status} {error}");
    }
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn explain_holds_a_deadline_and_a_mode_that_only_observes_against_what_happened() {
    let cluster = cluster(enforcing());
    let kept = cluster.submit(&["-N2", "-t1", "--exclusive", "--deadline=now+10minutes"], "true").job();
    assert_eq!(kept.end(SOON), "COMPLETED");
    let report = explain_ended(&cluster, &kept.id);
    assert_eq!((&report["outcome"]["deadline_met"], &report["record"]["written"]), (&true.into(), &Value::Null));

    cluster.publish(Policy { mode: Mode::Observe, ..enforcing() }, &PAST, &[]);
    let observed = cluster.submit(&["-N8", "-t10", "--exclusive", "--auto-mold"], "true").job();
    assert_eq!(observed.end(SOON), "COMPLETED");
    let report = explain_ended(&cluster, &observed.id);
    // It ran on the eight nodes that it asked for: the forecast for these is what counts.
    assert_eq!((&report["job"]["nodes"], &report["record"]["written"]["nodes"]), (&8.into(), &2.into()));
    let counted = report["record"]["instead_of"].as_object().expect("the forecast as it was written");
    assert!(!counted.is_empty() && counted.iter().all(|(key, value)| report["forecast"][key] == *value), "{report:#}");
    assert_eq!(report["changed_since"], Value::Array(Vec::new()));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn explain_says_what_it_takes_where_there_is_no_record() {
    let cluster = cluster(enforcing());
    let plain = cluster.submit(&["-N2", "-t10"], "true").job();
    let (status, text, error) = said(&cluster, &["explain", &plain.id]);
    assert_eq!(status, 1);
    assert!(text.contains("2 nodes") && error.contains("carries no record") && error.contains("--auto-mold"), "{text}{error}");
    assert_eq!(plain.end(SOON), "COMPLETED");
    let (status, report) = json(&cluster, &["explain", &plain.id]);
    assert_eq!((status, &report["record"]), (1, &Value::Null));
    let (status, text, error) = said(&cluster, &["explain", "999999"]);
    assert_eq!((status, text.as_str()), (1, ""));
    assert!(error.contains("neither slurmctld nor slurmdbd knows a job 999999"), "{error}");
    rules_are_held_against_the_queue_and_the_past(&cluster, &plain.id);
}

/// A rule that refuses the job that has ended, and one that changes a job in the queue.
fn rules_are_held_against_the_queue_and_the_past(cluster: &Cluster, ended: &str) {
    let rules = tempfile::NamedTempFile::with_suffix(".toml").unwrap();
    let text = "[[rule]]\nname = \"short\"\nwhen = 'has(job.time_limit) && job.time_limit == limit(\"10\")'\n\
                reject = { code = \"E_TEN\", message = \"ten minutes\" }\n\
                [[rule]]\nname = \"comment\"\nset = { comment = \"seen\" }\n";
    std::fs::write(rules.path(), text).unwrap();
    let path = rules.path().to_str().unwrap();
    let queued = cluster.submit(&["-N2", "-t20", "--hold"], "true").job();
    let scan = || {
        let (status, report) = json(cluster, &["filter", "scan", "--rules", path]);
        assert_eq!(status, 0, "{report}");
        Some(report).filter(|report| report["refused"] == 1)
    };
    let report = wait_for("the job's end in slurmdbd", SOON, scan);
    let counts = ["looked_at", "in_queue", "refused", "changed", "not_understood"].map(|key| report[key].as_u64().unwrap());
    assert_eq!(counts, [2, 1, 1, 1, 0], "{report}");
    let number = |id: &str| Value::from(id.parse::<u32>().unwrap());
    let [in_queue, in_past] = [&report["jobs"][0], &report["jobs"][1]];
    assert_eq!((&in_queue["job_id"], &in_queue["writes"][0]), (&number(&queued.id), &Value::from("comment = \"seen\"")), "{report}");
    assert_eq!((&in_past["job_id"], &in_past["code"]), (&number(ended), &Value::from("E_TEN")), "{report}");
    let (status, report) = json(cluster, &["filter", "shadow", "--rules", path]);
    assert_eq!((status, &report["different"], &report["differences"][0]["job_id"]), (1, &Value::from(1), &number(ended)), "{report}");
    assert_eq!(report["differences"][0]["before"], "accepted", "{report}");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn explain_knows_that_a_job_which_was_cancelled_while_it_waited_never_started() {
    let cluster = cluster(enforcing());
    let first = cluster.submit(&["-N8", "-t10", "--exclusive"], "sleep 600").job();
    let _ = first.wait(&["RUNNING"], SOON);
    let waiting = cluster.submit(&["-N8", "-t10", "--exclusive", "--auto-mold"], "true").job();
    wait_for("eligibility", SOON, || (explain(&cluster, &waiting.id)["outcome"]["wait_s"].as_i64()? > 0).then_some(()));
    assert!(cluster.run("scancel", &[&waiting.id]).status.success());
    let never_started = |report: &Value| {
        assert_eq!((&report["job"]["state"], &report["job"]["started"]), (&"cancelled".into(), &Value::Null), "{report}");
        assert_eq!(report["outcome"]["run_s"], Value::Null, "{report}");
    };
    never_started(&explain_ended(&cluster, &waiting.id));
    cluster.daemon("stop", "slurmdbd");
    let report = explain(&cluster, &waiting.id);
    assert_eq!(report["job"]["source"], "slurmctld");
    never_started(&report);
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn explain_finds_the_tasks_of_an_array() {
    let cluster = cluster(enforcing());
    let array = cluster.submit(&["-N8", "-t10", "--exclusive", "--auto-mold", "--array=1-2"], "true").job();
    for task in [1, 2] {
        let name = format!("{}_{task}", array.id);
        let report = explain_ended(&cluster, &name);
        assert_eq!(report["job"]["array_task"], serde_json::json!([array.id.parse::<u32>().unwrap(), task]), "{report}");
        assert_eq!(report["record"]["written"]["nodes"], 2);
    }
    let (status, _, _) = said(&cluster, &["explain", &format!("{}_7", array.id)]);
    assert_eq!(status, 1);
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn status_and_predict_work_on_what_the_daemon_publishes() {
    let cluster =
        Cluster::up(&Options::with_plugins("[policy]\nmode = \"advise\"\n[snapshot]\ninterval = \"1s\"\n[metrics]\nlisten = \"off\"\n"));
    let (status, text, _) = said(&cluster, &["status"]);
    assert!(status == 3 && text.contains("is queuecastd running?"), "{status}\n{text}");
    let _daemon = cluster.start_queuecastd();
    cluster.wait_for_snapshot();
    wait_for("a snapshot with slurmctld's partitions", SOON, || {
        let (status, report) = json(&cluster, &["status"]);
        (status == 0 && report["partitions"][0]["cpus"] == 32).then_some(())
    });
    let job = cluster.submit(&["-N2", "-t10"], "true").job();
    assert_eq!(job.end(SOON), "COMPLETED");
    // The daemon writes what the filter has counted down within a second.
    let report = wait_for("the submission among the counts", SOON, || {
        let (_, report) = json(&cluster, &["status"]);
        (report["counters"]["submissions"] == 1).then_some(report)
    });
    assert_eq!(report["policy"]["mode"], "advise");
    assert_eq!(report["configuration"]["error"], Value::Null);
    let (status, report) = json(&cluster, &["predict", "-N2", "-t10"]);
    assert_eq!((status, &report["job"]["partition"], &report["filter"]["outcome"]), (0, &"main".into(), &"left".into()));
    a_script_is_read_as_sbatch_reads_it(&cluster);
    // The kill switch shows at once.
    std::fs::write(cluster.state_directory().join("off"), "").unwrap();
    assert_eq!(said(&cluster, &["status"]).0, 1);
}

/// Scripts that sbatch takes, with a variable in its environment and options on its command line.
const TAKEN: &[(&str, &str, &str)] = &[
    ("#!/bin/sh\n#SBATCH -N 3 --ntasks-per-node=2\n#SBATCH --time=1:30:00 # a note\n", "", ""),
    ("#!/bin/sh\n#SBATCH -N8 -t 10\n", "SBATCH_TIMELIMIT=20", "-N 2"),
    ("#!/bin/sh\n\n# a note\n#SBATCH --nodes=2-4 --ntasks=8 -c 1 --comment='a # \"b\"' --mem=100M\nhostname\n#SBATCH -N 8\n", "", ""),
    ("#!/bin/sh\n#SBATCH -n 4\n#SLURM -t 5\n #SBATCH -n 8\n", "SBATCH_EXCLUSIVE=", "--mail-type=END"),
    ("#!/bin/sh\n#SBATCH --begin=2035-01-01 --deadline=2036-01-01T10:00 -t30 --time-min=10\n", "SBATCH_OVERCOMMIT=no", "-n2 -O"),
    ("#!/bin/sh\n#SBATCH -N\n#SBATCH 2\n#SBATCH --time=0\n#PBS -l nodes=4\n", "SBATCH_IGNORE_PBS=1", "-Js"),
];

/// Scripts which sbatch refuses, and what is said of them here.
const REFUSED: &[(&str, &str, &str)] = &[
    ("#!/bin/sh\n#SBATCH --partiton=main\n", "", "line 2 of the script: the option --partiton is not known; did you mean --partition?"),
    ("#!/bin/sh\n#SBATCH --mem=100M\n", "--mem-per-cpu=10M", "--mem and --mem-per-cpu exclude each other"),
    ("#!/bin/sh\n#SBATCH main\n", "", "\"main\" is no option"),
    ("#!/bin/sh\n#SBATCH -t 2h\n", "", "the option -t does not take \"2h\""),
    ("#!/bin/sh\n#SBATCH -J 'a\n", "", "a quotation mark is not closed"),
    ("#!/bin/sh\r\nhostname\r\n", "", "CR LF"),
    ("hostname\n", "", "#!/bin/sh"),
    (" \n", "", "empty"),
    ("#!/bin/sh\n", "--deadline=now+1hour --begin=now+2hours", "--deadline lies before --begin"),
];

/// The job that is forecast is the one that sbatch submits, and what is refused here is refused
/// there.
fn a_script_is_read_as_sbatch_reads_it(cluster: &Cluster) {
    const SBATCH: &[&str] = &["sbatch", "--parsable", "--hold"];
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("job.sh");
    let run = |variable: &str, command: &[&str], options: &str| {
        let mut prepared = cluster.prepare(command[0]);
        prepared.envs(variable.split_once('=')).args(&command[1..]).args(options.split_whitespace()).arg(&script);
        let output = prepared.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    };
    for (text, variable, options) in TAKEN {
        std::fs::write(&script, text).unwrap();
        let (status, job, error) = run(variable, SBATCH, options);
        assert_eq!(status, 0, "{text}: {error}");
        let shown = cluster.output("scontrol", &["show", "job", "-o", job.trim()]);
        let field = |name: &str| {
            let value = shown.split_whitespace().find_map(|word| word.strip_prefix(&format!("{name}=")));
            value.unwrap_or_else(|| panic!("no {name} in {shown}"))
        };
        let (status, report, error) = run(variable, &["queuecast", "predict", "--format", "json"], options);
        assert_eq!(status, 0, "{text}: {error}");
        let report: Value = serde_json::from_str(&report).unwrap();
        let read = &report["job"];
        let nodes: u64 = field("NumNodes").split('-').next().unwrap().parse().unwrap();
        assert_eq!((&read["partition"], read["nodes"].as_u64()), (&Value::from(field("Partition")), Some(nodes)), "{text}: {shown}");
        let limit = (field("TimeLimit") != "UNLIMITED").then(|| slurm_conf::duration::parse(field("TimeLimit")).unwrap());
        assert_eq!(read["limit_s"].as_i64(), limit, "{text}: {shown}");
        if let Some(tasks) = read["tasks"].as_u64() {
            assert_eq!(tasks.to_string(), field("NumTasks"), "{text}: {shown}");
        }
        for (key, name) in [("deadline", "Deadline"), ("begin", "EligibleTime")] {
            let Some(seconds) = read[key].as_i64() else { continue };
            let moment = cluster.output("date", &["-d", &format!("@{seconds}"), "+%Y-%m-%dT%H:%M:%S"]);
            // The eligible time of a held job is not known before its release.
            assert!([moment.trim(), "Unknown"].contains(&field(name)), "{text}: {shown}");
        }
        assert!(cluster.run("scancel", &[job.trim()]).status.success());
    }
    for (text, options, said) in REFUSED {
        std::fs::write(&script, text).unwrap();
        let (status, job, error) = run("", SBATCH, options);
        assert_ne!(status, 0, "{text}: job {job}: {error}");
        let (status, _, error) = run("", &["queuecast", "predict"], options);
        assert!(status == 2 && error.contains(said), "{text}: {status}: {error}");
    }
}
