//! `queuecastd` against what an ordinary user can do to it: jobs with texts of any length, and
//! connections to its metrics.

#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};

use end_to_end::{Cluster, PATIENCE, wait_for};

/// Publishes every second, with a rule that has the daemon read jobs as they were described.
const CONFIGURATION: &str = "[snapshot]\ninterval = \"1s\"\n[metrics]\nlisten = \"127.0.0.1:0\"\n\
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

#[test]
fn a_hundred_jobs_of_one_user_with_long_texts_cost_at_most_64_mib_and_the_reader_may_die() {
    let Some(cluster) = Cluster::up_for_queuecastd(CONFIGURATION) else { return };
    let daemon = cluster.start_queuecastd();
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
    writeln!(text, "\ntrue").unwrap();
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
}
