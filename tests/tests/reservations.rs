//! Virtual reservations on a real cluster, as the commands show them: before the submission, while
//! they exist, and in what became of them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use end_to_end::{Cluster, Job, Options, PATIENCE, Past, now, wait_for};
use made_up_site::enforcing;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

const USER: &str = "games";
const SOON: Duration = Duration::from_secs(90);

/// What a command of ours says to a user, as JSON.
fn json(cluster: &Cluster, user: &str, arguments: &[&str]) -> Value {
    let output = cluster.prepare_for(user, "queuecast").args(arguments).args(["--format", "json"]).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn listed(cluster: &Cluster, job: &Job<'_>) -> Option<Value> {
    let list = json(cluster, USER, &["reservations"])["reservations"].take();
    list.as_array().unwrap().iter().find(|listed| listed["job_id"].as_u64() == job.id.parse().ok()).cloned()
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_reservation_is_offered_listed_and_reported() {
    let cluster = Cluster::up(&Options::with_plugins("").option("conf-line", "PrivateData=jobs"));
    let user: u32 = cluster.output("id", &["-u", USER]).parse().unwrap();
    // Waits of up to 99 s in even steps: half of them are over within 50 s.
    cluster.publish_for(user, enforcing(), &[Past { nodes: 2, wait_s: 0, more_wait_s: 1, run_s: 100 }], &[]);
    assert_eq!(json(&cluster, USER, &["reservations"])["reservations"], serde_json::json!([]));

    // What is offered is what a submission with the options that it names gets.
    let at = now() + 120;
    let wish = ["reserve", "--at", &format!("uts{at}"), "-N2", "-t1", "--exclusive", "--probability=0.5"];
    let offered = json(&cluster, USER, &wish);
    let options: Vec<&str> = offered["options"].as_str().unwrap().split(' ').collect();
    let job_of = |more: &[&str]| {
        let described = ["-N2", "-t1", "--exclusive"];
        cluster.submit_for(USER, &[&described[..], &options, more].concat(), "sleep 5; date +%s").job()
    };
    let kept = job_of(&[]);
    let reservation = listed(&cluster, &kept).unwrap();
    assert_eq!((&reservation["state"], &reservation["kept"]), (&"deferred".into(), &Value::Null), "{reservation}");
    assert_eq!((&reservation["reserved_at"], &reservation["own_limit_s"]), (&at.into(), &60.into()), "{reservation}");
    let (begin, offered_begin) = (reservation["begin"].as_i64().unwrap(), offered["reservation"]["begin"].as_i64().unwrap());
    assert!((begin - offered_begin).abs() <= 30, "offered {offered_begin}, submitted with {begin}");
    let (promised, forecast) = (reservation["promised"].as_f64().unwrap(), reservation["forecast"].as_f64().unwrap());
    assert!(promised >= 0.5 && (promised - forecast).abs() < 0.31, "{reservation}");

    // Others see what Slurm shows them: nothing here.
    assert_eq!(json(&cluster, "news", &["reservations"])["reservations"], serde_json::json!([]));

    // One that is held is missed, and one that is cancelled before its time is withdrawn.
    let missed = job_of(&[]);
    assert!(cluster.run("scontrol", &["hold", &missed.id]).status.success());
    let withdrawn = job_of(&[]);
    withdrawn.cancel();
    wait_for("the cancelled one to be gone", SOON, || listed(&cluster, &withdrawn).is_none().then_some(()));

    assert_eq!(kept.wait(&["RUNNING"], PATIENCE), "RUNNING");
    let reservation = listed(&cluster, &kept).unwrap();
    assert!(reservation["state"] == "early" && now() < at, "{reservation}");
    assert_eq!((&reservation["kept"], &reservation["forecast"]), (&Value::Null, &Value::Null), "not before its time: {reservation}");
    let state_of = |job: &Job<'_>| listed(&cluster, job).map(|listed| listed["state"].as_str().unwrap().to_owned());
    wait_for("the held one to be missed", SOON, || (state_of(&missed).as_deref() == Some("missed")).then_some(()));
    let said = cluster.output("queuecast", &["reservations"]);
    assert!(said.contains("reservation") && said.contains("missed"), "{said}");
    assert_eq!(kept.end(PATIENCE), "COMPLETED", "{}", kept.printed());
    missed.cancel();

    let report = wait_for("the report of all three", PATIENCE, || {
        let report = json(&cluster, USER, &["report", "reservations", "--since=now-1hours"]);
        let row = &report["all"][0];
        let is_whole = row["reservations"] == 2 && report["withdrawn"] == 1 && row["used_node_hours"].as_f64()? > 0.0;
        is_whole.then_some(report)
    });
    let row = &report["rows"][0];
    assert_eq!((&row["partition"], &row["kept"], &row["from"]), (&"main".into(), &1.into(), &0.5.into()), "{report}");
    // It had its nodes for up to a minute before its time, and worked for five seconds.
    let ratio = row["cost_ratio"].as_f64().unwrap();
    assert!((1.5..30.0).contains(&ratio), "{report}");
    let text = cluster.output("queuecast", &["report", "reservations"]);
    assert!(text.contains("Promised and kept") && text.contains("used over required"), "{text}");
    let picture = cluster.path("jobs/kept.svg");
    let drawn = cluster.run("queuecast", &["report", "reservations", "--plot", picture.to_str().unwrap()]);
    assert!(drawn.status.success() && picture.is_file(), "{drawn:?}");
}

/// What the daemon serves.
fn metrics(port: u16) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_job_that_had_its_nodes_early_was_requeued_and_is_late_counts_once_as_missed() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let configuration = format!("[snapshot]\ninterval = \"1s\"\n[metrics]\nlisten = \"127.0.0.1:{port}\"\n[policy]\nmode = \"enforce\"\n");
    let cluster = Cluster::up(&Options::with_plugins(&configuration));
    let user: u32 = cluster.output("id", &["-u", USER]).parse().unwrap();
    cluster.publish_for(user, enforcing(), &[Past { nodes: 2, wait_s: 0, more_wait_s: 1, run_s: 100 }], &[]);
    let at = now() + 120;
    let options = [&format!("--reserve-at=uts{at}")[..], "--success-probability=0.5", "-N2", "-t1", "--exclusive"];
    let job = cluster.submit_for(USER, &options, "sleep 5").job();
    assert_eq!(listed(&cluster, &job).unwrap()["reserved_at"], at, "{}", job.said);
    let _daemon = cluster.start_queuecastd();
    cluster.wait_for_snapshot();

    let submitted = job.field("SubmitTime");
    assert_eq!(job.wait(&["RUNNING"], PATIENCE), "RUNNING");
    assert!(now() < at, "it has its nodes early");
    assert!(cluster.run("scontrol", &["requeue", &job.id]).status.success());
    assert_eq!(job.wait(&["PENDING"], PATIENCE), "PENDING");
    wait_for("another time of submission", SOON, || (job.field("SubmitTime") != submitted).then_some(()));

    let counted = |outcome| {
        let page = metrics(port);
        let name = format!("queuecast_promises_total{{partition=\"main\",outcome=\"{outcome}\"}} ");
        page.lines().find_map(|line| line.strip_prefix(&name)).and_then(|count| count.parse::<u32>().ok())
    };
    // slurmctld lets a requeued job wait for two minutes, so that its time passes in the queue.
    wait_for("the miss to be counted", PATIENCE, || (counted("missed") == Some(1)).then_some(()));
    let reported = || {
        let report = json(&cluster, USER, &["report", "reservations", "--since=now-1hours"]);
        (report["all"][0]["reservations"].as_u64(), report["all"][0]["kept"].as_u64(), report["withdrawn"].as_u64())
    };
    assert_eq!(job.field("JobState"), "PENDING");
    assert_eq!(reported(), (Some(1), Some(0), Some(0)), "a miss whose job still waits is reported");
    job.cancel();
    wait_for("both runs to be read", PATIENCE, || {
        let page = metrics(port);
        let read = page.lines().find_map(|line| line.strip_prefix("queuecast_ended_jobs_read_total "))?.parse::<u32>().ok()?;
        (read >= 2).then_some(())
    });
    assert_eq!((counted("kept"), counted("missed")), (Some(0), Some(1)));
    assert_eq!(reported(), (Some(1), Some(0), Some(0)));
}
