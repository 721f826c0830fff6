//! Virtual reservations beside Slurm's own on a real cluster.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use end_to_end::{Cluster, Options, PATIENCE, QUICK, Submitted, now, wait_for};
use job_types::record::Record;

const USER: &str = "games";

/// The first whole number in a text behind a mark.
fn number_behind(text: &str, mark: &str) -> i64 {
    let rest = text.split(mark).nth(1).unwrap_or_else(|| panic!("no {mark:?} in {text}"));
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_promise_into_maintenance_is_refused_with_a_time_behind_it_that_is_then_promised() {
    let cluster = Cluster::up(&Options::with_plugins(&format!("{QUICK}[policy]\nmode = \"enforce\"\n[history]\nwindow = \"20d\"\n")));
    cluster.import_model(50, 1500, 0.2);
    let _daemon = cluster.start_queuecastd();
    let best = "--success-probability=best";
    let submitted = |time: &str| cluster.submit_for(USER, &["-N1", "-t1", &format!("--reserve-at={time}"), best], "true");
    let refusal = |at: i64| submitted(&format!("uts{at}")).refusal();
    // Without maintenance it is promised.
    let job = wait_for("a promise", PATIENCE, || match submitted(&format!("uts{}", now() + 1_200)) {
        Submitted::Job(job) => Some(job),
        Submitted::Refused(_) => None,
    });
    job.cancel();

    let (start, end) = (now() + 900, now() + 900 + 1_800);
    let moment = |at: i64| cluster.output("date", &["-d", &format!("@{at}"), "+%Y-%m-%dT%H:%M:%S"]);
    let [from, until] = [format!("starttime={}", moment(start)), format!("endtime={}", moment(end))];
    let create =
        ["create", "reservation", "reservationname=maintenance", &from, &until, "nodes=ALL", "users=root", "flags=maint,ignore_jobs"];
    let created = cluster.run("scontrol", &create);
    assert!(created.status.success(), "{created:?}");
    cluster.snapshot_with("one that knows of it", |snapshot| {
        snapshot.partitions().any(|partition| partition.slurm_reservations.iter().any(|record| record.size().nodes == partition.nodes))
    });
    // The first reserved time lies within the maintenance; from the second, the job's time limit
    // would reach into it.
    for at in [start + 300, start - 30] {
        let said = refusal(at);
        assert!(said.contains("queuecast: no reservation: Slurm's own reservations, such as for maintenance"), "{said}");
        let minutes = number_behind(&said, "--reserve-at=now+");
        assert!(now() + minutes * 60 > end, "{said}");
    }
    // What the refusal names is given, and nothing of it is in the maintenance.
    let job = submitted(&format!("now+{}minutes", number_behind(&refusal(start + 300), "--reserve-at=now+"))).job();
    let written = Record::parse(&job.field("AdminComment")).unwrap().written.unwrap();
    assert!(written.begin.unwrap() >= end && written.reserved_at.unwrap() > end, "{written:?}");
    job.cancel();
    let gone = cluster.run("scontrol", &["delete", "reservationname=maintenance"]);
    assert!(gone.status.success(), "{gone:?}");
}
