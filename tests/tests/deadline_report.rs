//! What becomes of admitted jobs on a real cluster, as the commands and the metrics tell it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use end_to_end::{Cluster, Job, Options, PATIENCE, now, wait_for};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

const USER: &str = "games";
const SOON: Duration = Duration::from_secs(90);

/// What a command of ours says to the user, as JSON.
fn json(cluster: &Cluster, arguments: &[&str]) -> Value {
    let output = cluster.prepare_for(USER, "queuecast").args(arguments).args(["--format", "json"]).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn report(cluster: &Cluster) -> Value {
    json(cluster, &["report", "deadlines", "--since=now-1hours", "--open"])
}

fn explained(cluster: &Cluster, job: &Job<'_>) -> Value {
    json(cluster, &["explain", &job.id])["deadline"].take()
}

/// What the daemon serves.
fn metrics(port: u16) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A job of a minute on one CPU with a deadline in so many seconds, which is admitted.
fn admitted<'a>(cluster: &'a Cluster, ahead: i64, options: &[&str], script: &str) -> Job<'a> {
    let deadline = cluster.output("date", &["-d", &format!("@{}", now() + ahead), "+--deadline=%Y-%m-%dT%H:%M:%S"]);
    let job = cluster.submit_for(USER, &[&["-N1", "-n1", "-t1", &deadline], options].concat(), script).job();
    assert!(job.field("AdminComment").contains("\"admitted_by\":\"edf\""), "{}: {}", job.said, job.field("AdminComment"));
    job
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn admitted_jobs_are_reported_as_kept_missed_withdrawn_and_open_and_refused_ones_are_counted() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let configuration = format!(
        "[snapshot]\ninterval = \"1s\"\n[metrics]\nlisten = \"127.0.0.1:{port}\"\n[policy]\nmode = \"enforce\"\nadmission = \"edf\"\n"
    );
    let cluster = Cluster::up(&Options::with_plugins(&configuration));
    let _daemon = cluster.start_queuecastd();
    cluster.wait_for_snapshot();
    let none =
        wait_for("the counts of submissions", PATIENCE, || Some(report(&cluster)).filter(|report| report["submissions"]["since"].is_i64()));
    assert_eq!((&none["all"]["admitted"], &none["submissions"]["refused"]), (&0.into(), &0.into()), "{none}");
    let counting_since = none["submissions"]["since"].as_i64().unwrap();
    assert!((0..600).contains(&(now() - counting_since)), "{none}");

    // An hour does not fit into ten minutes.
    let refusal = cluster.submit_for(USER, &["-N1", "-t60", "--deadline=now+10minutes"], "true").refusal();
    assert!(refusal.contains("queuecast: not admitted: "), "{refusal}");

    let kept = admitted(&cluster, 1_200, &[], "true");
    let withdrawn = admitted(&cluster, 1_200, &["--begin=now+10minutes"], "true");
    withdrawn.cancel();
    let open = admitted(&cluster, 3_600, &["--begin=now+30minutes"], "true");
    // Not before slurmdbd has the others.
    let missed = admitted(&cluster, 200, &[], "sleep 1000");
    assert_eq!(missed.wait(&["RUNNING"], SOON), "RUNNING");
    assert!(cluster.run("scontrol", &["suspend", &missed.id]).status.success());
    assert_eq!(kept.end(SOON), "COMPLETED");

    let counted = wait_for("the job that is kept, beside those that are open", PATIENCE, || {
        let report = report(&cluster);
        (report["all"]["kept"] == 1 && report["all"]["withdrawn"] == 1).then_some(report)
    });
    assert_eq!((&counted["all"]["open"], &counted["all"]["admitted"]), (&2.into(), &4.into()), "{counted}");
    let in_the_queue: Vec<_> = counted["open_jobs"].as_array().unwrap().iter().map(|job| job["job_id"].to_string()).collect();
    assert_eq!(in_the_queue, [missed.id.clone(), open.id.clone()], "the next to fall due first");
    wait_for("the gauge of what is open", SOON, || {
        metrics(port).contains("queuecast_admitted_jobs{partition=\"main\",state=\"open\"} 2").then_some(())
    });
    assert_eq!(explained(&cluster, &open)["state"], "open");
    assert_eq!(explained(&cluster, &withdrawn)["state"], "withdrawn");

    // The job's deadline passes while it is suspended; its time limit ends it afterwards.
    wait_for("the deadline to pass", PATIENCE * 2, || (explained(&cluster, &missed)["state"] == "missed").then_some(()));
    assert_eq!(report(&cluster)["all"]["missed"], 1, "as long as it is in the queue as well");
    wait_for("the gauge of what is late", SOON, || {
        metrics(port).contains("queuecast_admitted_jobs{partition=\"main\",state=\"late\"} 1").then_some(())
    });
    assert!(cluster.run("scontrol", &["resume", &missed.id]).status.success());
    missed.cancel();
    // Until slurmdbd has it, slurmctld answers, which may still show it to complete.
    let late = wait_for("slurmdbd to have the one that is late", PATIENCE, || {
        let late = explained(&cluster, &missed);
        let whys: Vec<&str> = late["reasons"].as_array().unwrap().iter().map(|reason| reason["what"].as_str().unwrap()).collect();
        (whys.contains(&"suspended") && whys.contains(&"cancelled")).then_some(late)
    });
    assert!(late["state"] == "missed" && late["spare_s"].as_i64().unwrap() < 0, "{late}");
    let text = cluster.output("queuecast", &["explain", &missed.id]);
    assert!(text.contains("promised by edf") && text.contains("missed by ") && text.contains("it was suspended for "), "{text}");
    let spare = explained(&cluster, &kept);
    assert!(spare["state"] == "kept" && spare["spare_s"].as_i64().unwrap() > 1_000 && spare["reasons"] == serde_json::json!([]), "{spare}");

    let whole = wait_for("the report of all, with what was refused", PATIENCE, || {
        Some(report(&cluster)).filter(|report| report["all"]["missed"] == 1 && report["submissions"]["refused"] == 1)
    });
    let all = &whole["all"];
    let counts = ["admitted", "kept", "missed", "withdrawn", "open"].map(|name| all[name].as_u64().unwrap());
    assert_eq!((counts, &all["kept_part"]), ([4, 1, 1, 1, 1], &0.5.into()), "{whole}");
    for (list, name) in [("by_partition", "main"), ("by_user", USER), ("by_rule", "edf")] {
        assert_eq!((&whole[list][0]["name"], &whole[list][0]["admitted"]), (&name.into(), &4.into()), "{whole}");
    }
    assert_eq!(whole["submissions"]["admitted"], 4, "{whole}");
    wait_for("the metrics of those that have ended", PATIENCE, || {
        let served = metrics(port);
        let counted = |outcome| served.contains(&format!("queuecast_deadlines_total{{partition=\"main\",outcome=\"{outcome}\"}} 1"));
        ["kept", "missed", "withdrawn"].into_iter().all(counted).then_some(())
    });
    wait_for("the metric of what was not admitted", SOON, || {
        metrics(port).contains("queuecast_filter_events_total{event=\"not_admitted\"} 1").then_some(())
    });

    // Whose the refused one was, which no record of Slurm's tells.
    let refused = wait_for("the refused job by partition and user", PATIENCE, || {
        Some(report(&cluster)).filter(|report| report["by_user"][0]["refused"] == 1)
    });
    assert_eq!((&refused["all"]["refused"], refused["refused_since"].is_i64()), (&1.into(), true), "{refused}");
    for (list, name) in [("by_partition", "main"), ("by_user", USER), ("by_rule", "edf")] {
        assert_eq!((&refused[list][0]["name"], &refused[list][0]["refused"]), (&name.into(), &1.into()), "{refused}");
    }
    wait_for("the metric of what was refused", SOON, || {
        metrics(port).contains("queuecast_refused_deadlines_total{partition=\"main\"} 1").then_some(())
    });

    let text = cluster.output("queuecast", &["report", "deadlines", "--open"]);
    assert!(text.contains("1 refused for their deadline, counted since ") && text.contains("By user"), "{text}");
    assert!(text.contains("In the queue") && text.contains(&open.id), "{text}");
    open.cancel();
}
