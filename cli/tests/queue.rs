//! `queuecast queue`: the jobs that wait, with expected starts; and what `predict` shows of the
//! same plan.

mod common;

use common::{Site, USER, Wanted, line, now, plan};
use job_types::time::{Seconds, UnixTime};
use predictor_core::queue_plan::QueuePlan;
use serde_json::{Value, json};

fn planned() -> (Site, UnixTime) {
    let at = now();
    (Site::with(&Wanted { published_at: at, plan: Some(plan(at)), ..Wanted::default() }), at)
}

#[test]
fn jobs_are_listed_in_the_order_in_which_they_are_served() {
    let (site, at) = planned();
    let (status, report) = site.json(&["queue"]);
    assert_eq!(status, 0);
    assert_eq!((&report["plan_at"], &report["is_complete"], &report["pending_jobs"]), (&at.0.into(), &true.into(), &4.into()));
    let jobs = report["jobs"].as_array().unwrap();
    let numbers: Vec<&Value> = jobs.iter().map(|job| &job["job_id"]).collect();
    assert_eq!(numbers, [11, 14, 12, 13]);
    let expected = json!({
        "job_id": 11, "user": USER, "user_name": null, "partition": "batch", "nodes": 16, "cpus": 64, "tasks": 1, "limit_s": 3_600,
        "priority": 100, "expected_start": at.0 + 1_200, "earliest_start": at.0 + 600, "latest_start": at.0 + 2_400, "obstacle": null,
    });
    assert_eq!(jobs[0], expected);
    assert_eq!((&jobs[3]["expected_start"], &jobs[3]["obstacle"]), (&Value::Null, &"held".into()));
    assert_eq!((&jobs[1]["tasks"], &jobs[1]["limit_s"]), (&20.into(), &Value::Null));
}

#[test]
fn text_has_aligned_columns_and_says_why_there_is_no_start() {
    let (site, _) = planned();
    let said = site.run(&["queue"]);
    assert_eq!(said.status, 0, "{}", said.error);
    assert!(said.output.starts_with("4 jobs wait on cluster test, planned as of "), "{}", said.output);
    let table: Vec<&str> = said.output.lines().skip_while(|line| !line.contains("expected start")).collect();
    let column = table[0].find("expected start").unwrap();
    assert_eq!(table.len(), 5, "{}", said.output);
    for line in &table[1..] {
        assert!(line.is_char_boundary(column) && line[..column].ends_with("  ") && !line[column..].starts_with(' '), "{}", said.output);
    }
    assert!(line(&said.output, "11 batch 61234 16 64 1 h ").ends_with("min"), "{}", said.output);
    assert!(line(&said.output, "14 debug root 1 4 x 20 none").ends_with("now now now"), "{}", said.output);
    assert_eq!(line(&said.output, "13 batch"), "13 batch 61234 1 4 1 h held");
}

#[test]
fn users_and_partitions_can_be_chosen() {
    let (site, _) = planned();
    let numbers = |arguments: &[&str]| {
        let (status, report) = site.json(&[&["queue"], arguments].concat());
        assert_eq!(status, 0);
        report["jobs"].as_array().unwrap().iter().map(|job| job["job_id"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&["--user=61234"]), [11, 13]);
    assert_eq!(numbers(&["--user=root"]), [14, 12]);
    assert_eq!(numbers(&["--partition=debug"]), [14]);
    assert_eq!(numbers(&["-p", "debug,batch", "-u", "root"]), [14, 12]);
    assert_eq!(numbers(&["-u", "4711"]), [0_u64; 0]);
    let said = site.run(&["queue", "-u", "4711"]);
    assert!(said.output.starts_with("none of the jobs asked for; 4 jobs wait"), "{}", said.output);
    let said = site.run(&["queue", "--partition=bath"]);
    assert_eq!(said.status, 2);
    assert!(said.error.contains("no partition \"bath\"") && said.error.contains("batch, debug"), "{}", said.error);
    let said = site.run(&["queue", "--user=nobody-of-that-name"]);
    assert!(said.status == 2 && said.error.contains("knows no user"), "{}", said.error);
}

#[test]
fn no_snapshot_no_plan_and_no_jobs_are_told_apart() {
    let said = Site::empty().run(&["queue"]);
    assert!(said.status == 2 && said.error.contains("no snapshot"), "{}", said.error);

    let site = Site::usable();
    let said = site.run(&["queue"]);
    assert!(said.status == 1 && said.output.contains("no plan of the queue"), "{}", said.output);
    let (status, report) = site.json(&["queue"]);
    assert_eq!((status, &report["plan_at"], &report["jobs"]), (1, &Value::Null, &json!([])));
    let said = site.run(&["predict", "--user=61234", "-N4", "-t1:00:00"]);
    assert!(said.status == 0 && said.output.contains("Plan of the queue\nthe snapshot has none"), "{}", said.output);

    let idle = QueuePlan { at: now(), is_complete: true, ..QueuePlan::default() };
    let said = Site::with(&Wanted { plan: Some(idle), ..Wanted::default() }).run(&["queue"]);
    assert!(said.status == 0 && said.output.starts_with("no jobs wait on cluster test"), "{}", said.output);
}

#[test]
fn what_is_missing_or_old_is_noted() {
    let at = now();
    let mut plan = plan(at + Seconds(-200));
    (plan.pending_jobs, plan.is_complete) = (12_000, false);
    let site = Site::with(&Wanted { plan: Some(plan), ..Wanted::default() });
    let (_, report) = site.json(&["queue"]);
    let notes: Vec<&str> = report["notes"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for (note, holds) in
        notes.iter().zip(["read 3 min ago", "more jobs wait than are planned", "12000 jobs that wait, the snapshot has the first 4"])
    {
        assert!(note.contains(holds), "{note}");
    }
    assert_eq!(notes.len(), 3);
}

#[test]
fn predict_shows_the_plan_beside_the_forecast() {
    let (site, at) = planned();
    let job = ["predict", "--user=61234", "--partition=batch", "-t1:00:00"];
    let (status, report) = site.json(&[&job[..], &["-N4"]].concat());
    assert_eq!((status, report["plan"]["expected_start"].as_i64().unwrap() - at.0 <= 5), (0, true), "{report}");
    assert_eq!(report["plan"]["expected_wait_s"], 0);
    // Five whole nodes are 20 CPUs, for which the next larger size of the plan is all of them.
    let (_, report) = site.json(&[&job[..], &["-N5"]].concat());
    let plan = &report["plan"];
    assert_eq!(
        (&plan["expected_start"], &plan["earliest_start"], &plan["latest_start"]),
        (&(at.0 + 5_000).into(), &(at.0 + 2_500).into(), &(at.0 + 10_000).into())
    );
    // A begin time beyond that is kept.
    let (_, report) = site.json(&[&job[..], &["-N5", "--begin=now+3hours"]].concat());
    assert!(report["plan"]["expected_start"].as_i64().unwrap() >= at.0 + 10_800);
    assert_eq!(report["plan"]["expected_wait_s"], 0);
    let said = site.run(&[&job[..], &["-N5"]].concat());
    assert!(line(&said.output, "expected start").contains("in 1 h 2"), "{}", said.output);
    // There are 64 nodes, and nothing was planned for debug.
    let (_, report) = site.json(&[&job[..], &["-N65"]].concat());
    assert_eq!((&report["plan"]["plan_at"], report["plan"].get("expected_start")), (&at.0.into(), None));
}
